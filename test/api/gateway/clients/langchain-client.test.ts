/** LangChain's model for OpenAI, by both of OpenAI's APIs. */
import {
  type AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, it } from 'vitest'
import {
  expectLeft,
  expectMemory,
  listeningFetch,
  MODES,
  PIXEL,
  QUESTION,
  type Setup,
  setUp,
} from '../support/gateway-harness.ts'
import { speak } from '../support/wire-format.ts'

const ANSWER = 'Jasmine, of course: 茉莉花茶 ☕️'
const CALL = { id: 'call_1', name: 'weather', arguments: { city: 'Fuzhou – 福州' } }
const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Tells the weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}
const ASKED = [new SystemMessage('You are a barista.'), new HumanMessage(QUESTION)]
const CASES = MODES.flatMap((mode) => [
  ['chat completions', mode, false] as const,
  ['Responses', mode, true] as const,
])

describe.each(CASES)('@langchain/openai with %s, %s', (_, mode, useResponsesApi) => {
  const modelOf = ({ baseUrl: baseURL, key: apiKey }: Setup, fetching?: typeof fetch) =>
    new ChatOpenAI({
      model: 'gpt-test',
      apiKey,
      useResponsesApi,
      maxRetries: 0,
      configuration: { baseURL, ...(fetching === undefined ? {} : { fetch: fetching }) },
    })

  it('[GW1] answers in one piece', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) => speak(request, { text: ANSWER }))
    const listening = listeningFetch()
    const answer = await modelOf(setup, listening.fetch).invoke(ASKED)
    expect(answer.text).toBe(ANSWER)
    expect(answer.usage_metadata).toMatchObject({ total_tokens: 48 })
    expectMemory(setup, setup.upstream.last(), listening.headers())
  })

  it('[GW1] streams', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) => speak(request, { text: ANSWER, cutSeed: 2 }))
    const listening = listeningFetch()
    const deltas: string[] = []
    for await (const chunk of await modelOf(setup, listening.fetch).stream(ASKED)) {
      deltas.push(chunk.text)
    }
    expect(deltas.join('')).toBe(ANSWER)
    expect(deltas.length).toBeGreaterThan(1)
    expectMemory(setup, setup.upstream.last(), listening.headers())
  })

  it('[GW1] streams calls of tools', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) => speak(request, { toolCalls: [CALL], cutSeed: 4 }))
    const model = modelOf(setup).bindTools([WEATHER])
    let answer: AIMessageChunk | undefined
    for await (const chunk of await model.stream(ASKED)) answer = answer?.concat(chunk) ?? chunk
    expect(answer?.tool_calls).toMatchObject([{ name: 'weather', args: CALL.arguments }])
    expectMemory(setup, setup.upstream.last())
  })

  it('[GW1] lets the client answer tools', async () => {
    const setup = await setUp(mode)
    const { upstream } = setup
    upstream.queue(
      (request) => speak(request, { toolCalls: [CALL] }),
      (request) => speak(request, { text: ANSWER }),
    )
    const model = modelOf(setup).bindTools([WEATHER])
    const first = await model.invoke(ASKED)
    expect(first.tool_calls).toMatchObject([{ name: 'weather', args: CALL.arguments }])
    const result = new ToolMessage({ tool_call_id: 'call_1', content: 'Rain, 17 °C' })
    const final = await model.invoke([...ASKED, first, result])
    expect(final.text).toBe(ANSWER)
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.last().text).toContain('Rain, 17 °C')
    for (const request of upstream.requests) expectMemory(setup, request)
  })

  it('[GW1] passes images on', async () => {
    const setup = await setUp(mode)
    const content = [
      { type: 'text', text: QUESTION },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ]
    await modelOf(setup).invoke([new HumanMessage({ content })])
    expect(setup.upstream.last().text).toContain(PIXEL)
    expectMemory(setup, setup.upstream.last())
  })

  it('[GW6] stops upstream when it leaves before the answer begins', async () => {
    const setup = await setUp(mode)
    await expectLeft(setup, (signal) => modelOf(setup).invoke(ASKED, { signal }))
  })

  it('[GW6] stops upstream when it leaves', async () => {
    const setup = await setUp(mode)
    setup.upstream.queue((request) =>
      speak(request, { text: ANSWER.repeat(40), trouble: { after: 5_000, what: 'hang' } }),
    )
    const leaving = new AbortController()
    const stream = await modelOf(setup).stream(ASKED, { signal: leaving.signal })
    await expect(
      (async () => {
        for await (const chunk of stream) if (chunk.text !== '') leaving.abort()
      })(),
    ).rejects.toThrow()
    expect(await setup.upstream.last().ended).toBe('left')
  })
})
