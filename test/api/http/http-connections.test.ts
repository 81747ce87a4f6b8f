/** Connections that are slow, broken or given up, and how the server stops among them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readBodyBytes, readBodyLines } from '../../../src/api/http/messages/request-body.ts'
import { serveWithMcp } from '../../../src/app/mcp-mount.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { start } from './http-support.ts'

const LINE = JSON.stringify({ text: 'x'.repeat(1_000) })

/** An engine whose export goes on until it is told to end, and tells when it was stopped. */
function endless(engine: Engine) {
  const expected = { ended: false, isStopped: false, lines: 0 }
  let stopped = () => {}
  const whenStopped = new Promise<void>((resolve) => {
    stopped = resolve
  })
  async function* lines() {
    try {
      while (!expected.ended) {
        expected.lines++
        yield LINE
        await new Promise((resolve) => setImmediate(resolve))
      }
      yield '"last"'
    } finally {
      expected.isStopped = true
      stopped()
    }
  }
  return {
    engine: {
      ...engine,
      admin: { ...engine.admin, export: () => lines() },
      close: async () => {},
    },
    told: expected,
    whenStopped,
  }
}

async function startEndless(graceMs?: number) {
  const { engine } = await start()
  const source = endless(engine)
  const started = await start({
    engine: source.engine,
    auth: 'off',
    ...(graceMs === undefined ? {} : { graceMs }),
  })
  return { ...started, ...source }
}

async function openExport(url: string): Promise<IncomingMessage> {
  const pending = request(`${url}/api/memory/export`)
  pending.on('error', () => {})
  pending.end()
  const [response] = (await once(pending, 'response')) as [IncomingMessage]
  return response
}

describe('stopping', () => {
  it('[HT50] a stream under way is finished, and nothing new is taken', async () => {
    const { url, close, told } = await startEndless()
    const response = await openExport(url)
    const closing = close()
    await expect(fetch(`${url}/health/live`)).rejects.toThrow()
    told.ended = true
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    expect(text.endsWith('}\n"last"\n')).toBe(true)
    await closing
  })

  it('[HT50] what does not end in time is stopped, and the client sees that it is not whole', async () => {
    const { url, close, whenStopped } = await startEndless(20)
    const response = await openExport(url)
    const ended = new Promise((resolve) => response.once('close', resolve))
    response.on('error', () => {}).resume()
    await close()
    await whenStopped
    await ended
    expect(response.complete).toBe(false)
  })

  it('[HT50] a keep-alive connection gets `connection: close` and `unavailable` when the server stops', async () => {
    const { url, close, told } = await startEndless()
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    const ask = `GET /health/ready HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`
    socket.write(`GET /health/live HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    await once(socket, 'data')
    // Half a request keeps the connection from being idle.
    socket.write(ask.slice(0, 20))
    const streaming = await openExport(url)
    streaming.resume()
    const closing = close()
    socket.write(ask.slice(20))
    let text = ''
    for await (const chunk of socket) text += chunk
    // Whether it was still taken or not: it never hears that all is well.
    expect(text).not.toContain('"status":"ok"')
    told.ended = true
    await closing
  })
})

/** Longer than a test may take: whoever waits for it fails. */
const ENDLESS_MS = 3_600_000
const ASK_STATUS = 'GET /api/status HTTP/1.1\r\nhost: localhost\r\n\r\n'

describe('stopping with idle connections', () => {
  it('[HT56] closes idle connections at once', async () => {
    const { url, close } = await start({ auth: 'off', graceMs: ENDLESS_MS })
    const { hostname, port } = new URL(url)
    const [used, fresh, halfway] = [1, 2, 3].map(() => connect(Number(port), hostname))
    // How they are cut is not the point; that they are is.
    const ends = [used, fresh, halfway].map(
      (socket) => new Promise((resolve) => socket?.on('error', () => {}).once('close', resolve)),
    )
    used?.write(ASK_STATUS)
    halfway?.write(ASK_STATUS.slice(0, 20))
    await once(used as Socket, 'data')
    await Promise.all([close(), ...ends])
  })

  it('[HT56] ends idle MCP streams', async () => {
    const { engine } = await start()
    const options = { host: '127.0.0.1', port: 0, version: '1', engine, auth: 'off' } as const
    const serving = await serveWithMcp({ ...options, graceMs: ENDLESS_MS })
    const answer = await fetch(`${serving.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: {
          notifications: { toolsListChanged: true },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    const ended = answer.text().catch(() => '')
    await Promise.all([serving.close(), ended])
  })

  it('[HT56] does not wait for clients that left before their last response', async () => {
    const { engine } = await start()
    let requests = 0
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = {
      ...engine,
      close: async () => {},
      status: async () => {
        if (++requests === 3) begin()
        await released
        return engine.status()
      },
    }
    const { url, close } = await start({ engine: slow, auth: 'off', graceMs: ENDLESS_MS })
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(ASK_STATUS.repeat(3))
    await begun
    socket.resetAndDestroy()
    const live = await fetch(`${url}/health/live`)
    await live.text()
    await close()
    release()
  })
})

describe('clients that leave', () => {
  it('[HT51] stop what was done for them', async () => {
    const { url, whenStopped, told } = await startEndless()
    const response = await openExport(url)
    response.on('error', () => {}).destroy()
    await whenStopped
    expect(told.ended).toBe(false)
  })

  it('[HT51] one that does not read is not sent more than fits', async () => {
    const { url, told, whenStopped } = await startEndless()
    const response = await openExport(url)
    response.pause()
    for (let before = -1; told.lines !== before; ) {
      before = told.lines
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(told.isStopped).toBe(false)
    response.on('error', () => {}).destroy()
    await whenStopped
    expect(told.isStopped).toBe(true)
  })
})

describe('imports', () => {
  const lines = { 'content-type': 'application/x-ndjson' }

  it('[HT52] are read line by line, and refused when they are no lines', async () => {
    const { client, engine } = await start()
    await engine.remember({ owner: 'ada' }, { content: 'tea' })
    const { body } = await client.get('/api/memory/export?owner=ada')
    await engine.admin.eraseOwner('ada')
    const post = (raw: string | Uint8Array<ArrayBuffer>, headers = lines) =>
      client.call('POST', '/api/memory/import?owner=eve', { raw, headers })
    const done = await post(String(body).replaceAll('\n', '\r\n'))
    expect([done.status, done.body.failed]).toEqual([200, 0])
    expect((await engine.list({ owner: 'eve' })).rows).toHaveLength(1)
    expect((await post(Buffer.from([0x7b, 0xff, 0x0a]))).status).toBe(400)
    expect((await post('x'.repeat(5_000_000))).status).toBe(413)
    expect((await post('{}', { 'content-type': 'application/json' })).status).toBe(415)
    const stray = await client.call('POST', '/api/memory/import?lines=1', {
      raw: '{}',
      headers: lines,
    })
    expect(stray.status).toBeGreaterThanOrEqual(400)
  })
})

/** A server that only reads, with a patience of its own. */
async function reading(read: (incoming: IncomingMessage) => Promise<unknown>) {
  let settle: (outcome: unknown) => void = () => {}
  const outcome = new Promise((resolve) => {
    settle = resolve
  })
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const server = createServer((incoming, response) => {
    begin()
    read(incoming)
      .then(settle, settle)
      .finally(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  const pending = request({
    port,
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
  })
  pending.on('error', () => {})
  return { asked: pending, begun, outcome }
}

/** What the server says to these bytes, when the client says nothing more. */
function answersOf(url: string) {
  const { hostname, port } = new URL(url)
  return async (bytes: string) => {
    const socket = connect(Number(port), hostname)
    socket.end(bytes)
    let text = ''
    for await (const chunk of socket) text += chunk
    const [head = '', body = ''] = text.split('\r\n\r\n')
    return { line: head.split('\r\n')[0], body: JSON.parse(body) }
  }
}

async function all(source: AsyncIterable<string>): Promise<readonly string[]> {
  const found: string[] = []
  for await (const each of source) found.push(each)
  return found
}

describe('slow and broken clients', () => {
  it('[HT53] are not waited for', async () => {
    const slow = await reading((incoming) => readBodyBytes(incoming, 100, 20))
    slow.asked.write('{')
    expect(await slow.outcome).toMatchObject({ code: 'timeout' })
    const paused = await reading((incoming) => all(readBodyLines(incoming, { idleTimeoutMs: 20 })))
    paused.asked.write('{}\n{')
    expect(await paused.outcome).toMatchObject({ code: 'timeout' })
  })

  it.each([
    ['an object', '/api/memory', 'application/json'],
    ['lines', '/api/memory/import', 'application/x-ndjson'],
  ])('[HT54] are told so when they send %s', async (_, path, type) => {
    const { url } = await start({ auth: 'off' })
    const { hostname, port } = new URL(url)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: ${type}\r\ncontent-length: 9\r\n\r\n{`,
    )
    let text = ''
    let isEnded = false
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => {
      isEnded = true
    })
    while (!isEnded) {
      vi.advanceTimersByTime(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 408 /)
    expect(head).toMatch(/^connection: close$/im)
    expect(JSON.parse(body).error).toMatchObject({ code: 'timeout', retryable: true })
  })

  it('[HT53] that leave in the middle of a body are noticed', async () => {
    const left = await reading((incoming) => readBodyBytes(incoming, 100, 10_000))
    left.asked.write('{')
    await left.begun
    left.asked.destroy()
    expect(await left.outcome).toMatchObject({ code: 'cancelled' })
  })

  it('[HT53] get a response in the usual shape', async () => {
    const { url } = await start()
    const answerTo = answersOf(url)
    const garbage = await answerTo('\x16\x03\x01 hello\r\n\r\n')
    expect(garbage).toMatchObject({
      line: 'HTTP/1.1 400 Bad Request',
      body: { error: { code: 'invalid_input', requestId: expect.any(String) } },
    })
    const long = await answerTo(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`)
    expect(long).toMatchObject({
      line: expect.stringContaining('431'),
      body: { error: { code: 'too_large' } },
    })
    const twice = await answerTo(
      'POST /api/memory HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
    )
    expect(twice.line).toContain('400')
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
  })

  it.each([
    ['no host', 'GET /health/live HTTP/1.1\r\n\r\n', 400],
    ['no host, as of old', 'GET /health/live HTTP/1.0\r\n\r\n', 400],
    [
      'two hosts',
      'GET /health/live HTTP/1.1\r\nhost: localhost\r\nHost: evil.example\r\n\r\n',
      400,
    ],
    [
      'a host twice',
      'GET /health/live HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n',
      400,
    ],
    [
      'expecting more',
      'GET /health/live HTTP/1.1\r\nhost: localhost\r\nexpect: 200-ok\r\n\r\n',
      400,
    ],
    ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nhost: localhost\r\n\r\n', 405],
  ])('[HT55] that bring %s are refused in the one shape', async (_, bytes, status) => {
    const { url } = await start()
    const { line, body } = await answersOf(url)(bytes)
    expect(line).toContain(` ${status} `)
    const code = status === 405 ? 'method_not_allowed' : 'invalid_input'
    expect(body.error).toMatchObject({
      code,
      message: expect.any(String),
      requestId: expect.any(String),
    })
  })

  it('[HT53] that are refused while they send get to read why', async () => {
    const { client } = await start()
    const raw = JSON.stringify({ content: 'x'.repeat(8_000_000) })
    expect((await client.call('POST', '/api/memory', { raw, key: null })).status).toBe(401)
    expect((await client.call('POST', '/api/memory', { raw })).status).toBe(413)
    expect((await client.call('POST', '/nothing', { raw })).status).toBe(404)
    expect((await client.get('/api/memory')).status).toBe(200)
  })
})
