/** What any version of OpenAI's client library must find at the gateway. */
import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import {
  expectLeft,
  expectMemory,
  FENCE,
  MODES,
  PIXEL,
  QUESTION,
  type Setup,
  setUp,
} from '../support/gateway-harness.ts'
import { speak } from '../support/wire-format.ts'

export type OpenAiClass = typeof OpenAI

const WEATHER = {
  name: 'weather',
  description: 'Tells the weather of a city.',
  parameters: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
    additionalProperties: false,
  },
}
const CALL = { id: 'call_1', name: 'weather', arguments: { city: 'Fuzhou – 福州' } }
const ANSWER = 'Jasmine, of course: 茉莉花茶 ☕️'
const SYSTEM = 'You are a helpful barista.'

export function describeOpenAi(name: string, Client: OpenAiClass): void {
  const clientOf = ({ baseUrl, key }: Setup) =>
    new Client({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })

  describe.each(MODES)(`${name}, chat completions, %s`, (mode) => {
    const messages = [
      { role: 'system' as const, content: SYSTEM },
      { role: 'user' as const, content: QUESTION },
    ]

    it('[GW1] answers in one piece', async () => {
      const setup = await setUp(mode)
      setup.upstream.queue((request) => speak(request, { text: ANSWER }))
      const {
        data,
        response,
        request_id: requestId,
      } = await clientOf(setup)
        .chat.completions.create({ model: 'gpt-test', messages, seed: 7 })
        .withResponse()
      expect(data.choices[0]?.message.content).toBe(ANSWER)
      expect(data.usage?.total_tokens).toBe(48)
      expect(requestId).toBe('req_7d1f0c5e9b')
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('4999')
      const received = setup.upstream.last()
      expect(received.body).toMatchObject({ model: 'gpt-test', seed: 7 })
      expect(received.body.messages[0]).toEqual(messages[0])
      expect(received.body.messages[1].content.startsWith(QUESTION)).toBe(true)
      expectMemory(setup, received, response.headers)
    })

    it('[GW1] streams, with usage at the end', async () => {
      const setup = await setUp(mode)
      setup.upstream.queue((request) => speak(request, { text: ANSWER, cutSeed: 5 }))
      const { data, response } = await clientOf(setup)
        .chat.completions.create({
          model: 'gpt-test',
          messages,
          stream: true,
          stream_options: { include_usage: true },
        })
        .withResponse()
      let text = ''
      let tokens = 0
      for await (const chunk of data) {
        text += chunk.choices[0]?.delta.content ?? ''
        tokens = chunk.usage?.total_tokens ?? tokens
      }
      expect(text).toBe(ANSWER)
      expect(tokens).toBe(48)
      expectMemory(setup, setup.upstream.last(), response.headers)
    })

    it.each([false, true])('[GW1] lets the client answer tools, streaming: %s', async (streams) => {
      const setup = await setUp(mode)
      const { upstream } = setup
      upstream.queue(
        (request) => speak(request, { toolCalls: [CALL, { ...CALL, id: 'call_2' }] }),
        (request) => speak(request, { text: ANSWER }),
      )
      const asked: unknown[] = []
      const weather = {
        type: 'function' as const,
        function: {
          ...WEATHER,
          parse: (text: string) => JSON.parse(text) as object, // what the model wrote
          function: (args: unknown) => {
            asked.push(args)
            return 'Rain, 17 °C'
          },
        },
      }
      const { completions } = clientOf(setup).chat
      const body = { model: 'gpt-test', messages, tools: [weather] }
      const runner = streams
        ? completions.runTools({ ...body, stream: true })
        : completions.runTools(body)
      expect(await runner.finalContent()).toBe(ANSWER)
      expect(asked).toEqual([CALL.arguments, CALL.arguments])
      expect(upstream.requests).toHaveLength(2)
      const [first, second] = upstream.requests.map((request) => request.body.messages)
      expect(second.slice(0, first.length)).toEqual(first)
      expect(second.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_2' })
      for (const request of upstream.requests) expectMemory(setup, request)
    })

    it('[GW1] passes images on', async () => {
      const setup = await setUp(mode)
      const content = [
        { type: 'text' as const, text: QUESTION },
        { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } },
      ]
      await clientOf(setup).chat.completions.create({
        model: 'gpt-test',
        messages: [{ role: 'user', content }],
      })
      const received = setup.upstream.last()
      expect(received.body.messages[0].content.slice(0, 2)).toEqual(content)
      expectMemory(setup, received)
    })

    it('[GW6] stops upstream when it leaves', async () => {
      const setup = await setUp(mode)
      setup.upstream.queue((request) =>
        speak(request, { text: ANSWER, trouble: { after: 700, what: 'hang' } }),
      )
      const stream = await clientOf(setup).chat.completions.create({
        model: 'gpt-test',
        messages,
        stream: true,
      })
      for await (const chunk of stream) {
        if (chunk.choices[0]?.delta.content) break
      }
      expect(await setup.upstream.last().ended).toBe('left')
      expect(setup.upstream.last().sent()).toBe(700)
    })

    it('[GW6] stops upstream when it leaves before the answer begins', async () => {
      const setup = await setUp(mode)
      const { chat } = clientOf(setup)
      const asked = { model: 'gpt-test', messages }
      await expectLeft(setup, (signal) => chat.completions.create(asked, { signal }))
    })
  })

  describe.each(MODES)(`${name}, Responses, %s`, (mode) => {
    it('[GW1] answers in one piece', async () => {
      const setup = await setUp(mode)
      setup.upstream.queue((request) => speak(request, { text: ANSWER }))
      const { data, response } = await clientOf(setup)
        .responses.create({ model: 'gpt-test', instructions: SYSTEM, input: QUESTION })
        .withResponse()
      expect(data.output_text).toBe(ANSWER)
      const received = setup.upstream.last()
      expect(received.body.instructions).toBe(SYSTEM)
      expect(received.body.input.startsWith(QUESTION)).toBe(true)
      expectMemory(setup, received, response.headers)
    })

    it('[GW1] streams', async () => {
      const setup = await setUp(mode)
      setup.upstream.queue((request) =>
        speak(request, { text: ANSWER, cutSeed: 11, lineEnd: '\r\n' }),
      )
      const stream = clientOf(setup).responses.stream({
        model: 'gpt-test',
        input: [{ role: 'user', content: QUESTION }],
      })
      const deltas: string[] = []
      stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta))
      const final = await stream.finalResponse()
      expect(deltas.join('')).toBe(ANSWER)
      expect(final.output_text).toBe(ANSWER)
      expect(final.usage?.total_tokens).toBe(48)
      expectMemory(setup, setup.upstream.last())
    })

    it.each([false, true])('[GW1] lets the client answer tools, streaming: %s', async (streams) => {
      const setup = await setUp(mode)
      const { upstream } = setup
      upstream.queue(
        (request) => speak(request, { toolCalls: [CALL] }),
        (request) => speak(request, { text: ANSWER }),
      )
      const { responses } = clientOf(setup)
      const tools = [{ type: 'function' as const, strict: true, ...WEATHER }]
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: QUESTION }]
      const ask = (items: OpenAI.Responses.ResponseInput) => {
        const body = { model: 'gpt-test', tools, input: items }
        return streams ? responses.stream(body).finalResponse() : responses.create(body)
      }
      const first = await ask(input)
      const [call] = first.output
      if (call?.type !== 'function_call') throw new Error('The model called no tool.')
      expect(JSON.parse(call.arguments)).toEqual(CALL.arguments)
      const output = { type: 'function_call_output' as const, call_id: 'call_1', output: 'Rain' }
      const second = await ask([...input, call, output])
      expect(second.output_text).toBe(ANSWER)
      expect(upstream.requests[1]?.body.input[0]).toEqual(upstream.requests[0]?.body.input[0])
      expect(upstream.requests[1]?.body.input.at(-1)).toEqual(output)
      for (const request of upstream.requests) expectMemory(setup, request)
    })

    it('[GW1] passes images and the former answer on', async () => {
      const setup = await setUp(mode)
      const content: OpenAI.Responses.ResponseInputMessageContentList = [
        { type: 'input_text', text: QUESTION },
        { type: 'input_image', detail: 'low', image_url: `data:image/png;base64,${PIXEL}` },
      ]
      const { responses } = clientOf(setup)
      const former = await responses.create({ model: 'gpt-test', input: 'Hello.' })
      const answer = await responses.create({
        model: 'gpt-test',
        previous_response_id: former.id,
        input: [{ role: 'user', content }],
      })
      expect(answer.previous_response_id).toBe(former.id)
      const received = setup.upstream.last()
      expect(received.body.previous_response_id).toBe(former.id)
      expect(received.body.input[0].content.slice(0, 2)).toEqual(content)
      expectMemory(setup, received)
    })

    it('[GW6] stops upstream when it leaves before the answer begins', async () => {
      const setup = await setUp(mode)
      const asked = { model: 'gpt-test', input: QUESTION }
      await expectLeft(setup, (signal) => clientOf(setup).responses.create(asked, { signal }))
    })

    it('[GW6] stops upstream when it leaves', async () => {
      const setup = await setUp(mode)
      setup.upstream.queue((request) =>
        speak(request, { text: ANSWER, trouble: { after: 3_000, what: 'hang' } }),
      )
      const leaving = new AbortController()
      const stream = await clientOf(setup).responses.create(
        { model: 'gpt-test', input: QUESTION, stream: true },
        { signal: leaving.signal },
      )
      for await (const event of stream) {
        if (event.type === 'response.in_progress') leaving.abort()
      }
      expect(await setup.upstream.last().ended).toBe('left')
    })
  })

  describe.each(MODES)(`${name}, models, %s`, (mode) => {
    it('[GW2] lists them', async () => {
      const setup = await setUp(mode)
      const listed: string[] = []
      for await (const { id } of clientOf(setup).models.list()) listed.push(id)
      expect(listed.some((id) => id.endsWith('gpt-test-mini'))).toBe(true)
      if (mode !== 'direct') expect(listed.some((id) => id.endsWith('claude-test'))).toBe(true)
      expect(listed.join()).not.toContain(FENCE)
    })
  })
}
