/** Anthropic's client library, at the gateway as at Anthropic. */
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import {
  expectLeft,
  expectMemory,
  MODES,
  PIXEL,
  QUESTION,
  type Setup,
  setUp,
} from '../support/gateway-harness.ts'
import { speak } from '../support/wire-format.ts'

const ANSWER = 'Jasmine, of course: 茉莉花茶 ☕️'
const CALL = { id: 'toolu_1', name: 'weather', arguments: { city: 'Fuzhou – 福州' } }
const CACHED = { type: 'ephemeral' as const }
const SYSTEM = [{ type: 'text' as const, text: 'You are a barista.', cache_control: CACHED }]
const TOOLS: Anthropic.Tool[] = [
  {
    name: 'weather',
    description: 'Tells the weather of a city.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    cache_control: CACHED,
  },
]
const BODY = {
  model: 'claude-test',
  max_tokens: 200,
  system: SYSTEM,
  messages: [{ role: 'user' as const, content: QUESTION }],
}

/** Keys come as `x-api-key` and as a bearer token. */
function clientOf({ url, key }: Setup, how: 'key' | 'token' = 'key'): Anthropic {
  const credentials =
    how === 'key' ? { apiKey: key, authToken: null } : { apiKey: null, authToken: key }
  return new Anthropic({ baseURL: url, maxRetries: 0, ...credentials })
}

describe.each(MODES)('@anthropic-ai/sdk, %s', (mode) => {
  it.each(['key', 'token'] as const)('[GW1] answers in one piece, asked with a %s', async (how) => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) => speak(request, { text: ANSWER }))
    const { data, response, request_id } = await clientOf(setup, how)
      .messages.create(BODY)
      .withResponse()
    expect(data.content).toMatchObject([{ type: 'text', text: ANSWER }])
    expect(data.usage.output_tokens).toBe(17)
    expect(request_id).toBe('req_011CMemoryTests')
    expect(response.headers.get('anthropic-ratelimit-requests-remaining')).toBe('3999')
    const received = setup.upstream.last()
    expect(received.body).toMatchObject({ system: SYSTEM })
    expect(received.headers['anthropic-version']).toMatch(/^\d{4}-\d\d-\d\d$/)
    if (mode !== 'direct') expectMemory(setup, received, response.headers)
  })

  it('[GW1] takes system messages between others, and any version of the API', async () => {
    const setup = await setUp(mode)
    const said: Anthropic.MessageParam[] = [
      { role: 'user', content: 'Good morning' },
      { role: 'assistant', content: 'Good morning!' },
      { role: 'system', content: 'The shop closes in five minutes.' },
      { role: 'user', content: QUESTION },
    ]
    const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a-2026-01-01,b' }
    await clientOf(setup).messages.create({ ...BODY, messages: said }, { headers })
    const received = setup.upstream.last()
    expect(received.headers).toMatchObject(headers)
    expect(received.body.messages.slice(0, 3)).toEqual(said.slice(0, 3))
    expectMemory(setup, received)
  })

  it('[GW1] streams', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) => speak(request, { text: ANSWER, cutSeed: 3 }))
    const stream = clientOf(setup).messages.stream(BODY)
    const deltas: string[] = []
    stream.on('text', (delta) => deltas.push(delta))
    const { data, response } = await stream.withResponse()
    const final = await data.finalMessage()
    expect(deltas.join('')).toBe(ANSWER)
    expect(final.usage).toMatchObject({ input_tokens: 31, output_tokens: 17 })
    expectMemory(setup, setup.upstream.last(), response.headers)
  })

  it.each([false, true])('[GW1] lets the client answer tools, streaming: %s', async (streams) => {
    const setup = await setUp(mode)
    const { upstream } = setup
    upstream.queue(
      (request) => speak(request, { text: 'Let me look.', toolCalls: [CALL] }),
      (request) => speak(request, { text: ANSWER }),
    )
    const { messages } = clientOf(setup)
    const ask = (said: Anthropic.MessageParam[]) => {
      const body = { ...BODY, tools: TOOLS, messages: said }
      return streams ? messages.stream(body).finalMessage() : messages.create(body)
    }
    const first = await ask(BODY.messages)
    expect(first.stop_reason).toBe('tool_use')
    const call = first.content.find((block) => block.type === 'tool_use')
    expect(call?.input).toEqual(CALL.arguments)
    const result = {
      role: 'user' as const,
      content: [{ type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'Rain, 17 °C' }],
    }
    const final = await ask([
      ...BODY.messages,
      { role: 'assistant', content: first.content },
      result,
    ])
    expect(final.content).toMatchObject([{ type: 'text', text: ANSWER }])
    const [before, after] = upstream.requests.map(({ body }) => body)
    expect(after.tools).toEqual(TOOLS)
    expect(after.messages[0]).toEqual(before.messages[0])
    expect(after.messages.at(-1)).toEqual(result)
    for (const request of upstream.requests) expectMemory(setup, request)
  })

  it('[GW1] passes images on', async () => {
    const setup = await setUp(mode)
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL }
    const content = [
      { type: 'image' as const, source },
      { type: 'text' as const, text: QUESTION, cache_control: CACHED },
    ]
    await clientOf(setup).messages.create({ ...BODY, messages: [{ role: 'user', content }] })
    const received = setup.upstream.last()
    expect(received.body.messages[0].content.slice(0, 2)).toEqual(content)
    expectMemory(setup, received)
  })

  it('[GW6] stops upstream when it leaves before the answer begins', async () => {
    const setup = await setUp(mode)
    await expectLeft(setup, (signal) => clientOf(setup).messages.create(BODY, { signal }))
  })

  it('[GW6] stops upstream when it leaves', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) =>
      speak(request, { text: ANSWER, trouble: { after: 900, what: 'hang' } }),
    )
    const stream = clientOf(setup).messages.stream(BODY)
    stream.on('text', () => stream.abort())
    await expect(stream.finalMessage()).rejects.toThrow(Anthropic.APIUserAbortError)
    expect(await setup.upstream.last().ended).toBe('left')
    expect(setup.upstream.last().sent()).toBe(900)
  })

  it('[GW2] lists models', async () => {
    const setup = await setUp(mode)
    const listed: string[] = []
    for await (const { id } of clientOf(setup).models.list()) listed.push(id)
    expect(listed.some((id) => id.endsWith('claude-test'))).toBe(true)
  })
})
