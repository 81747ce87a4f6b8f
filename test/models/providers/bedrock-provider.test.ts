/** Amazon Bedrock, asked by the client library of OpenAI through the gateway. */
import { writeFileSync } from 'node:fs'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { readProviders } from '../../../src/app/config/providers-file.ts'
import { signAwsRequest } from '../../../src/models/providers/bedrock/aws-signature.ts'
import { decodeEventStream } from '../../../src/models/providers/bedrock/event-stream.ts'
import {
  FENCE,
  occurrences,
  PIXEL,
  QUESTION,
  setUpGateway,
} from '../../api/gateway/support/gateway-harness.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import {
  type BedrockEvent,
  CREDENTIALS,
  encodeEvent,
  encodeMessage,
  openBedrock,
  REGION,
} from './bedrock-server.ts'

const MODEL = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const USAGE = { inputTokens: 7, outputTokens: 3, totalTokens: 10 }
const ANSWER = {
  output: { message: { role: 'assistant', content: [{ text: 'Jasmine.' }] } },
  stopReason: 'end_turn',
  usage: { ...USAGE, cacheReadInputTokens: 5 },
  metrics: { latencyMs: 1 },
}
const STREAM: readonly BedrockEvent[] = [
  ['messageStart', { role: 'assistant' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Jas' } }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'mine 茉莉.' } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['messageStop', { stopReason: 'end_turn' }],
  ['metadata', { usage: USAGE, metrics: { latencyMs: 1 } }],
]
const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

async function setUp(mode: 'memory on' | 'memory off' = 'memory off', settings = {}) {
  const bedrock = await openBedrock()
  const setup = await setUpGateway(mode, {
    settings,
    providers: () => ({
      aws: { kind: 'bedrock', region: REGION, baseUrl: bedrock.url, ...CREDENTIALS },
    }),
  })
  const client = new OpenAI({ baseURL: setup.baseUrl, apiKey: setup.key, maxRetries: 0 })
  return { ...setup, bedrock, client }
}

const ask = { model: `aws/${MODEL}`, messages: [{ role: 'user' as const, content: QUESTION }] }

describe('signatures', () => {
  it.each([
    ['GET', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['POST', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  ])('[PV16.2] equals the one that AWS publishes: %s', async (method, signature) => {
    const headers = await signAwsRequest({
      ...{ method, url: 'https://example.amazonaws.com/', body: null },
      ...{ service: 'service', region: 'us-east-1' },
      credentials: { ...CREDENTIALS, sessionToken: null },
      now: Date.UTC(2015, 7, 30, 12, 36),
    })
    expect(Object.fromEntries(headers)).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    })
  })

  it('[PV16.2] a wrong secret is refused by the server, and the client learns why', async () => {
    const bedrock = await openBedrock()
    const { baseUrl, key } = await setUpGateway('memory off', {
      providers: () => ({
        aws: {
          ...{ kind: 'bedrock', region: REGION, baseUrl: bedrock.url },
          ...CREDENTIALS,
          secretAccessKey: 'another',
        },
      }),
    })
    const client = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })
    await expect(client.chat.completions.create(ask)).rejects.toMatchObject({
      status: 403,
      code: 'InvalidSignatureException',
    })
  })
})

describe('chat', () => {
  it('[PV16.1] a request becomes one of Converse, and its answer one of the chat API', async () => {
    const { bedrock, client, key } = await setUp('memory on')
    bedrock.queue({ json: ANSWER })
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'user', content: [{ type: 'text', text: 'there' }] },
      { role: 'assistant', content: 'Hi.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
        ],
      },
    ]
    const options = { max_completion_tokens: 50, temperature: 0.5, top_p: 0.9, stop: 'END' }
    const answer = await client.chat.completions.create({ ...ask, messages, ...options })
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: MODEL,
      choices: [{ message: { role: 'assistant', content: 'Jasmine.' }, finish_reason: 'stop' }],
      usage: {
        ...{ prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
        prompt_tokens_details: { cached_tokens: 5 },
      },
    })
    const [call] = bedrock.calls
    expect(call?.path).toBe(`/model/${encodeURIComponent(MODEL)}/converse`)
    expect(call?.headers['x-amz-security-token']).toBe(CREDENTIALS.sessionToken)
    expect(JSON.stringify(call?.headers)).not.toContain(key)
    expect(occurrences(call?.text ?? '', FENCE)).toBe(1)
    expect(call?.body).toMatchObject({
      system: [{ text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ text: 'Hello' }, { text: 'there' }] },
        { role: 'assistant', content: [{ text: 'Hi.' }] },
        { role: 'user', content: expect.any(Array) },
      ],
      inferenceConfig: { maxTokens: 50, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
    })
    expect(call?.text).toContain(`{"image":{"format":"png","source":{"bytes":"${PIXEL}"}}}`)
  })

  it.each([Number.POSITIVE_INFINITY, 1, 7])(
    '[PV16.3] the event stream becomes a stream of the chat API, however it is cut: %d',
    async (slice) => {
      const { bedrock, client } = await setUp()
      bedrock.queue({ events: STREAM, slice })
      const asked = { ...ask, stream: true as const, stream_options: { include_usage: true } }
      const chunks: OpenAI.ChatCompletionChunk[] = []
      for await (const chunk of await client.chat.completions.create(asked)) chunks.push(chunk)
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(
        'Jasmine 茉莉.',
      )
      expect(chunks.map(({ choices }) => choices[0]?.finish_reason ?? null)).toContain('stop')
      expect(chunks.at(-1)).toMatchObject({
        choices: [],
        usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
      })
      expect(bedrock.calls[0]?.path).toMatch(/\/converse-stream$/)
    },
  )

  it('[PV16.1] tools, calls and results are translated in both directions', async () => {
    const { bedrock, client } = await setUp()
    const toolUse = { toolUseId: 'call_1', name: 'weather', input: { city: 'Fuzhou' } }
    bedrock.queue({
      json: {
        ...ANSWER,
        output: { message: { role: 'assistant', content: [{ text: 'Let me see.' }, { toolUse }] } },
        stopReason: 'tool_use',
      },
    })
    const tools = [WEATHER]
    const first = await client.chat.completions.create({ ...ask, tools, tool_choice: 'required' })
    const [choice] = first.choices
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me see.',
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'weather', arguments: '{"city":"Fuzhou"}' },
          },
        ],
      },
    })
    expect(bedrock.calls[0]?.body.toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'weather',
            description: 'Tells the weather.',
            inputSchema: { json: WEATHER.function.parameters },
          },
        },
      ],
      toolChoice: { any: {} },
    })
    bedrock.queue({ json: ANSWER })
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      ...ask.messages,
      ...(choice === undefined ? [] : [choice.message]),
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
    ]
    await client.chat.completions.create({ ...ask, tools, messages })
    expect(bedrock.calls[1]?.body.messages).toEqual([
      { role: 'user', content: [{ text: QUESTION }] },
      { role: 'assistant', content: [{ text: 'Let me see.' }, { toolUse }] },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: 'call_1', content: [{ text: 'Sunny' }] } }],
      },
    ])
  })

  it('[PV16.3] streamed calls of tools have their own indexes', async () => {
    const { bedrock, client } = await setUp()
    const start = (contentBlockIndex: number, toolUseId: string): BedrockEvent => [
      'contentBlockStart',
      { contentBlockIndex, start: { toolUse: { toolUseId, name: 'weather' } } },
    ]
    const input = (contentBlockIndex: number, text: string): BedrockEvent => [
      'contentBlockDelta',
      { contentBlockIndex, delta: { toolUse: { input: text } } },
    ]
    bedrock.queue({
      events: [
        ...STREAM.slice(0, 4),
        ...[start(1, 'call_1'), input(1, '{"city":'), input(1, '"Fuzhou"}')],
        ...[start(2, 'call_2'), input(2, '{}')],
        ['messageStop', { stopReason: 'tool_use' }],
      ],
    })
    const runner = client.chat.completions.stream({ ...ask, tools: [WEATHER] })
    const { choices } = await runner.finalChatCompletion()
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        tool_calls: [
          { id: 'call_1', function: { name: 'weather', arguments: '{"city":"Fuzhou"}' } },
          { id: 'call_2', function: { name: 'weather', arguments: '{}' } },
        ],
      },
    })
  })

  it.each([true, false])('[PV16.1] the memory tools work; streamed: %s', async (stream) => {
    const { bedrock, client } = await setUp('memory on', { 'gateway.memoryToolsEnabled': true })
    const tools = () => JSON.stringify(bedrock.calls[0]?.body.toolConfig ?? {})
    const name = 'memory_search'
    const toolUse = { toolUseId: 'call_1', name, input: { query: 'tea' } }
    bedrock.queue(
      stream
        ? {
            events: [
              ['messageStart', { role: 'assistant' }],
              [
                'contentBlockStart',
                { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'call_1', name } } },
              ],
              [
                'contentBlockDelta',
                { contentBlockIndex: 0, delta: { toolUse: { input: '{"query":"tea"}' } } },
              ],
              ['messageStop', { stopReason: 'tool_use' }],
            ],
          }
        : {
            json: {
              ...ANSWER,
              output: { message: { role: 'assistant', content: [{ toolUse }] } },
              stopReason: 'tool_use',
            },
          },
      stream ? { events: STREAM } : { json: ANSWER },
    )
    let text = ''
    if (stream) {
      for await (const chunk of await client.chat.completions.create({ ...ask, stream })) {
        text += chunk.choices[0]?.delta.content ?? ''
      }
    } else {
      text = (await client.chat.completions.create(ask)).choices[0]?.message.content ?? ''
    }
    expect(tools()).toContain(name)
    expect(text).toMatch(/^Jasmine/)
    expect(JSON.stringify(bedrock.calls[1]?.body.messages)).toContain('"toolResult"')
  })
})

describe('failures', () => {
  it('[PV16.4] errors keep their status and name', async () => {
    const { bedrock, client } = await setUp()
    bedrock.queue({
      ...{ status: 429, errorType: 'ThrottlingException:http://internal.amazon.com/' },
      json: { message: 'Too many tokens.' },
    })
    await expect(client.chat.completions.create(ask)).rejects.toMatchObject({
      ...{ status: 429, code: 'ThrottlingException' },
      message: expect.stringContaining('Too many tokens.'),
    })
  })

  it('[PV16.4] an exception in the stream reaches the client as an error', async () => {
    const { bedrock, client } = await setUp()
    bedrock.queue({
      events: [
        ...STREAM.slice(0, 2),
        ['throttlingException', { message: 'Too many tokens.' }, 'exception'],
      ],
    })
    const read = async () => {
      for await (const _ of await client.chat.completions.create({ ...ask, stream: true }));
    }
    await expect(read()).rejects.toThrow('Too many tokens.')
  })

  it.each([
    ['within a message', { events: STREAM, cut: 3 }],
    ['between two messages', { events: STREAM.slice(0, 3) }],
  ])('[PV16.4] a stream that breaks off %s does not look complete', async (_, answer) => {
    const { bedrock, client } = await setUp()
    bedrock.queue(answer)
    const read = async () => {
      for await (const _chunk of await client.chat.completions.create({ ...ask, stream: true }));
    }
    await expect(read()).rejects.toThrow()
  })

  it.each<[string, object]>([
    ['n', { n: 2 }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['logprobs', { logprobs: true }],
    ['tools', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    [
      'messages.content.image_url',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
          },
        ],
      },
    ],
  ])('[PV16.5] what Converse has no form for is refused by name: %s', async (param, more) => {
    const { bedrock, client } = await setUp()
    await expect(client.chat.completions.create({ ...ask, ...more })).rejects.toMatchObject({
      ...{ status: 400, param },
    })
    expect(bedrock.calls).toEqual([])
  })

  it('[PV16.5] other APIs are refused', async () => {
    const { client, bedrock } = await setUp()
    await expect(
      client.responses.create({ model: `aws/${MODEL}`, input: 'Hi' }),
    ).rejects.toMatchObject({ status: 404 })
    expect(bedrock.calls).toEqual([])
  })

  it('[PV16.3] damaged messages are noticed', async () => {
    const read = async (bytes: Buffer) => {
      const names: (string | undefined)[] = []
      const chunks = (async function* () {
        yield bytes
      })()
      for await (const { headers } of decodeEventStream(chunks)) names.push(headers[':event-type'])
      return names
    }
    const good = Buffer.concat(STREAM.map(encodeEvent))
    expect(await read(good)).toEqual(STREAM.map(([name]) => name))
    for (const at of [0, 5, 9, 20, good.length - 10, good.length - 1]) {
      const bad = Buffer.from(good)
      bad[at] = (bad[at] ?? 0) ^ 1
      await expect(read(bad)).rejects.toThrow('is damaged')
    }
    expect(await read(encodeMessage([], Buffer.alloc(0)))).toEqual([undefined])
  })
})

describe('configuration', () => {
  const read = (entry: object, environment: Record<string, string> = {}) => {
    const path = temporaryFile('providers.json')
    const providers = { aws: { kind: 'bedrock', ...entry } }
    writeFileSync(path, JSON.stringify({ providers }), { mode: 0o600 })
    return readProviders({ path, isNamed: true, environment }).providers.find(
      ({ name }) => name === 'aws',
    )
  }
  const AWS = {
    ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'id' },
    ...{ AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token' },
  }

  it('[PV16.6] the usual variables are used where the file names nothing', () => {
    expect(read({}, AWS)).toMatchObject({
      baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
      key: null,
      aws: {
        region: 'us-east-1',
        credentials: { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' },
      },
    })
    expect(read({ region: REGION, ...CREDENTIALS }, AWS)).toMatchObject({
      aws: { region: REGION, credentials: CREDENTIALS },
    })
    expect(read({}, { ...AWS, AWS_BEARER_TOKEN_BEDROCK: 'bearer' })).toMatchObject({
      key: 'bearer',
      aws: { region: 'us-east-1', credentials: null },
    })
  })

  it.each([
    [{}, {}, '"region" of the provider aws is required'],
    [
      { region: REGION },
      {},
      '"accessKeyId" of the provider aws and "secretAccessKey" are required',
    ],
    [{ region: REGION, accessKeyId: 'x' }, {}, '"secretAccessKey" of the provider aws'],
    [{ region: 'evil.example/' }, AWS, 'must be the name of a region'],
    [{ kind: 'openai', region: REGION }, {}, 'is for providers of kind "bedrock" only'],
  ])('[PV16.6] what is missing or too much is named: %j', (entry, environment, message) => {
    expect(() => read(entry, environment)).toThrow(message)
  })
})
