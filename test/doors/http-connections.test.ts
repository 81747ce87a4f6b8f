/** Connections that are slow, broken or given up, and how the server stops among them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readBytes, readLines } from '../../src/doors/http/body.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { start } from './http-support.ts'

const LINE = JSON.stringify({ text: 'x'.repeat(1_000) })

/** An engine whose export goes on until it is told to end, and tells when it was stopped. */
function endless(engine: Engine) {
  const told = { ended: false, isStopped: false, lines: 0 }
  let stopped = () => {}
  const whenStopped = new Promise<void>((resolve) => {
    stopped = resolve
  })
  async function* lines() {
    try {
      while (!told.ended) {
        told.lines++
        yield LINE
        await new Promise((resolve) => setImmediate(resolve))
      }
      yield '"last"'
    } finally {
      told.isStopped = true
      stopped()
    }
  }
  return { engine: { ...engine, export: () => lines(), close: async () => {} }, told, whenStopped }
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
  const asked = request(`${url}/api/memory/export`)
  asked.on('error', () => {})
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
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

  it('[HT50] a connection that is kept open is told to close, and that the server stops', async () => {
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
    await engine.eraseOwner('ada')
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
  const asked = request({
    port,
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
  })
  asked.on('error', () => {})
  return { asked, begun, outcome }
}

async function all(source: AsyncIterable<string>): Promise<readonly string[]> {
  const found: string[] = []
  for await (const each of source) found.push(each)
  return found
}

describe('slow and broken clients', () => {
  it('[HT53] are not waited for', async () => {
    const slow = await reading((incoming) => readBytes(incoming, 100, 20))
    slow.asked.write('{')
    expect(await slow.outcome).toMatchObject({ code: 'cancelled' })
    const paused = await reading((incoming) => all(readLines(incoming, { pauseMs: 20 })))
    paused.asked.write('{}\n{')
    expect(await paused.outcome).toMatchObject({ code: 'cancelled' })
  })

  it('[HT53] that leave in the middle of a body are noticed', async () => {
    const left = await reading((incoming) => readBytes(incoming, 100, 10_000))
    left.asked.write('{')
    await left.begun
    left.asked.destroy()
    expect(await left.outcome).toMatchObject({ code: 'cancelled' })
  })

  it('[HT53] get an answer in the one shape, whatever they send', async () => {
    const { url } = await start()
    const { hostname, port } = new URL(url)
    const answerTo = async (bytes: string) => {
      const socket = connect(Number(port), hostname)
      socket.end(bytes)
      let text = ''
      for await (const chunk of socket) text += chunk
      const [head = '', body = ''] = text.split('\r\n\r\n')
      return { line: head.split('\r\n')[0], body: JSON.parse(body) }
    }
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

  it('[HT53] that are refused while they send get to read why', async () => {
    const { client } = await start()
    const raw = JSON.stringify({ content: 'x'.repeat(8_000_000) })
    expect((await client.call('POST', '/api/memory', { raw, key: null })).status).toBe(401)
    expect((await client.call('POST', '/api/memory', { raw })).status).toBe(413)
    expect((await client.call('POST', '/nothing', { raw })).status).toBe(404)
    expect((await client.get('/api/memory')).status).toBe(200)
  })
})
