/** Services that fail in every way a network allows. Each fault becomes an error that names it. */
import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/app/system-clock.ts'
import { createValidatedEmbedder } from '../../../src/models/embedders/embedding-validation.ts'
import { openRemoteEmbedder } from '../../../src/models/embedders/remote/embedding-providers.ts'
import { createOpenaiCompatibleEmbedder } from '../../../src/models/embedders/remote/openai-compatible-embedder.ts'
import { withEmbedderTimeouts } from '../../../src/models/embedders/resilient-embedder.ts'
import { embedAll, errorOf, expected, HOUR_MS, PausingClock } from './embedder-support.ts'
import {
  type Misbehaviour,
  reply,
  type Service,
  startService,
  WIRES,
} from './embedding-services.ts'

const API_KEY = 'sk-very-secret-key'
const SECRET_TEXT = 'My PIN is 4711'

let service: Service
let clock: PausingClock
beforeAll(async () => {
  service = await startService(WIRES.openai)
})
afterAll(() => service.stop())
beforeEach(() => {
  clock = new PausingClock()
  service.misbehave(null)
})

function open(options: { readonly apiKey?: string; readonly baseUrl?: string } = {}) {
  return openRemoteEmbedder({
    provider: 'openai',
    model: 'any',
    apiKey: API_KEY,
    baseUrl: service.url,
    clock,
    random: () => 0.5,
    queryTimeoutMs: HOUR_MS,
    documentTimeoutMs: HOUR_MS,
    ...options,
  })
}

/** An embedder that has been described, so that only the call under test meets the fault. */
async function facing(misbehaviour: Misbehaviour) {
  service.misbehave(null)
  const embedder = open()
  await embedder.describe()
  service.requests.length = 0
  service.misbehave(misbehaviour)
  return embedder
}

const always = (status: number, body: unknown = {}, headers = {}) =>
  facing((_, response) => reply(response, status, body, headers))

describe('a refusal', () => {
  it.each([401, 403])(
    '[EM16] of the key (%i) is reported as such and not retried',
    async (status) => {
      const body = { error: { code: 'invalid_api_key', message: `Incorrect key: ${API_KEY}` } }
      const error = await errorOf(embedAll(await always(status, body), ['kites']))
      expect(error.code).toBe('unavailable')
      expect(error.message).toMatch(/refused the API key/)
      expect(error.facts).toEqual({ status, code: 'invalid_api_key', retryable: false })
      expect(service.requests.length).toBe(1)
    },
  )

  it('[EM16] of the key is known by its reason where the status says something else', async () => {
    const details = [{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' }]
    const body = { error: { code: 400, status: 'INVALID_ARGUMENT', details } }
    const error = await errorOf(embedAll(await always(400, body), ['kites']))
    expect(error.message).toMatch(/refused the API key/)
  })

  it.each([400, 413, 422])('[EM16] of the texts (%i) is invalid input', async (status) => {
    const embedder = await facing(({ body }, response) =>
      String(body.input).includes('bad') ? reply(response, status, {}) : false,
    )
    const error = await errorOf(embedAll(embedder, ['kites', 'bad', 'boats']))
    expect(error.code).toBe('invalid_input')
    expect(error.facts).toMatchObject({ status, index: 1, refused: '1' })
  })

  it('[EM16] of an unknown model is not tried again', async () => {
    const body = { error: { code: 'model_not_found' } }
    const error = await errorOf(embedAll(await always(404, body), ['kites']))
    expect(error.facts).toEqual({ status: 404, code: 'model_not_found', retryable: false })
    expect(service.requests.length).toBe(1)
  })

  it.each([301, 302, 307, 308])('[EM14] by a redirect (%i) is not followed', async (status) => {
    const other = await startService(WIRES.openai)
    const error = await errorOf(
      embedAll(await always(status, '', { location: `${other.url}/embeddings` }), ['kites']),
    )
    await other.stop()
    expect(error.message).toMatch(/redirect/)
    expect(error.facts).toMatchObject({ status, retryable: false })
    expect(other.requests).toEqual([])
    expect(service.requests.length).toBe(1)
  })
})

describe('a service that is busy', () => {
  it('[EM16] is retried after the demanded seconds', async () => {
    const embedder = await facing((_, response, number) =>
      number === 1 ? reply(response, 429, {}, { 'retry-after': '7' }) : false,
    )
    const [vector] = await embedAll(embedder, ['kites'])
    expect(vector?.length).toBe(64)
    expect(clock.pauses).toEqual([7_000])
  })

  it('[EM16] is retried at the demanded date, by its own clock', async () => {
    const headers = {
      date: 'Wed, 21 Oct 2015 07:28:00 GMT',
      'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT',
    }
    const embedder = await facing((_, response, number) =>
      number === 1 ? reply(response, 503, {}, headers) : false,
    )
    await embedAll(embedder, ['kites'])
    expect(clock.pauses).toEqual([30_000])
  })

  it('[EM16] is retried after the delay in its response', async () => {
    const body = { error: { status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '3.5s' }] } }
    const embedder = await facing((_, response, number) =>
      number === 1 ? reply(response, 429, body) : false,
    )
    await embedAll(embedder, ['kites'])
    expect(clock.pauses).toEqual([3_500])
  })

  it('[EM16] fails after three retries, with the demanded delay', async () => {
    const error = await errorOf(embedAll(await always(429, {}, { 'retry-after': '1' }), ['kites']))
    expect(error.facts).toEqual({ status: 429, retryAfterMs: 1_000, retryable: true })
    expect(service.requests.length).toBe(4)
    expect(clock.pauses).toEqual([1_000, 1_000, 2_000])
  })

  it('[EM16] is not waited for when the quota is used up', async () => {
    const body = { error: { type: 'insufficient_quota', code: 'insufficient_quota' } }
    const error = await errorOf(embedAll(await always(429, body), ['kites']))
    expect(error.message).toMatch(/quota/)
    expect(service.requests.length).toBe(1)
  })

  it.each([500, 502, 503, 529])('[EM16] is asked again after %i', async (status) => {
    const embedder = await facing((_, response, number) =>
      number < 4 ? reply(response, status, '<html>Bad gateway</html>') : false,
    )
    const [vector] = await embedAll(embedder, ['kites'])
    const [same] = await expected(['kites'])
    expect(vector?.[0]).toBeCloseTo(same?.[0] ?? 0, 5)
    expect(clock.pauses).toEqual([500, 1_000, 2_000])
  })
})

describe('an answer', () => {
  const sound = Array.from({ length: 64 }, () => 0.5)
  const data = (vectors: readonly unknown[]) => ({
    data: vectors.map((embedding, index) => ({ index, embedding })),
  })
  it.each([
    ['the wrong number of vectors', data([sound]), /1 vectors where 2/],
    ['vectors of the wrong size', data([sound.slice(1), sound.slice(1)]), /63 dimensions/],
    ['NaN as null', data([sound, sound.with(0, null as never)]), /no list of numbers/],
    ['NaN as it is', JSON.stringify(data([sound, sound])).replace('0.5', 'NaN'), /no JSON/],
    [
      'a number too large',
      JSON.stringify(data([sound, sound])).replace('0.5', '1e999'),
      /not finite/,
    ],
    ['zeros', data([sound, sound.map(() => 0)]), /zeros/],
    ['JSON that ends early', JSON.stringify(data([sound, sound])).slice(0, -20), /no JSON/],
    ['a page for people', '<html></html>', /no JSON/],
    ['nothing', '', /no JSON/],
    ['another form', { vectors: [] }, /without a list/],
    ['null', 'null', /without a list/],
    ['a list of nothing', { data: [null, 7] }, /no list of numbers/],
  ])('[EM15] with %s is refused, and asked for again', async (_, body, message) => {
    const error = await errorOf(embedAll(await always(200, body), ['kites', 'boats']))
    expect(error.code).toBe('unavailable')
    expect(error.message).toMatch(message)
    expect(error.message).toContain('openai')
    expect(service.requests.length).toBe(4)
  })

  it('[EM15] without an end is not read to the end', async () => {
    let sent = 0
    let isClosed = false
    service.misbehave((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = ' '.repeat(64 * 1024)
      const more = () => {
        while (!response.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) break
        }
      }
      response.on('drain', more)
      response.on('close', () => {
        isClosed = true
      })
      more()
      return true
    })
    const options = { model: 'any', baseUrl: service.url, responseBytesMax: 1024 * 1024 }
    const error = await errorOf(
      createValidatedEmbedder(createOpenaiCompatibleEmbedder(options)).describe(),
    )
    expect(error.message).toMatch(/more than 1048576 bytes/)
    await expect.poll(() => isClosed).toBe(true)
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it('[EM15] that breaks off is retried', async () => {
    const embedder = await facing((_, response, number) => {
      if (number === 1) response.socket?.destroy()
      if (number === 2) {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('{"data":')
        setImmediate(() => response.socket?.destroy())
      }
      return number <= 2
    })
    await embedAll(embedder, ['kites'])
    expect(service.requests.length).toBe(3)
  })

  it('[EM15] that never comes times out', async () => {
    for (const begin of [false, true]) {
      service.misbehave((_, response) => {
        if (begin) response.writeHead(200).write('{"data":')
        return true
      })
      const raw = createOpenaiCompatibleEmbedder({ model: 'any', baseUrl: service.url })
      const limits = { clock: systemClock, queryTimeoutMs: 30, documentTimeoutMs: 30 }
      const error = await errorOf(
        withEmbedderTimeouts(createValidatedEmbedder(raw), limits).describe(),
      )
      expect(error.code).toBe('unavailable')
      expect(error.facts).toEqual({ timeoutMs: 30 })
    }
  })

  it('[EM3] that never comes does not keep a call from being cancelled', async () => {
    const embedder = await facing(() => true)
    const controller = new AbortController()
    const { signal } = controller
    const call = embedder.embed(['kites'], { purpose: 'query', signal })
    await expect.poll(() => service.requests.length).toBe(1)
    controller.abort()
    expect((await errorOf(call)).code).toBe('cancelled')
  })

  it('[EM15] from an unreachable host names it, and is retried', async () => {
    const free = createServer()
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve))
    const address = free.address()
    const port = typeof address === 'object' ? address?.port : 0
    await new Promise((resolve) => free.close(resolve))
    const error = await errorOf(open({ baseUrl: `http://127.0.0.1:${port}` }).describe())
    expect(error.code).toBe('unavailable')
    expect(error.message).toBe(`openai could not be reached at 127.0.0.1:${port} (ECONNREFUSED).`)
    expect(clock.pauses.length).toBe(3)
  })
})

describe('secrets', () => {
  it('[EM14] are in no error, for any response', async () => {
    const echo = { message: `${API_KEY} ${SECRET_TEXT}`, code: API_KEY, type: API_KEY }
    for (const status of [302, 400, 401, 404, 418, 429, 500]) {
      const embedder = await always(status, { error: echo, ...echo })
      const error = await errorOf(embedAll(embedder, [SECRET_TEXT]))
      const all = JSON.stringify([error.message, error.facts, embedder.report()]) + error.stack
      expect(all).not.toContain(API_KEY)
      expect(all).not.toContain('4711')
      expect(error.cause === undefined || !String(error.cause).includes(API_KEY)).toBe(true)
    }
  })

  it('[EM14] are in no error when the key itself is impossible', async () => {
    for (const apiKey of ['sk-secret\nline', 'sk-secret\u0000', 'sk-sécret', 'sk secret']) {
      const error = await errorOf(Promise.resolve().then(() => open({ apiKey })))
      expect(error.code).toBe('invalid_input')
      expect(JSON.stringify([error.message, error.facts])).not.toMatch(/secret|sécret/)
    }
  })

  it('[EM14] are sent without the line break that follows them in files', async () => {
    service.requests.length = 0
    await open({ apiKey: `${API_KEY}\n` }).describe()
    expect(service.requests[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`)
  })
})
