/** What else clients ask for: embeddings, reranking, models, and what only the provider can tell. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { encode } from 'gpt-tokenizer/encoding/cl100k_base'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import type { Reranker } from '../../../src/models/reranker.ts'
import { scriptedEmbedder } from '../../fakes/embedder.ts'
import {
  FACT,
  type GatewaySetup,
  keyFor,
  MEMORY_HEADER,
  OWNER,
  QUESTION,
  setUpGateway,
} from './support/gateway-harness.ts'

/** Likes long texts. */
const RERANKER: Reranker = {
  name: 'length',
  rerank: async (_, texts) => texts.map((text, index) => ({ index, score: text.length })),
  close: async () => {},
}

async function setUpModels(): Promise<GatewaySetup> {
  const engine = await createEngine({
    embedding: scriptedEmbedder(),
    rerank: RERANKER,
    settings: { 'server.requestsPerMinute': 0 },
  })
  return setUpGateway('memory off', { engine })
}

const json = (value: object) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

const openai = ({ baseUrl, key }: GatewaySetup) =>
  new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })

async function post({ baseUrl, key }: GatewaySetup, path: string, body: object) {
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const INPUT_RULE = '`input` must be a non-empty string, or an array of 1 to 2,048 of them.'

describe('embeddings', () => {
  it('[GW15] are the same as floats and as the bytes that clients ask for', async () => {
    const setup = await setUpModels()
    const input = ['tea', 'coffee']
    const { embeddings } = openai(setup)
    // The client asks for base64 by itself, and decodes it.
    const decoded = await embeddings.create({ model: 'reference/terms', input })
    const floats = await embeddings.create({
      model: 'reference/terms',
      input,
      encoding_format: 'float',
    })
    const direct = await setup.engine.admin.models.embed(input, { purpose: 'document' })
    for (const answer of [decoded, floats]) {
      expect(answer.data.map(({ embedding }) => embedding)).toEqual(
        direct.vectors.map((vector) => [...vector]),
      )
      expect(answer.data.map(({ index }) => index)).toEqual([0, 1])
      expect(answer.usage.total_tokens).toBeGreaterThan(0)
    }
    expect(setup.upstream.requests).toHaveLength(0)
  })

  it('[GW15] are those of the texts where a client sends tokens', async () => {
    const setup = await setUpModels()
    const texts = ['green tea', 'Kaffee, schön heiß ☕']
    const input = texts.map((text) => encode(text))
    const { embeddings } = openai(setup)
    const expected = await embeddings.create({ model: 'terms', input: texts })
    const answer = await embeddings.create({ model: 'terms', input })
    expect(answer.data).toEqual(expected.data)
    const one = await embeddings.create({ model: 'terms', input: encode('green tea') })
    expect(one.data).toEqual(expected.data.slice(0, 1))
  })

  it('[GW15] refuse what they cannot read in plain words, naming the field', async () => {
    const setup = await setUpModels()
    for (const [body, param, message] of [
      [{ input: 'x' }, 'model', '`model` is required.'],
      [{ model: '', input: 'x' }, 'model', '`model` must not be empty.'],
      [{ model: 7, input: 'x' }, 'model', '`model` must be a string.'],
      [{ model: 'terms' }, 'input', INPUT_RULE],
      [{ model: 'terms', input: '' }, 'input', '`input` must not be empty.'],
      [{ model: 'terms', input: [] }, 'input', '`input` must hold at least 1 entry.'],
      [{ model: 'terms', input: [[1, 2], 'tea'] }, 'input', INPUT_RULE],
      [{ model: 'terms', input: [[]] }, 'input', INPUT_RULE],
      [{ model: 'terms', input: [999_999] }, 'input', 'tokens of the vocabulary cl100k_base'],
      [{ model: 'terms', input: [[1.5]] }, 'input', 'tokens of the vocabulary cl100k_base'],
      [{ model: 'terms', input: [Array(8_193).fill(1)] }, 'input', 'at most 8,192 tokens per text'],
      [{ model: 'terms', input: Array(2_049).fill([1]) }, 'input', INPUT_RULE],
      [{ model: 'terms', input: 'x', dimensions: 7 }, 'dimensions', 'the size of vectors of'],
      [
        { model: 'terms', input: 'x', dimensions: 0 },
        'dimensions',
        '`dimensions` must be above 0.',
      ],
      [
        { model: 'terms', input: 'x', dimensions: 1.5 },
        'dimensions',
        '`dimensions` must be an integer.',
      ],
      [
        { model: 'terms', input: 'x', encoding_format: 'int8' },
        'encoding_format',
        '`encoding_format` must be one of float, base64.',
      ],
    ] as const) {
      const answer = await post(setup, '/embeddings', body)
      expect([answer.status, answer.body.error]).toEqual([
        400,
        expect.objectContaining({
          type: 'invalid_request_error',
          param,
          message: expect.stringContaining(message),
        }),
      ])
    }
  })

  it('[GW15.1] say so where there is no model', async () => {
    const setup = await setUpGateway('memory off', {
      providers: () => ({ demo: { kind: 'demo' } }),
      settings: { 'gateway.embeddingFallbackEnabled': true },
    })
    const embeddings = await post(setup, '/embeddings', { model: 'm', input: 'x' })
    const ranks = await post(setup, '/rerank', { model: 'm', query: 'q', documents: ['d'] })
    expect([embeddings.status, ranks.status]).toEqual([501, 501])
  })

  it('[GW15.2] come from the provider of the model, byte for byte', async () => {
    const setup = await setUpModels()
    const answer = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] }
    setup.upstream.queue(json(answer), json(answer))
    const asked = { model: 'text-embedding-3-large', input: [[1, 2, 3]], dimensions: 3072 }
    expect((await post(setup, '/embeddings', asked)).body).toEqual(answer)
    expect(setup.upstream.last()).toMatchObject({ path: '/v1/embeddings', body: asked })
    await post(setup, '/embeddings', { ...asked, model: 'openai/text-embedding-3-large' })
    expect(setup.upstream.last().body.model).toBe('text-embedding-3-large')
    expect(setup.upstream.last().headers.authorization).toBe('Bearer sk-upstream')
  })

  it('[GW15.3] of a model that no provider has are not those of another model', async () => {
    const options = { providers: () => ({ demo: { kind: 'demo' } }) }
    const engine = () =>
      createEngine({ embedding: scriptedEmbedder(), settings: { 'server.requestsPerMinute': 0 } })
    const asked = { model: 'text-embedding-3-large', input: 'tea' }
    const strict = await setUpGateway('memory off', { ...options, engine: await engine() })
    const refused = await post(strict, '/embeddings', asked)
    expect(refused.status).toBe(404)
    expect(refused.body.error).toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining('"reference/terms"'),
    })
    await strict.engine.admin.settings.change(null, {
      'gateway.embeddingFallbackEnabled': true,
    })
    expect(await post(strict, '/embeddings', asked)).toMatchObject({
      status: 200,
      body: { model: 'reference/terms' },
    })
  })
})

it('[GW15] reranking orders documents, the best first', async () => {
  const setup = await setUpModels()
  const documents = ['tea', { text: 'coffee' }, 'water']
  const ask = (more: object) => post(setup, '/rerank', { query: 'drink', documents, ...more })
  const all = await ask({ return_documents: true })
  expect(all.body).toEqual({
    model: 'length',
    results: [
      { index: 1, relevance_score: 6, document: { text: 'coffee' } },
      { index: 2, relevance_score: 5, document: { text: 'water' } },
      { index: 0, relevance_score: 3, document: { text: 'tea' } },
    ],
  })
  const best = await ask({ top_n: 1 })
  expect(best.body.results).toEqual([{ index: 1, relevance_score: 6 }])
})

it('[GW15] reranking refuses what it cannot read in plain words', async () => {
  const setup = await setUpModels()
  for (const [fields, param, message] of [
    [{ documents: [] }, 'documents', '`documents` must hold at least 1 entry.'],
    [{ documents: 'tea' }, 'documents', '`documents` must be an array.'],
    [
      { documents: ['tea', 7] },
      'documents.1',
      '`documents.1` must be a string, or an object with the string `text`.',
    ],
    [{ query: '' }, 'query', '`query` must not be empty.'],
    [{ top_n: 0 }, 'top_n', '`top_n` must be above 0.'],
    [{ return_documents: 'yes' }, 'return_documents', '`return_documents` must be true or false.'],
  ] as const) {
    const body = { query: 'drink', documents: ['tea'], ...fields }
    const answer = await post(setup, '/rerank', body)
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.objectContaining({ param, message }),
    ])
  }
})

describe('models', () => {
  it('[GW16] of all providers are listed together, also when one is not there', async () => {
    const providers = (url: string) => ({
      openai: { kind: 'openai', baseUrl: `${url}/v1`, key: 'sk-upstream' },
      gone: {
        kind: 'openai',
        baseUrl: 'http://127.0.0.1:1/v1',
        key: 'sk-gone',
        models: ['written-down'],
      },
    })
    const setup = await setUpGateway('memory off', { providers })
    const listed = await openai(setup).models.list()
    const ids = listed.data.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(['demo/echo', 'gone/written-down']))
    expect(ids.some((id) => id.startsWith('openai/'))).toBe(true)
    expect(await openai(setup).models.retrieve('demo/echo')).toMatchObject({ id: 'demo/echo' })
    await expect(openai(setup).models.retrieve('nobody')).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    )
    expect(JSON.stringify(listed)).not.toMatch(/sk-/)
  })

  it('[GW2.2] keep what their provider says, in the format of the calling API', async () => {
    const models = createServer(({ headers }, response) => {
      const data =
        headers['anthropic-version'] === undefined
          ? [{ id: 'gpt-test', object: 'model', created: 5, owned_by: 'system', context_window: 9 }]
          : [
              {
                ...{ id: 'claude-test', type: 'model', display_name: 'Claude Test' },
                ...{ created_at: '2026-01-01T00:00:00Z', max_input_tokens: 200_000 },
              },
            ]
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }))
    })
    await once(models.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void models.close())
    const baseUrl = `http://127.0.0.1:${(models.address() as AddressInfo).port}/v1` // it listens on a port
    const setup = await setUpGateway('memory off', {
      providers: () => ({
        gpt: { kind: 'openai', baseUrl, key: 'sk' },
        claude: { kind: 'anthropic', baseUrl, key: 'sk' },
      }),
    })
    const list = async (headers: Record<string, string>) => {
      const response = await fetch(`${setup.baseUrl}/models`, {
        headers: { authorization: `Bearer ${setup.key}`, ...headers },
      })
      const { data } = (await response.json()) as { data: { id: string }[] } // as both APIs list
      return data.filter(({ id }) => !id.startsWith('demo/'))
    }
    expect(await list({})).toEqual([
      { id: 'gpt/gpt-test', object: 'model', created: 5, owned_by: 'system', context_window: 9 },
      {
        ...{ id: 'claude/claude-test', object: 'model', created: 1_767_225_600 },
        ...{ owned_by: 'claude', display_name: 'Claude Test', max_input_tokens: 200_000 },
      },
    ])
    expect(await list({ 'anthropic-version': '2023-06-01' })).toEqual([
      {
        ...{ id: 'gpt/gpt-test', type: 'model', display_name: 'gpt/gpt-test' },
        ...{ created_at: '1970-01-01T00:00:05.000Z', context_window: 9 },
      },
      {
        ...{ id: 'claude/claude-test', type: 'model', display_name: 'Claude Test' },
        ...{ created_at: '2026-01-01T00:00:00Z', max_input_tokens: 200_000 },
      },
    ])
  })

  it('[GW16] are listed over all pages of a provider', async () => {
    const asked: string[] = []
    const pages = createServer(({ url = '' }, response) => {
      asked.push(url)
      const page = asked.length
      const data = [{ type: 'model', id: `claude-${page}` }]
      const list = { data, has_more: page < 3, last_id: `claude-${page}` }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(list))
    })
    await once(pages.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void pages.close())
    const { port } = pages.address() as AddressInfo // it listens on a port, not on a pipe
    const providers = () => ({
      claude: { kind: 'anthropic', baseUrl: `http://127.0.0.1:${port}/v1`, key: 'sk' },
    })
    const setup = await setUpGateway('memory off', { providers })
    const ids = (await openai(setup).models.list()).data.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining([1, 2, 3].map((page) => `claude/claude-${page}`)))
    expect(asked.map((url) => url.split('?')[1])).toEqual([
      'limit=1000',
      'limit=1000&after_id=claude-1',
      'limit=1000&after_id=claude-2',
    ])
  })

  it('[GW16] are listed for clients of Anthropic in their shape', async () => {
    const { url, key } = await setUpGateway('memory off')
    const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 })
    const { data } = await client.models.list()
    expect(data.find(({ id }) => id === 'demo/echo')).toMatchObject({ type: 'model' })
  })
})

describe('what only the provider can tell', () => {
  it('[GW17] is passed on: counting tokens, under the provider’s name of the model', async () => {
    const setup = await setUpGateway('memory off')
    setup.upstream.queue(json({ input_tokens: 7 }))
    const client = new Anthropic({ baseURL: setup.url, apiKey: setup.key, maxRetries: 0 })
    const counted = await client.messages.countTokens({
      model: 'anthropic/claude-test',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(counted.input_tokens).toBe(7)
    expect(setup.upstream.last()).toMatchObject({
      path: '/v1/messages/count_tokens',
      body: { model: 'claude-test' },
    })
  })

  it('[GW17.3] tokens are counted with the block that the request would get, and nothing is recorded', async () => {
    const setup = await setUpGateway('memory on')
    setup.upstream.queue(json({ input_tokens: 99 }))
    const client = new Anthropic({ baseURL: setup.url, apiKey: setup.key, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: QUESTION }]
    const counted = await client.messages
      .countTokens({ model: 'claude-test', messages })
      .withResponse()
    expect(counted.data.input_tokens).toBe(99)
    expect(counted.response.headers.get(MEMORY_HEADER)).toMatch(/^injected; count=1; tokens=\d+$/)
    expect(setup.upstream.last().text).toContain(FACT)
    await setup.engine.conversations.flush()
    const { rows } = await setup.engine.conversations.receipts.list({ owner: OWNER })
    expect(rows).toEqual([])
  })

  it.each(['/assistants', '/responses/..%2ffiles', '/organization/users', ''])(
    '[GW17] does not include %j, which the key of the server would open',
    async (path) => {
      const setup = await setUpGateway('memory off')
      const response = await fetch(`${setup.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${await keyFor(setup.engine)}` },
      })
      expect(response.status).toBe(404)
      expect(setup.upstream.requests).toHaveLength(0)
    },
  )
})
