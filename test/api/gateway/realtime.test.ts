/** Realtime sessions over WebSockets, between real clients and a stand-in for the provider. */
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { expect, it, onTestFinished } from 'vitest'
import { type WebSocket as Connection, WebSocket, WebSocketServer } from 'ws'
import { eventually, setUpGateway } from './support/gateway-harness.ts'

type Session = { readonly request: IncomingMessage; readonly socket: Connection }

/** Echoes messages; refuses sessions of the model `forbidden`. */
async function openProvider() {
  const sessions: Session[] = []
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer((_, response) => response.writeHead(404).end())
  server.on('upgrade', (request, socket, head) => {
    if (request.url?.includes('forbidden') === true) {
      const body = '{"error":{"message":"No access."}}'
      socket.end(
        `HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      )
      return
    }
    sockets.handleUpgrade(request, socket, head, (connection) => {
      sessions.push({ request, socket: connection })
      connection.on('message', (data, isBinary) => connection.send(data, { binary: isBinary }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  return { url: `http://127.0.0.1:${port}`, sessions }
}

async function setUp(auth: 'keys' | 'off' = 'keys') {
  const provider = await openProvider()
  const setup = await setUpGateway('memory off', {
    auth,
    providers: () => ({
      openai: { kind: 'openai', baseUrl: `${provider.url}/v1`, key: 'sk-upstream' },
    }),
  })
  const url = `${setup.url.replace('http', 'ws')}/v1/realtime?model=openai/gpt-realtime`
  return { ...setup, provider, realtimeUrl: url }
}

function open(url: string, key: string | null, protocols: readonly string[] = []): WebSocket {
  const headers = key === null ? {} : { authorization: `Bearer ${key}` }
  const socket = new WebSocket(url, [...protocols], { headers })
  socket.on('error', () => {})
  onTestFinished(() => socket.terminate())
  return socket
}

const refusalOf = (socket: WebSocket) =>
  new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    socket.once('open', () => reject(new Error('It was opened.')))
    socket.once('unexpected-response', async (_, response) => {
      let text = ''
      for await (const chunk of response) text += String(chunk)
      resolve({ status: response.statusCode ?? 0, text })
    })
  })

it("[GW31.1] OpenAI's client talks to the provider of the model, with the key of the provider", async () => {
  const { provider, baseUrl, key } = await setUp()
  const client = new OpenAI({ baseURL: baseUrl, apiKey: key })
  // The library always asks for TLS; here it is given a plain connection.
  const { hostname, port } = new URL(baseUrl)
  const createConnection = () => connect(Number(port), hostname)
  const session = new OpenAIRealtimeWS(
    { model: 'openai/gpt-realtime', options: { createConnection } },
    client,
  )
  session.on('error', () => {})
  onTestFinished(() => session.close())
  await once(session.socket, 'open')
  const answered = once(session.socket, 'message')
  session.send({ type: 'input_audio_buffer.append', audio: 'AAEC' })
  const [data] = await answered
  expect(JSON.parse(String(data))).toEqual({ type: 'input_audio_buffer.append', audio: 'AAEC' })
  const [{ request }] = provider.sessions as [Session]
  expect(request.url).toBe('/v1/realtime?model=gpt-realtime')
  expect(request.headers.authorization).toBe('Bearer sk-upstream')
  expect(request.rawHeaders.join('\n')).not.toContain(key)
})

it('[GW31.1] binary messages of megabytes pass unchanged', async () => {
  const { realtimeUrl, key } = await setUp()
  const socket = open(realtimeUrl, key)
  await once(socket, 'open')
  const sent = Buffer.alloc(5_000_000, 'äß日本')
  socket.send(sent)
  const [received, isBinary] = await once(socket, 'message')
  expect(isBinary).toBe(true)
  expect(sent.equals(received)).toBe(true)
})

it('[GW31.3] a key among the protocols authenticates a page, and stays here', async () => {
  const { provider, realtimeUrl, key } = await setUp()
  const protocols = ['realtime', `openai-insecure-api-key.${key}`, 'openai-beta.realtime-v1']
  const socket = open(realtimeUrl, null, protocols)
  await once(socket, 'open')
  expect(socket.protocol).toBe('realtime')
  const [{ request }] = provider.sessions as [Session]
  expect(request.headers['sec-websocket-protocol']).toBe('realtime, openai-beta.realtime-v1')
  expect(request.headers.authorization).toBe('Bearer sk-upstream')
  expect(request.rawHeaders.join('\n')).not.toContain(key)
})

it.each<[string, (url: string, key: string) => WebSocket, number]>([
  ['without a key', (url) => open(url, null), 401],
  ['with a wrong key', (url) => open(url, 'rc_wrong_key'), 401],
  ['for an unknown provider', (url, key) => open(url.replace('openai/', 'none/'), key), 404],
  ['on another path', (url, key) => open(url.replace('realtime', 'live'), key), 404],
  ['for a call of anybody', (url, key) => open(`${url}&call_id=rtc_1`, key), 404],
  [
    'of a foreign page',
    (url, key) => {
      const headers = { authorization: `Bearer ${key}`, origin: 'https://evil.example' }
      return new WebSocket(url, { headers })
    },
    403,
  ],
])('[GW31.2] is refused %s', async (_, ask, status) => {
  const { provider, realtimeUrl, key } = await setUp()
  const socket = ask(realtimeUrl, key)
  socket.on('error', () => {})
  const refusal = await refusalOf(socket)
  expect(refusal.status).toBe(status)
  expect(JSON.parse(refusal.text).error.message).toBeTypeOf('string')
  expect(provider.sessions).toEqual([])
})

it('[GW31.2] a refusal of the provider reaches the client', async () => {
  const { realtimeUrl, key } = await setUp()
  const socket = open(realtimeUrl.replace('gpt-realtime', 'forbidden'), key)
  expect(await refusalOf(socket)).toEqual({
    status: 403,
    text: '{"error":{"message":"No access."}}',
  })
})

it('[GW31.2] a metadata address is not connected to, and an unreachable provider is told', async () => {
  const { url, key } = await setUpGateway('memory off', {
    providers: () => ({
      gone: { kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', key: 'sk' },
      inner: { kind: 'openai', baseUrl: 'http://metadata.internal.test/v1', key: 'sk' },
      demo: { kind: 'demo' },
    }),
  })
  const at = (model: string) => `${url.replace('http', 'ws')}/v1/realtime?model=${model}`
  expect((await refusalOf(open(at('gone/x'), key))).status).toBe(502)
  expect((await refusalOf(open(at('inner/x'), key))).status).toBe(502)
  expect((await refusalOf(open(at('demo/x'), key))).status).toBe(404)
})

it('[GW31.4] closes in both directions keep their code, and break-offs are passed on', async () => {
  const { provider, realtimeUrl, key } = await setUp()
  const opened = async () => {
    const socket = open(realtimeUrl, key)
    await once(socket, 'open')
    const session = await eventually(
      () => provider.sessions.at(-1),
      (last) => last !== undefined,
    )
    if (session === undefined) throw new Error('There is no session.')
    return { socket, far: session.socket }
  }
  const first = await opened()
  const farClosed = once(first.far, 'close')
  first.socket.close(4001, 'bye')
  expect((await farClosed)[0]).toBe(4001)
  const second = await opened()
  const nearClosed = once(second.socket, 'close')
  second.far.close(4002, 'enough')
  expect((await nearClosed)[0]).toBe(4002)
  const third = await opened()
  const broken = once(third.socket, 'close')
  third.far.terminate()
  expect((await broken)[0]).toBe(1006)
  const fourth = await opened()
  const left = once(fourth.far, 'close')
  fourth.socket.terminate()
  expect((await left)[0]).toBe(1006)
})

it('[GW31.5] a reader that pauses slows down the provider, and loses nothing', async () => {
  const { provider, realtimeUrl, key } = await setUp()
  const socket = open(realtimeUrl, key)
  await once(socket, 'open')
  const [{ socket: far }] = provider.sessions as [Session]
  socket.pause()
  const part = Buffer.alloc(1_000_000, 7)
  const parts = 64
  for (let count = 0; count < parts; count++) far.send(part)
  // Buffers of the system and of the gateway take a part of it; the rest waits at the provider.
  const waiting = await eventually(
    async () => {
      const before = far.bufferedAmount
      await new Promise((resolve) => setTimeout(resolve, 100))
      return far.bufferedAmount === before ? before : -1
    },
    (amount) => amount >= 0,
  )
  expect(waiting).toBeGreaterThan(parts * part.length * 0.5)
  let received = 0
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      received += (data as Buffer).length // the default type of binary data
      if (received === parts * part.length) resolve()
    })
  })
  socket.resume()
  await all
})

it('[GW31.2] other offers of an upgrade get their ordinary answer', async () => {
  const { url, key } = await setUp()
  const request = httpRequest(`${url}/v1/models`, {
    headers: { authorization: `Bearer ${key}`, connection: 'Upgrade', upgrade: 'h2c' },
  })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  response.resume()
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const body = '{"model":"none/x","messages":[{"role":"user","content":"x"}]}'
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\nconnection: Upgrade\r\nupgrade: websocket\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /)
  socket.destroy()
})
