/** Bytes to providers and back, over real connections. */
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/lib/errors.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  awaited,
  bodyOf,
  cleanUpAfterEach,
  closedPort,
  listen,
  provider,
  request,
  serve,
  serveRaw,
  textOf,
  upstream,
} from './upstream-support.ts'

cleanUpAfterEach()

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const KEY = 'sk-very-secret-key'

describe('requests and responses', () => {
  it('[PV6] sends method, path, headers in their order and spelling, and the bytes of the body', async () => {
    const seen: { line: string; raw: readonly string[]; body: string }[] = []
    const { url, port } = await serve(async (incoming, response) => {
      const line = `${incoming.method} ${incoming.url}`
      seen.push({ line, raw: incoming.rawHeaders, body: await bodyOf(incoming) })
      response.end()
    })
    const headers = [
      ['User-Agent', 'Client/1'],
      ['X-Twice', 'one'],
      ['x-twice', 'two'],
      ['X-Latin', 'caf\u00e9'],
    ] as const
    const body = Buffer.from('{"text":"grüß\u2028 dich"}')
    const response = await upstream().send(
      request(provider(url), { path: '/chat/completions?a=b%20c', headers, body }),
    )
    await textOf(response)
    expect(seen).toEqual([
      {
        line: 'POST /v1/chat/completions?a=b%20c',
        raw: [
          ...['host', `127.0.0.1:${port}`, ...headers.flat()],
          ...['content-length', String(body.byteLength), 'Connection', 'keep-alive'],
        ],
        body: body.toString('utf8'),
      },
    ])
  })

  it('[PV6] gives back status, headers and bytes as they came, redirects and errors too', async () => {
    let calls = 0
    const { url } = await serve((_, response) => {
      calls++
      response.writeHead(307, [
        ...['Location', 'http://127.0.0.1:1/elsewhere', 'X-RateLimit-Remaining', '7'],
        ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Content-Encoding', 'gzip'],
      ])
      response.end(Buffer.from([0x1f, 0x8b, 0, 255]))
    })
    const response = await upstream().send(request(provider(url)))
    expect(response.status).toBe(307)
    expect(response.headers.slice(0, 5)).toEqual([
      ['Location', 'http://127.0.0.1:1/elsewhere'],
      ['X-RateLimit-Remaining', '7'],
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
      ['Content-Encoding', 'gzip'],
    ])
    const chunks = await Readable.from(response.body).toArray()
    expect(Buffer.concat(chunks)).toEqual(Buffer.from([0x1f, 0x8b, 0, 255]))
    expect(calls).toBe(1)
  })

  it('[PV6] drops hop-by-hop headers in both directions', async () => {
    let raw: readonly string[] = []
    const { url } = await serveRaw((socket) => {
      socket.once('data', (bytes) => {
        raw = bytes.toString('latin1').split('\r\n')
        socket.write(
          'HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n' +
            'Transfer-Encoding: chunked\r\nTrailer: x-end\r\nX-Kept: 1\r\n\r\n2\r\nok\r\n0\r\n\r\n',
        )
      })
    })
    const headers = [
      ['Connection', 'close, X-Private'],
      ['X-Private', '1'],
      ['Transfer-Encoding', 'chunked'],
      ['Host', 'elsewhere.example'],
      ['Content-Length', '9999'],
      ['Expect', '100-continue'],
      ['X-Kept', '1'],
    ] as const
    const response = await upstream().send(request(provider(url), { headers }))
    expect(await textOf(response)).toBe('ok')
    expect(response.headers).toEqual([['X-Kept', '1']])
    const names = raw.slice(1, raw.indexOf('')).map((line) => line.split(':')[0]?.toLowerCase())
    expect(names).toEqual(['host', 'x-kept', 'content-length', 'connection'])
  })

  it.each([
    { kind: 'openai', expected: { authorization: `Bearer ${KEY}` } },
    { kind: 'gemini', expected: { authorization: `Bearer ${KEY}` } },
    { kind: 'ollama', expected: { authorization: `Bearer ${KEY}` } },
    { kind: 'anthropic', expected: { 'x-api-key': KEY } },
  ] as const)(
    '[PV7] shows the key of a provider of kind $kind instead of the client’s',
    async ({ kind, expected }) => {
      const response = await upstream().send(
        request(provider(await echoUrl(), { kind, key: KEY, headers: { 'X-Team': 'a' } }), {
          headers: [
            ['Authorization', 'Bearer of-the-client'],
            ['X-Api-Key', 'of-the-client'],
            ['x-team', 'of-the-client'],
          ],
        }),
      )
      const seen: Record<string, string> = JSON.parse(await textOf(response))
      const credentials = Object.fromEntries(
        Object.entries(seen).filter(([name]) => /auth|key|team/.test(name)),
      )
      expect(credentials).toEqual({ ...expected, 'x-team': 'a' })
    },
  )

  it('[PV7] passes the client’s own credentials on to a provider without a key', async () => {
    const headers = [
      ['authorization', 'Bearer of-the-client'],
      ['x-api-key', 'of-the-client'],
    ] as const
    const response = await upstream().send(request(provider(await echoUrl()), { headers }))
    expect(JSON.parse(await textOf(response))).toMatchObject(Object.fromEntries(headers))
  })

  it('[PV7] lets a header of the configuration stand for the key', async () => {
    const to = provider(await echoUrl(), { key: KEY, headers: { Authorization: 'Custom x' } })
    const seen = JSON.parse(await textOf(await upstream().send(request(to))))
    expect(seen.authorization).toBe('Custom x')
  })

  it('[PV6] sends a request without a body', async () => {
    const { url } = await serve((incoming, response) =>
      response.end(`${incoming.method} ${incoming.headers['content-length']}`),
    )
    const query = { method: 'GET', path: '/models', body: null }
    expect(await textOf(await upstream().send(request(provider(url), query)))).toBe('GET undefined')
  })

  it.skipIf(!hasOpenssl())(
    '[PV6] speaks TLS, and names a certificate that is not trusted (needs openssl)',
    async () => {
      const { cert, key } = certificate()
      const server = createTlsServer({ cert, key }, (_, response) => response.end('sealed'))
      const { url } = await listen(server, 'https')
      const trusting = upstream({ certificates: [cert] })
      expect(await textOf(await trusting.send(request(provider(url))))).toBe('sealed')
      const error = await failureOf(upstream().send(request(provider(url))))
      expect(error).toMatchObject({ code: 'unavailable' })
      expect(error.message).toContain('NODE_EXTRA_CA_CERTS')
    },
  )

  it('[PV11] refuses a header that can’t be sent, without a word of its value', async () => {
    const headers = [['x-bad', `line\nbreak ${KEY}`]] as const
    const error = await failureOf(upstream().send(request(provider(await echoUrl()), { headers })))
    expect(error.code).toBe('invalid_input')
    expect(JSON.stringify([error.message, error.facts])).not.toContain(KEY)
  })
})

describe('connections', () => {
  it('[PV8] are used again', async () => {
    let connections = 0
    const { url } = await serveRaw((socket) => {
      connections++
      socket.on('data', () => socket.write(ANSWER))
    })
    const sender = upstream()
    const to = provider(url)
    for (let round = 0; round < 5; round++) await textOf(await sender.send(request(to)))
    expect(connections).toBe(1)
    // The same place under another name is the same place.
    await textOf(await sender.send(request(provider(url, { name: 'other' }))))
    expect(connections).toBe(1)
  })

  it('[PV9] one that the provider closed while it lay idle is replaced, and nothing is lost', async () => {
    const requests: string[] = []
    const { url } = await serveRaw((socket, number) => {
      socket.on('data', (bytes) => {
        requests.push(`${number} ${bytes.toString('latin1').split(' ', 2).join(' ')}`)
        // The first connection answers once, and is reset by what comes then.
        if (requests.length === 2) socket.resetAndDestroy()
        else socket.write(ANSWER)
      })
    })
    const sender = upstream()
    await textOf(await sender.send(request(provider(url))))
    expect(await textOf(await sender.send(request(provider(url))))).toBe('ok')
    expect(requests.map((each) => each.slice(0, 1))).toEqual(['0', '0', '1'])
  })

  it('[PV9] one from the pool that is reset after a while may have been worked on, and is not replaced', async () => {
    let requests = 0
    const { url } = await serveRaw((socket) => {
      socket.on('data', () => {
        if (++requests === 1) socket.write(ANSWER)
        else setTimeout(() => socket.resetAndDestroy(), 1_200)
      })
    })
    const sender = upstream()
    await textOf(await sender.send(request(provider(url))))
    expect(await failureOf(sender.send(request(provider(url))))).toMatchObject({
      code: 'unavailable',
    })
    expect(requests).toBe(2)
  })

  it('[PV9] a new one that is reset after the request was read is an error, and is not tried again', async () => {
    let requests = 0
    const { url } = await serveRaw((socket) => {
      socket.once('data', () => {
        requests++
        socket.resetAndDestroy()
      })
    })
    const error = await failureOf(upstream().send(request(provider(url, { key: KEY }))))
    expect(error).toMatchObject({ code: 'unavailable', facts: { reason: 'ECONNRESET' } })
    expect(requests).toBe(1)
  })

  it('[PV9] one that ends without an answer is not tried again either', async () => {
    let requests = 0
    const { url } = await serveRaw((socket) => {
      socket.once('data', () => {
        requests++
        socket.end()
      })
    })
    expect(await failureOf(upstream().send(request(provider(url))))).toMatchObject({
      code: 'unavailable',
    })
    expect(requests).toBe(1)
  })

  it('[PV9] an unreachable provider is tried three times, and recovers in time', async () => {
    const port = await closedPort()
    const names: string[] = []
    const sender = upstream({
      resolve: (name, done) => {
        names.push(name)
        // It comes back between the second try and the third.
        const back = names.length < 3 ? null : serve((_, response) => response.end('back'), port)
        Promise.resolve(back).then(() => done(null, [{ address: '127.0.0.1', family: 4 }]))
      },
    })
    const to = provider(`http://model-host:${port}/v1`)
    expect(await textOf(await sender.send(request(to)))).toBe('back')
    expect(names).toEqual(['model-host', 'model-host', 'model-host'])
  })

  it('[PV9] gives up after that, and names the address', async () => {
    const port = await closedPort()
    const to = provider(`http://127.0.0.1:${port}/v1`, { key: KEY })
    const error = await failureOf(upstream().send(request(to)))
    expect(error).toMatchObject({
      code: 'unavailable',
      facts: { provider: 'scripted', host: '127.0.0.1', reason: 'ECONNREFUSED' },
    })
    expect(JSON.stringify([error.message, error.facts, error.stack])).not.toContain(KEY)
  })

  it('[PV9] an unresolvable name is tried again and then reported', async () => {
    let requests = 0
    const sender = upstream({
      resolve: (_, done) => {
        requests++
        done(Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' }), [])
      },
    })
    const error = await failureOf(sender.send(request(provider('https://api.example.com/v1'))))
    expect(error).toMatchObject({ code: 'unavailable', facts: { reason: 'EAI_AGAIN' } })
    expect(requests).toBe(3)
  })

  it('[PV10] are closed at once when the client leaves: before and during the response', async () => {
    for (const begins of [false, true]) {
      const held = awaited<Socket>()
      const { url } = await serve((incoming, response) => {
        held.resolve(incoming.socket)
        if (begins) response.write('data: 1\n\n')
      })
      const leaving = new AbortController()
      const sent = upstream().send(request(provider(url), { signal: leaving.signal }))
      const reading = sent.then(textOf)
      reading.catch(() => {})
      const socket = await held.promise
      if (begins) await sent
      const closed = once(socket, 'close')
      leaving.abort()
      await closed
      expect(await failureOf(reading)).toMatchObject({ code: 'cancelled' })
    }
  })

  it('[PV10] nothing is sent for a client that has left', async () => {
    let requests = 0
    const { url } = await serve(() => requests++)
    const signal = AbortSignal.abort()
    expect(await failureOf(upstream().send(request(provider(url), { signal })))).toMatchObject({
      code: 'cancelled',
    })
    expect(requests).toBe(0)
  })
})

describe('answers', () => {
  it('[PV10] that break off are errors to those who read, whichever way they read', async () => {
    const cut = (response: ServerResponse) => {
      response.write('data: 1\n\n')
      setImmediate(() => response.destroy())
    }
    const { url } = await serve((_, response) => cut(response))
    const sender = upstream()
    await expect(sender.send(request(provider(url))).then(textOf)).rejects.toThrow(/abort/i)
    const { body } = await sender.send(request(provider(url)))
    expect(body).toBeInstanceOf(Readable)
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    await expect(pipeline(body, nowhere)).rejects.toThrow(/abort/i)
  })

  it('[PV10] that broke off before anybody read them are errors as well', async () => {
    const { url } = await serveRaw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
        setTimeout(() => socket.destroy(), 20)
      })
    })
    const { body } = await upstream().send(request(provider(url)))
    await new Promise((resolve) => (body as Readable).once('close', resolve)) // it is one, see above
    await expect(textOf({ body })).rejects.toThrow(/abort/i)
  })

  it('[PV10] that cease to come end with a time-out, and the connection with them', async () => {
    const held = awaited<Socket>()
    const { url } = await serve((incoming, response) => {
      held.resolve(incoming.socket)
      response.write('data: 1\n\n')
    })
    const timeouts = { connectMs: 10_000, firstByteMs: 10_000, idleMs: 50 }
    const response = await upstream().send(request(provider(url, { timeouts })))
    const closed = held.promise.then((socket) => once(socket, 'close'))
    expect(await failureOf(textOf(response))).toMatchObject({
      code: 'timeout',
      facts: { phase: 'idleMs', provider: 'scripted' },
    })
    await closed
  })

  it('[PV10] that don’t begin end with a time-out', async () => {
    const { url } = await serve(() => {})
    const timeouts = { connectMs: 10_000, firstByteMs: 50, idleMs: 10_000 }
    expect(await failureOf(upstream().send(request(provider(url, { timeouts }))))).toMatchObject({
      code: 'timeout',
      facts: { phase: 'firstByteMs' },
    })
  })

  it('[PV10] a provider that can’t be connected to ends with a time-out', async () => {
    const timeouts = { connectMs: 50, firstByteMs: 10_000, idleMs: 10_000 }
    // A resolver that never answers is a connection that never comes.
    const sender = upstream({ resolve: () => {} })
    const to = provider('https://api.example.com/v1', { timeouts })
    expect(await failureOf(sender.send(request(to)))).toMatchObject({
      code: 'timeout',
      facts: { phase: 'connectMs' },
    })
  })

  it('[PV10] that wait for a slow reader hold the provider up, and are not late', async () => {
    const total = 64 * 1024 * 1024
    let written = 0
    const { url } = await serve(async (_, response) => {
      const piece = Buffer.alloc(256 * 1024, 'x')
      for (; written < total; written += piece.length) {
        if (!response.write(piece)) await once(response, 'drain')
      }
      response.end()
    })
    const timeouts = { connectMs: 10_000, firstByteMs: 10_000, idleMs: 500 }
    const { body } = await upstream().send(request(provider(url, { timeouts })))
    const reader = body[Symbol.asyncIterator]()
    let read = (await reader.next()).value?.length ?? 0
    // Longer than silence may last.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(written).toBeLessThan(total / 2)
    for (let next = await reader.next(); !next.done; next = await reader.next()) {
      read += next.value.length
    }
    expect(read).toBe(total)
  })
})

async function echoUrl(): Promise<string> {
  const { url } = await serve((incoming, response) =>
    response.end(JSON.stringify(incoming.headers)),
  )
  return url
}

async function failureOf(work: Promise<unknown>): Promise<AppError> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(AppError)
  return thrown as AppError // checked above
}

function hasOpenssl(): boolean {
  return spawnSync('openssl', ['version']).status === 0
}

function certificate(): { readonly cert: string; readonly key: string } {
  const folder = temporaryFolder()
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'],
      ...['-keyout', keyFile, '-out', certFile],
    ],
    { stdio: 'ignore' },
  )
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
}
