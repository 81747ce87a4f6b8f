/** The demo, asked by the real clients over HTTP. */
import { Readable } from 'node:stream'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, streamText } from 'ai'
import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { FENCE_CLOSE, FENCE_OPEN } from '../../../src/domain/context-block.ts'
import type { Provider } from '../../../src/models/provider.ts'
import { createUpstream } from '../../../src/models/providers/provider-upstream.ts'
import { cleanUpAfterEach, provider, request, serve, textOf } from './upstream-support.ts'

cleanUpAfterEach()

const demo: Provider = provider('', { name: 'demo', kind: 'demo', supportsTools: false })
const BLOCK = [
  FENCE_OPEN,
  '- I prefer tea (2026-03-01)',
  '- We use pnpm (2026-02-11)',
  FENCE_CLOSE,
].join('\n')
const QUOTED = '> - I prefer tea (2026-03-01)\n> - We use pnpm (2026-02-11)'
const LABEL = "Recollect's built-in demo, not a real model"

let openai: OpenAI
let anthropic: Anthropic
let url: string

beforeEach(async () => {
  const upstream = createUpstream()
  const server = await serve(async (incoming, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { status, headers, body } = await upstream.send({
      provider: demo,
      method: incoming.method ?? 'GET',
      path: (incoming.url ?? '').replace(/^\/v1/, ''),
      headers: [],
      body: Buffer.concat(chunks),
      signal: new AbortController().signal,
    })
    response.writeHead(status, headers.flat())
    Readable.from(body).pipe(response)
  })
  url = server.url
  const shared = { apiKey: 'none', maxRetries: 0 }
  openai = new OpenAI({ ...shared, baseURL: url })
  anthropic = new Anthropic({ ...shared, baseURL: url.replace(/\/v1$/, '') })
})

const said = `What do I drink?\n\n${BLOCK}`

describe('with the OpenAI client', () => {
  it('[PV14] answers a chat: what it is, the memories, the words', async () => {
    const answer = await openai.chat.completions.create({
      model: 'echo',
      messages: [{ role: 'user', content: said }],
    })
    const [choice] = answer.choices
    expect(choice?.message.role).toBe('assistant')
    expect(choice?.message.content).toContain(LABEL)
    expect(choice?.message.content).toContain(QUOTED)
    expect(choice?.message.content).toContain('You said: “What do I drink?”')
    expect(choice?.finish_reason).toBe('stop')
    expect(answer).toMatchObject({ object: 'chat.completion', model: 'echo' })
    expect(answer.usage?.total_tokens).toBe(
      (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0),
    )
  })

  it('[PV14] streams the same text, with usage on request', async () => {
    const query = { model: 'echo', messages: [{ role: 'user' as const, content: said }] }
    const whole = await openai.chat.completions.create(query)
    const stream = openai.chat.completions.stream({
      ...query,
      stream_options: { include_usage: true },
    })
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content)
    expect(final.choices[0]?.finish_reason).toBe('stop')
    expect(final.usage).toEqual(whole.usage)
    const plain = await openai.chat.completions.create({ ...query, stream: true })
    const chunks = await listOf(plain)
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
    expect(chunks.length).toBeGreaterThan(10)
  })

  it('[PV14] finds memories in system messages and in messages of their own, and says when there are none', async () => {
    const answers = await Promise.all(
      [
        [
          { role: 'system', content: `${BLOCK}\n\nBe kind.` },
          { role: 'user', content: 'Hi' },
        ],
        [
          { role: 'user', content: BLOCK },
          { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        ],
        [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Hi' },
              { type: 'text', text: BLOCK },
            ],
          },
        ],
        [{ role: 'user', content: 'Hi' }],
      ].map(async (messages) => {
        const body = { model: 'echo', messages } as OpenAI.ChatCompletionCreateParamsNonStreaming
        return (await openai.chat.completions.create(body)).choices[0]?.message.content
      }),
    )
    for (const answer of answers) expect(answer).toContain('You said: “Hi”')
    for (const answer of answers.slice(0, 3)) expect(answer).toContain(QUOTED)
    expect(answers[3]).toContain('I was given no memories')
  })

  it('[PV14] answers the Responses API, whole and in its sequence of events', async () => {
    const whole = await openai.responses.create({ model: 'echo', input: said })
    expect(whole.output_text).toContain(QUOTED)
    expect(whole.status).toBe('completed')
    const stream = openai.responses.stream({
      model: 'echo',
      instructions: BLOCK,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'What do I drink?' }] }],
    })
    const events: { type: string; sequence_number: number }[] = []
    for await (const event of stream) events.push(event)
    const final = await stream.finalResponse()
    expect(final.output_text).toBe(whole.output_text)
    expect(final.usage?.output_tokens).toBe(whole.usage?.output_tokens)
    const names = events.map(({ type }) => type).filter((name, at, all) => name !== all[at - 1])
    expect(names).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
  })

  it('[PV14] keeps to the limit of an answer and says that it did', async () => {
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const chat = await openai.chat.completions.create({ model: 'echo', messages, max_tokens: 3 })
    expect(chat.choices[0]).toMatchObject({ finish_reason: 'length' })
    expect(chat.usage?.completion_tokens).toBe(3)
    const response = await openai.responses.create({
      model: 'x',
      input: 'Hi',
      max_output_tokens: 3,
    })
    expect(response.status).toBe('incomplete')
    expect(response.incomplete_details?.reason).toBe('max_output_tokens')
    const message = await anthropic.messages.create({ model: 'x', messages, max_tokens: 3 })
    expect(message.stop_reason).toBe('max_tokens')
  })

  it('[PV14] lists its model, and refuses as the API does', async () => {
    const models = await listOf(openai.models.list())
    expect(models.map(({ id }) => id)).toEqual(['echo'])
    const empty = openai.chat.completions.create({ model: 'echo', messages: [] })
    await expect(empty).rejects.toMatchObject({ status: 400, param: 'messages' })
    await expect(openai.embeddings.create({ model: 'x', input: 'y' })).rejects.toMatchObject({
      status: 404,
    })
  })
})

describe('with the Anthropic client', () => {
  const query = { model: 'echo', max_tokens: 1_000 }

  it('[PV14] answers, whole and as a stream, with the same words', async () => {
    const messages = [{ role: 'user' as const, content: said }]
    const whole = await anthropic.messages.create({ ...query, messages })
    const [block] = whole.content
    const text = block?.type === 'text' ? block.text : ''
    expect(text).toContain(LABEL)
    expect(text).toContain(QUOTED)
    expect(whole.stop_reason).toBe('end_turn')
    const stream = anthropic.messages.stream({ ...query, messages })
    const final = await stream.finalMessage()
    expect(await stream.finalText()).toBe(text)
    expect(final.stop_reason).toBe('end_turn')
    expect(final.usage).toMatchObject({
      input_tokens: whole.usage.input_tokens,
      output_tokens: whole.usage.output_tokens,
    })
  })

  it('[PV14] finds memories in the system field, and passes over tool results', async () => {
    const whole = await anthropic.messages.create({
      ...query,
      system: [
        { type: 'text', text: 'Be kind.' },
        { type: 'text', text: BLOCK },
      ],
      messages: [
        { role: 'user', content: 'Look it up' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'find', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'found' }] },
      ],
    })
    expect(JSON.stringify(whole.content)).toContain('I prefer tea')
    expect(JSON.stringify(whole.content)).toContain('“Look it up”')
  })

  it('[PV14] refuses as the API does', async () => {
    const wrong = anthropic.messages.create({ ...query, max_tokens: 0, messages: [] })
    await expect(wrong).rejects.toMatchObject({
      status: 400,
      error: { type: 'error', error: { type: 'invalid_request_error' } },
    })
    const unknown = anthropic.post('/v1/messages/batches', { body: {} })
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      error: { type: 'error', error: { type: 'not_found_error' } },
    })
  })

  it('[PV14] counts the tokens that it says an answer took', async () => {
    const messages = [{ role: 'user' as const, content: said }]
    const counted = await anthropic.messages.countTokens({ model: 'echo', messages })
    const { usage } = await anthropic.messages.create({ ...query, messages })
    expect(counted).toEqual({ input_tokens: usage.input_tokens })
    const wrong = anthropic.messages.countTokens({ model: 'echo', messages: [] })
    await expect(wrong).rejects.toBeInstanceOf(Anthropic.BadRequestError)
  })
})

it('[PV14] suits the AI SDK, in all formats', async () => {
  const openaiModels = createOpenAI({ baseURL: url, apiKey: 'none' })
  const anthropicModels = createAnthropic({ baseURL: url, apiKey: 'none' })
  for (const model of [
    openaiModels.chat('echo'),
    openaiModels.responses('echo'),
    anthropicModels('echo'),
  ]) {
    expect((await generateText({ model, prompt: said })).text).toContain(QUOTED)
    const streamed = streamText({ model, prompt: said })
    expect(await streamed.text).toContain(QUOTED)
    expect(await streamed.finishReason).toBe('stop')
  }
})

it('[PV14] says the same to the same request, but for the id and the time', async () => {
  const upstream = createUpstream({ newId: () => 'fixed', now: () => 0 })
  const body = Buffer.from(JSON.stringify({ model: 'echo', stream: true, input: said }))
  const send = async (sender: typeof upstream) =>
    textOf(await sender.send(request(demo, { path: '/responses', body })))
  expect(await send(upstream)).toBe(await send(upstream))
  const ids = await Promise.all([send(createUpstream()), send(createUpstream())])
  expect(ids[0]).not.toBe(ids[1])
})

it('[PV14] stops when the client leaves', async () => {
  const leaving = new AbortController()
  const body = Buffer.from(JSON.stringify({ model: 'echo', stream: true, input: said }))
  const pending = request(demo, { path: '/responses', body, signal: leaving.signal })
  const response = await createUpstream().send(pending)
  leaving.abort()
  await expect(textOf(response)).rejects.toMatchObject({ code: 'cancelled' })
})

it('[PV14] shortens long words and survives odd ones', async () => {
  const upstream = createUpstream()
  for (const content of ['😀'.repeat(5_000), '\0', null, 7, [null, { text: 7 }], {}]) {
    const body = Buffer.from(
      JSON.stringify({ model: 'echo', messages: [{ role: 'user', content }] }),
    )
    const response = await upstream.send(request(demo, { body }))
    const text = await textOf(response)
    expect(response.status).toBe(200)
    expect(text.length).toBeLessThan(2_000)
    expect(text).not.toContain('\ufffd')
  }
  for (const body of [null, Buffer.from('{'), Buffer.from('[]'), Buffer.from([0xff])]) {
    expect((await upstream.send(request(demo, { body }))).status).toBe(400)
  }
})

async function listOf<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}
