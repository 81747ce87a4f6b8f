/** The AI SDK with its providers for OpenAI and Anthropic. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import {
  expectLeft,
  expectMemory,
  MODES,
  type Mode,
  PIXEL,
  QUESTION,
  type Setup,
  setUp,
} from '../support/gateway-harness.ts'
import { speak } from '../support/wire-format.ts'

const ANSWER = 'Jasmine, of course: 茉莉花茶 ☕️'
const CALL = { id: 'call_1', name: 'weather', arguments: { city: 'Fuzhou – 福州' } }
const system = 'You are a barista.'

const MODELS: Readonly<Record<string, (setup: Setup) => LanguageModel>> = {
  'OpenAI chat': ({ baseUrl: baseURL, key: apiKey }) =>
    createOpenAI({ baseURL, apiKey }).chat('gpt-test'),
  'OpenAI Responses': ({ baseUrl: baseURL, key: apiKey }) =>
    createOpenAI({ baseURL, apiKey }).responses('gpt-test'),
  Anthropic: ({ baseUrl: baseURL, key: apiKey }) =>
    createAnthropic({ baseURL, apiKey })('claude-sonnet-4-5'),
}

const CASES = Object.entries(MODELS).flatMap(([name, modelOf]) =>
  MODES.map((mode): [string, Mode, (setup: Setup) => LanguageModel] => [name, mode, modelOf]),
)

/** A tool that the client runs itself. */
function weatherTool(asked: unknown[]) {
  const inputSchema = jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  })
  return tool({
    description: 'Tells the weather of a city.',
    inputSchema,
    execute: async (input) => {
      asked.push(input)
      return 'Rain, 17 °C'
    },
  })
}

describe.each(CASES)('ai with %s, %s', (_, mode, modelOf) => {
  it('[GW1] answers in one piece', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) => speak(request, { text: ANSWER }))
    const result = await generateText({
      model: modelOf(setup),
      system,
      prompt: QUESTION,
      maxRetries: 0,
    })
    expect(result.text).toBe(ANSWER)
    expect(result.usage.outputTokens).toBe(17)
    expectMemory(setup, setup.upstream.last(), result.response.headers)
  })

  it('[GW1] streams', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) => speak(request, { text: ANSWER, cutSeed: 9, lineEnd: '\r\n' }))
    const result = streamText({ model: modelOf(setup), prompt: QUESTION, maxRetries: 0 })
    const deltas: string[] = []
    for await (const delta of result.textStream) deltas.push(delta)
    expect(deltas.join('')).toBe(ANSWER)
    expect(deltas.length).toBeGreaterThan(1)
    expect((await result.usage).outputTokens).toBe(17)
    expectMemory(setup, setup.upstream.last(), (await result.response).headers)
  })

  it.each([false, true])('[GW1] answers tools itself, streaming: %s', async (streams) => {
    const setup = await setUp(mode)
    const { upstream } = setup
    upstream.queue(
      (request) => speak(request, { toolCalls: [CALL] }),
      (request) => speak(request, { text: ANSWER }),
    )
    const asked: unknown[] = []
    const options = {
      model: modelOf(setup),
      prompt: QUESTION,
      tools: { weather: weatherTool(asked) },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    }
    const text = streams ? await streamText(options).text : (await generateText(options)).text
    expect(text).toBe(ANSWER)
    expect(asked).toEqual([CALL.arguments])
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.last().text).toContain('Rain, 17 °C')
    for (const request of upstream.requests) expectMemory(setup, request)
  })

  it('[GW1] passes images on', async () => {
    const setup = await setUp(mode)
    const content = [
      { type: 'text' as const, text: QUESTION },
      { type: 'image' as const, image: PIXEL, mediaType: 'image/png' },
    ]
    await generateText({
      model: modelOf(setup),
      messages: [{ role: 'user', content }],
      maxRetries: 0,
    })
    expect(setup.upstream.last().text).toContain(PIXEL)
    expectMemory(setup, setup.upstream.last())
  })

  it('[GW6] stops upstream when it leaves before the answer begins', async () => {
    const setup = await setUp(mode)
    const asked = { model: modelOf(setup), prompt: QUESTION, maxRetries: 0 }
    await expectLeft(setup, (abortSignal) => generateText({ ...asked, abortSignal }))
  })

  it('[GW6] stops upstream when it leaves', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) =>
      // Past the first words, in every format.
      speak(request, { text: ANSWER.repeat(40), trouble: { after: 5_000, what: 'hang' } }),
    )
    const leaving = new AbortController()
    const result = streamText({
      model: modelOf(setup),
      prompt: QUESTION,
      maxRetries: 0,
      abortSignal: leaving.signal,
      onError: () => {},
    })
    for await (const _ of result.textStream) leaving.abort()
    expect(await setup.upstream.last().ended).toBe('left')
  })
})
