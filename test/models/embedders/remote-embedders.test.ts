/** Each service in its own protocol, over HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/app/system-clock.ts'
import { buildSpaceSignature } from '../../../src/domain/embedding-text.ts'
import { EMBEDDING_PROVIDERS } from '../../../src/domain/model-name.ts'
import { getModelTokensMax } from '../../../src/models/embedders/remote/embedding-model-limits.ts'
import {
  EMBEDDING_PROVIDER_TABLE,
  hashRemoteAccount,
  isPurposeSpecific,
  openRemoteEmbedder,
  parseEmbeddingModel,
  type RemoteEmbedderConfig,
} from '../../../src/models/embedders/remote/embedding-providers.ts'
import { describeEmbedder } from '../../conformance/models/embedder.suite.ts'
import { errorOf, expected, HOUR_MS, notes, PausingClock } from './embedder-support.ts'
import { type Service, startService, WIRES } from './embedding-services.ts'

const API_KEY = 'sk-very-secret-key'

const SERVICES: readonly (Pick<RemoteEmbedderConfig, 'provider' | 'model'> & {
  readonly wire: keyof typeof WIRES
  readonly base: string
})[] = [
  { provider: 'openai', model: 'text-embedding-3-small', wire: 'openai', base: '/v1' },
  { provider: 'mistral', model: 'mistral-embed', wire: 'openai', base: '/v1' },
  { provider: 'lmstudio', model: 'nomic-ai/nomic-embed', wire: 'openai', base: '/v1' },
  { provider: 'gemini', model: 'gemini-embedding-001', wire: 'gemini', base: '/v1beta' },
  { provider: 'voyage', model: 'voyage-3.5', wire: 'voyage', base: '/v1' },
  { provider: 'cohere', model: 'embed-v4.0', wire: 'cohere', base: '/v2' },
  { provider: 'ollama', model: 'nomic-embed-text:v1.5', wire: 'ollama', base: '' },
]

for (const { provider, model, wire, base } of SERVICES) {
  describe(`over HTTP: ${provider}`, () => {
    let service: Service
    beforeAll(async () => {
      service = await startService(WIRES[wire])
    })
    afterAll(() => service.stop())
    const open = async () =>
      openRemoteEmbedder({
        provider,
        model,
        apiKey: API_KEY,
        baseUrl: service.url + base,
        clock: systemClock,
      })
    describeEmbedder(provider, open, { tolerance: 1e-6, secrets: [API_KEY] })
  })
}

describe('the protocol', () => {
  const services = new Map<keyof typeof WIRES, Service>()
  beforeAll(async () => {
    for (const [name, wire] of Object.entries(WIRES)) {
      services.set(name as keyof typeof WIRES, await startService(wire)) // its own keys
    }
  })
  afterAll(() => Promise.all([...services.values()].map((service) => service.stop())))
  beforeEach(() => {
    for (const service of services.values()) service.requests.length = 0
  })

  async function requestsFor(
    wire: keyof typeof WIRES,
    config: Pick<RemoteEmbedderConfig, 'provider' | 'model'> & Partial<RemoteEmbedderConfig>,
    texts: readonly string[] = ['kites', 'boats'],
  ) {
    const service = services.get(wire)
    const embedder = openRemoteEmbedder({
      apiKey: API_KEY,
      baseUrl: `${service?.url}/base/`,
      clock: new PausingClock(),
      queryTimeoutMs: HOUR_MS,
      documentTimeoutMs: HOUR_MS,
      ...config,
    })
    await embedder.describe()
    if (service !== undefined) service.requests.length = 0
    const query = await embedder.embed(texts, { purpose: 'query' })
    await embedder.embed(texts, { purpose: 'document' })
    expect(query.length).toBe(texts.length)
    const [first, second] = service?.requests ?? []
    expect([first?.method, second?.method]).toEqual(['POST', 'POST'])
    expect(first?.headers['content-type']).toBe('application/json')
    return { query: first, document: second }
  }

  it('[EM13] of OpenAI is spoken', async () => {
    const model = 'text-embedding-3-small'
    const { query } = await requestsFor('openai', { provider: 'openai', model })
    expect(query?.path).toBe('/base/embeddings')
    expect(query?.headers.authorization).toBe(`Bearer ${API_KEY}`)
    expect(query?.body).toEqual({ model, input: ['kites', 'boats'], encoding_format: 'float' })
    const shorter = await requestsFor('openai', { provider: 'openai', model, dimensions: 64 })
    expect(shorter.query?.body).toMatchObject({ dimensions: 64 })
    const mistral = await requestsFor('openai', { provider: 'mistral', model, dimensions: 64 })
    expect(mistral.query?.body).toMatchObject({ output_dimension: 64 })
    expect(mistral.query?.body).not.toHaveProperty('dimensions')
  })

  it('[EM13] of OpenAI is spoken without a key to servers that need none', async () => {
    const service = services.get('openai')
    const config = { provider: 'lmstudio', model: 'any', clock: systemClock } as const
    await openRemoteEmbedder({ ...config, baseUrl: `${service?.url}` }).describe()
    expect(service?.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it.each([
    ['nomic-embed-text:v1.5', 'search_query: kites', 'search_document: kites'],
    ['text-embedding-nomic-embed-text-v1.5', 'search_query: kites', 'search_document: kites'],
    ['intfloat/multilingual-e5-large', 'query: kites', 'passage: kites'],
    [
      'mxbai-embed-large',
      'Represent this sentence for searching relevant passages: kites',
      'kites',
    ],
    ['bge-base-en-v1.5', 'Represent this sentence for searching relevant passages: kites', 'kites'],
    ['snowflake-arctic-embed2', 'query: kites', 'kites'],
    ['intfloat/multilingual-e5-large-instruct', 'kites', 'kites'],
    ['bge-m3', 'kites', 'kites'],
  ])('[EM13] of services for any model tells %s what is a question', async (model, asked, kept) => {
    for (const [wire, provider] of [
      ['ollama', 'ollama'],
      ['openai', 'vllm'],
    ] as const) {
      const { query, document } = await requestsFor(wire, { provider, model }, ['kites'])
      expect(query?.body).toMatchObject({ input: [asked] })
      expect(document?.body).toMatchObject({ input: [kept] })
      expect(isPurposeSpecific({ provider, model })).toBe(asked !== kept)
    }
  })

  it('[FX34] have a space of their own at each address but the usual one', async () => {
    const service = services.get('ollama')
    const describeAt = (baseUrl: string) =>
      openRemoteEmbedder({
        ...{ provider: 'ollama', model: 'bge-m3', clock: systemClock, baseUrl },
      }).describe()
    const [one, same, other] = await Promise.all(
      ['', '/', '/other'].map((path) => describeAt(`${service?.url}${path}`)),
    )
    if (one === undefined || same === undefined || other === undefined) throw new Error('missing')
    const { host: _, ...usual } = one
    const space = (model: typeof one) => buildSpaceSignature(model, 'float32')
    expect(space(one)).toBe(space(same))
    expect(new Set([one, other, usual].map(space)).size).toBe(3)
    expect(space(usual)).toBe(`ollama:bge-m3:${one.dimensions}`)
  })

  it('[EM13] of Gemini is spoken, with the key in a header', async () => {
    const model = 'gemini-embedding-001'
    const config = { provider: 'gemini', model, dimensions: 64 } as const
    const { query, document } = await requestsFor('gemini', config)
    expect(query?.path).toBe('/base/models/gemini-embedding-001:batchEmbedContents')
    expect(query?.headers['x-goog-api-key']).toBe(API_KEY)
    expect(query?.headers).not.toHaveProperty('authorization')
    const request = (text: string, taskType: string) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      taskType,
      outputDimensionality: 64,
    })
    expect(query?.body).toEqual({
      requests: [request('kites', 'RETRIEVAL_QUERY'), request('boats', 'RETRIEVAL_QUERY')],
    })
    expect(document?.body).toEqual({
      requests: [request('kites', 'RETRIEVAL_DOCUMENT'), request('boats', 'RETRIEVAL_DOCUMENT')],
    })
  })

  it('[EM13] of newer models of Gemini has the purpose in the text', async () => {
    const config = { provider: 'gemini', model: 'gemini-embedding-2' } as const
    const { query, document } = await requestsFor('gemini', config, ['kites'])
    const request = (text: string) => ({
      requests: [{ model: 'models/gemini-embedding-2', content: { parts: [{ text }] } }],
    })
    expect(query?.body).toEqual(request('task: search result | query: kites'))
    expect(document?.body).toEqual(request('title: none | text: kites'))
  })

  it('[EM13] of Voyage is spoken', async () => {
    const config = { provider: 'voyage', model: 'voyage-3.5', dimensions: 64 } as const
    const { query, document } = await requestsFor('voyage', config)
    expect(query?.path).toBe('/base/embeddings')
    expect(query?.headers.authorization).toBe(`Bearer ${API_KEY}`)
    const body = { model: 'voyage-3.5', input: ['kites', 'boats'], output_dimension: 64 }
    expect(query?.body).toEqual({ ...body, input_type: 'query' })
    expect(document?.body).toEqual({ ...body, input_type: 'document' })
  })

  it('[EM13] of Cohere is spoken', async () => {
    const config = { provider: 'cohere', model: 'embed-v4.0', dimensions: 64 } as const
    const { query, document } = await requestsFor('cohere', config)
    expect(query?.path).toBe('/base/embed')
    expect(query?.headers.authorization).toBe(`Bearer ${API_KEY}`)
    const body = {
      model: 'embed-v4.0',
      texts: ['kites', 'boats'],
      embedding_types: ['float'],
      truncate: 'END',
      output_dimension: 64,
    }
    expect(query?.body).toEqual({ ...body, input_type: 'search_query' })
    expect(document?.body).toEqual({ ...body, input_type: 'search_document' })
  })

  it('[EM13] of Ollama is spoken', async () => {
    const config = { provider: 'ollama', model: 'bge-m3' } as const
    const { query } = await requestsFor('ollama', config)
    expect(query?.path).toBe('/base/api/embed')
    expect(query?.body).toEqual({
      model: 'bge-m3',
      input: ['kites', 'boats'],
      truncate: true,
    })
  })

  it('[EM13] never holds a blank text, NUL or half a character', async () => {
    const texts = ['', ' \n', 'a\0b', '\ud83d!', '👍']
    const { query } = await requestsFor('openai', { provider: 'openai', model: 'any' }, texts)
    expect(query?.body.input).toEqual(['.', '.', 'a b', '\ufffd!', '👍'])
  })

  it('[EM7] sends batches that the service accepts, and returns vectors in order', async () => {
    for (const [wire, provider, textsMax] of [
      ['cohere', 'cohere', 96],
      ['gemini', 'gemini', 100],
    ] as const) {
      const service = services.get(wire)
      const config = { provider, model: 'gemini-embedding-001', apiKey: API_KEY } as const
      const clock = systemClock
      const embedder = openRemoteEmbedder({ ...config, baseUrl: `${service?.url}`, clock })
      const vectors = await embedder.embed(notes(250), { purpose: 'document' })
      for (const [index, vector] of (await expected(notes(250))).entries()) {
        expect(vectors[index]?.[0]).toBeCloseTo(vector[0] ?? 0, 5)
        expect(vectors[index]?.[63]).toBeCloseTo(vector[63] ?? 0, 5)
      }
      const sizes = service?.requests.map(({ body }) => WIRES[wire].read(body).texts.length)
      expect(sizes).toEqual([1, textsMax, textsMax, 250 - 2 * textsMax])
    }
  })
})

describe('names of models', () => {
  it('[EM17] are read as provider and model', () => {
    expect(parseEmbeddingModel('openai/text-embedding-3-small')).toEqual({
      provider: 'openai',
      model: 'text-embedding-3-small',
    })
    expect(parseEmbeddingModel('openrouter/openai/text-embedding-3-small')).toEqual({
      provider: 'openrouter',
      model: 'openai/text-embedding-3-small',
    })
    expect(parseEmbeddingModel('ollama/nomic-embed-text:v1.5').model).toBe('nomic-embed-text:v1.5')
  })

  it.each([
    'openai',
    '',
    '/',
    '/x',
    'openai/',
    'nobody/x',
    'openai/a b',
    'openai/a\nb',
    'openai/a?b',
    'toString/x',
    `openai/${'x'.repeat(201)}`,
  ])('[EM17] are refused when they are like %j', async (text) => {
    const error = await errorOf(Promise.resolve().then(() => parseEmbeddingModel(text)))
    expect(error.code).toBe('invalid_input')
  })

  it('[EM17] have a provider whose facts are complete', async () => {
    const clock = systemClock
    for (const provider of EMBEDDING_PROVIDERS) {
      const { baseUrl, requiresApiKey, apiKeyVariables } = EMBEDDING_PROVIDER_TABLE[provider]
      if (requiresApiKey) {
        expect(apiKeyVariables.length).toBeGreaterThan(0)
        const open = () => openRemoteEmbedder({ provider, model: 'any', clock })
        const error = await errorOf(Promise.resolve().then(open))
        expect(error.message).toContain(apiKeyVariables[0])
      }
      if (baseUrl === null) continue
      const embedder = openRemoteEmbedder({ provider, model: 'any', apiKey: API_KEY, clock })
      expect(embedder.report()).toMatchObject({
        source: provider,
        model: 'any',
        state: { kind: 'cold' },
        facts: { host: new URL(baseUrl).host },
      })
    }
  })

  it('[EM17] need an address where there is no usual one', async () => {
    const open = (baseUrl?: string) =>
      errorOf(
        Promise.resolve().then(() =>
          openRemoteEmbedder({
            provider: 'openai-compatible',
            model: 'any',
            clock: systemClock,
            ...(baseUrl === undefined ? {} : { baseUrl }),
          }),
        ),
      )
    expect((await open()).message).toContain('address')
    for (const wrong of ['localhost:1234', 'ftp://x', 'http://me:pass@x/', 'http://x/?key=1']) {
      const error = await open(wrong)
      expect(error.code).toBe('invalid_input')
      expect(error.message).not.toContain('pass@')
    }
  })

  it('[EM11] are distinguished by their address, and a new key changes nothing', () => {
    const config = { provider: 'openai', model: 'any', clock: systemClock } as const
    const usual = hashRemoteAccount({ ...config, apiKey: 'a' })
    expect(hashRemoteAccount({ ...config, apiKey: 'b' })).toBe(usual)
    expect(hashRemoteAccount({ ...config, baseUrl: 'http://127.0.0.1:1' })).not.toBe(usual)
  })

  it.each([
    ['nomic-embed-text:latest', 2_048],
    ['BAAI/bge-small-en-v1.5', 512],
    ['bge-m3', undefined],
    ['snowflake-arctic-embed:33m', 512],
    ['snowflake-arctic-embed2', undefined],
    ['embed-multilingual-v3.0', 512],
    ['embed-v4.0', undefined],
    ['gemini-embedding-001', 2_048],
    ['text-embedding-3-small', undefined],
    ['voyage-3.5', undefined],
  ])('[EM7] %s reads %s tokens of a text', (model, tokens) => {
    expect(getModelTokensMax(model)).toBe(tokens)
  })
})
