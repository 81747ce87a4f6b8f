/** Rerankers on the network: how the services are asked, and everything that can go wrong on the way. */
import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NEVER_ABORTED } from '../../../src/lib/abort.ts'
import {
  openRemoteReranker,
  type RemoteRerankerOptions,
} from '../../../src/models/rerankers/remote-reranker.ts'
import { errorOf } from '../embedders/embedder-support.ts'
import {
  type Misbehaviour,
  type RerankResult,
  type RerankService,
  reply,
  startRerankService,
} from './rerank-service.ts'

const API_KEY = 'sk-very-secret-key'
const QUESTION = 'What is my PIN?'
const TEXTS = ['My PIN is 4711', 'Nothing to see here', 'PIN or no PIN']
const ENDLESS_MS = 3_600_000

let service: RerankService
beforeAll(async () => {
  service = await startRerankService()
})
afterAll(() => service.stop())
beforeEach(() => {
  service.misbehave(null)
  service.requests.length = 0
})

function open(options: Partial<RemoteRerankerOptions> = {}) {
  return openRemoteReranker({
    url: service.url,
    model: 'any',
    apiKey: API_KEY,
    timeoutMs: ENDLESS_MS,
    ...options,
  })
}

function rerank(options: Partial<RemoteRerankerOptions> = {}) {
  return open(options).rerank(QUESTION, TEXTS, NEVER_ABORTED)
}

/** The error, after checking what holds for every one of them. */
async function failure(options: Partial<RemoteRerankerOptions> = {}) {
  const error = await errorOf(rerank(options))
  expect(error.code).toBe('unavailable')
  const result = `${error.message} ${JSON.stringify(error.facts)} ${error.stack} ${String(error.cause)}`
  for (const secret of [API_KEY, QUESTION, ...TEXTS]) expect(result).not.toContain(secret)
  return error
}

function failureWhen(misbehaviour: Misbehaviour, options: Partial<RemoteRerankerOptions> = {}) {
  service.misbehave(misbehaviour)
  return failure(options)
}

describe('a request', () => {
  it('[RR3] has the form that services share', async () => {
    const scores = await rerank({ model: 'rerank-v3.5' })
    expect(scores.map(({ index }) => index)).toEqual([0, 2, 1])
    expect(service.requests).toMatchObject([
      {
        path: 'POST /v1/rerank',
        body: { model: 'rerank-v3.5', query: QUESTION, documents: TEXTS, top_n: 3 },
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      },
    ])
  })

  it('[RR3] goes to the address as configured, with or without a version', async () => {
    const bases = ['', '/', '/v1', '/v1/', '/v2', '/proxy', '/proxy/v1']
    for (const base of bases) await rerank({ url: `${service.url}${base}` })
    expect(service.requests.map(({ path }) => path.replace('POST ', ''))).toEqual([
      '/v1/rerank',
      '/v1/rerank',
      '/v1/rerank',
      '/v1/rerank',
      '/v2/rerank',
      '/proxy/v1/rerank',
      '/proxy/v1/rerank',
    ])
  })

  it('[RR3] sends no key without one', async () => {
    await openRemoteReranker({ url: service.url, model: 'any' }).rerank(
      QUESTION,
      TEXTS,
      NEVER_ABORTED,
    )
    expect(service.requests[0]?.headers.authorization).toBeUndefined()
  })

  it('[RR3] speaks to Voyage AI in its own words, which refuses others', async () => {
    const voyage = await startRerankService((data, { body }) =>
      'top_n' in body ? { detail: 'Argument top_n is not supported' } : { object: 'list', data },
    )
    const addresses: string[] = []
    const rerouted: typeof fetch = (address, init) => {
      addresses.push(String(address))
      return fetch(`${voyage.url}/v1/rerank`, init)
    }
    const scores = await rerank({ url: 'https://api.voyageai.com/v1', fetch: rerouted })
    await voyage.stop()
    expect(scores.map(({ index }) => index)).toEqual([0, 2, 1])
    expect(addresses).toEqual(['https://api.voyageai.com/v1/rerank'])
    expect(voyage.requests[0]?.body).toMatchObject({ top_k: 3 })
  })

  it('[RR3] carries no blank text, no NUL and no half of a character, and not much of a long one', async () => {
    const texts = ['', ' \n', 'be\0tween', '\ud83d', 'x'.repeat(100_000)]
    await open().rerank('', texts, NEVER_ABORTED)
    const { query, documents } = service.requests[0]?.body ?? { query: '', documents: [] }
    expect(query).not.toBe('')
    expect(documents.length).toBe(texts.length)
    for (const text of documents) {
      expect(text.trim()).not.toBe('')
      expect(text).not.toMatch(/\0|\p{Surrogate}/u)
      expect(text.length).toBeLessThan(10_000)
    }
  })

  it('[RR3] is not made for no texts', async () => {
    expect(await open().rerank(QUESTION, [], NEVER_ABORTED)).toEqual([])
    expect(service.requests).toEqual([])
  })
})

describe('an answer', () => {
  const scoresFrom = async (results: readonly unknown[]) => {
    service.misbehave((response) => reply(response, 200, { results }))
    return rerank()
  }

  it('[RR3] may say more than the scores, and leave texts out', async () => {
    const document = { text: TEXTS[0] }
    expect(await scoresFrom([{ index: 2, relevance_score: -1.5, document }])).toEqual([
      { index: 2, score: -1.5 },
    ])
    expect(await scoresFrom([])).toEqual([])
  })

  it.each<[string, unknown]>([
    ['beyond the texts', { index: 3, relevance_score: 1 }],
    ['below zero', { index: -1, relevance_score: 1 }],
    ['between two texts', { index: 0.5, relevance_score: 1 }],
    ['in quotes', { index: '0', relevance_score: 1 }],
    ['missing', { relevance_score: 1 }],
    ['of a text that has a score', { index: 1, relevance_score: 9 }],
  ])('[RR3] with a position %s loses that score only', async (_, result) => {
    const good: RerankResult[] = [
      { index: 1, relevance_score: 0.25 },
      { index: 2, relevance_score: 0.5 },
    ]
    const [first, second] = good
    expect(await scoresFrom([first, result, second])).toEqual([
      { index: 1, score: 0.25 },
      { index: 2, score: 0.5 },
    ])
  })

  it('[RR3] with scores that are no finite numbers loses those only', async () => {
    const results = '[{"index":0,"relevance_score":1e999},{"index":1,"relevance_score":"1"},null,7]'
    service.misbehave((response) => reply(response, 200, `{"results":${results}}`))
    expect(await rerank()).toEqual([])
    expect(
      await scoresFrom([
        { index: 0, relevance_score: null },
        { index: 0, relevance_score: 0 },
      ]),
    ).toEqual([{ index: 0, score: 0 }])
  })

  it.each<[string, unknown]>([
    ['nothing', ''],
    ['a page', '<html>Hello</html>'],
    ['JSON that is cut short', '{"results":[{"index":0,"relevance_sc'],
    ['null', 'null'],
    ['a list', [{ index: 0, relevance_score: 1 }]],
    ['no results', { object: 'list' }],
    ['results that are no list', { results: { index: 0, relevance_score: 1 } }],
    ['an error in place of results', { error: { message: `No: ${API_KEY}` } }],
  ])('[RR3] that is %s is an error', async (_, body) => {
    await failureWhen((response) => reply(response, 200, body))
  })

  it('[RR3] that is endless is not read to its end', async () => {
    const error = await failureWhen((response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536))) {}
      }
      response.writeHead(200).on('drain', more)
      more()
    })
    expect(error.message).toMatch(/more than \d+ bytes/)
  })
})

describe('a failure', () => {
  it.each([400, 402, 404, 413, 422, 429, 500, 502, 503])(
    '[RR3] with status %i is unavailable, and tried once only',
    async (status) => {
      const error = await failureWhen((response) => {
        reply(response, status, { error: { code: API_KEY, message: TEXTS[0] } })
      })
      expect(error.message).toContain(String(status))
      expect(error.facts.status).toBe(status)
      expect(service.requests.length).toBe(1)
    },
  )

  it.each([401, 403])('[RR3] of the key (%i) is said plainly', async (status) => {
    const body = { message: `Invalid token ${API_KEY}` }
    const error = await failureWhen((response) => reply(response, status, body))
    expect(error.message).toMatch(/refused the API key/)
  })

  it('[RR3] is a redirect: no other host gets the key and the texts', async () => {
    const other = await startRerankService()
    for (const status of [301, 302, 307, 308]) {
      const error = await failureWhen((response) => {
        reply(response, status, '', { location: `${other.url}/v1/rerank` })
      })
      expect(error.message).toMatch(/redirect/)
    }
    await other.stop()
    expect(other.requests).toEqual([])
  })

  it('[RR3] is a service that is not there', async () => {
    const gone = await startRerankService()
    await gone.stop()
    expect((await failure({ url: gone.url })).message).toMatch(/ECONNREFUSED/)
  })

  it('[RR3] is a connection that breaks off, before the answer and within', async () => {
    await failureWhen((response) => response.destroy())
    await failureWhen((response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{"results":[', () => response.destroy())
    })
  })

  it('[RR3] is something that speaks no HTTP', async () => {
    const server = createServer((socket) => socket.resume().end('SSH-2.0-OpenSSH_9.6\r\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await failure({ url: `http://127.0.0.1:${port}` })
    await new Promise((resolve) => server.close(resolve))
  })

  it('[RR2] is a service that hangs, before the answer and within, once its time is over', async () => {
    const timeoutMs = 100
    expect((await failureWhen(() => {}, { timeoutMs })).message).toMatch(/within 100 ms/)
    const begins: Misbehaviour = (response) => void response.writeHead(200).write('{"results":[')
    expect((await failureWhen(begins, { timeoutMs })).facts).toEqual({ timeoutMs })
  })
})

it('[RR2] a call that is cancelled while the service hangs ends, and so does its request', async () => {
  const controller = new AbortController()
  const closed = new Promise((resolve) => {
    service.misbehave((response) => {
      response.on('close', resolve)
      controller.abort()
    })
  })
  const error = await errorOf(open().rerank(QUESTION, TEXTS, controller.signal))
  expect(error.code).toBe('cancelled')
  await closed
})

it('[RR3] validates the configuration before it sends anything, and does not echo it', async () => {
  const wrong: readonly Partial<RemoteRerankerOptions>[] = [
    { url: 'not an address' },
    { url: 'ftp://example.org' },
    { url: `https://me:${API_KEY}@example.org` },
    { url: `https://example.org?key=${API_KEY}` },
    { apiKey: `${API_KEY}\nInjected: header` },
    { model: ' ' },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
  ]
  for (const options of wrong) {
    const error = await errorOf(Promise.resolve().then(() => open(options)))
    expect(error.code).toBe('invalid_input')
    expect(`${error.message} ${JSON.stringify(error.facts)}`).not.toContain(API_KEY)
  }
  expect(service.requests).toEqual([])
})
