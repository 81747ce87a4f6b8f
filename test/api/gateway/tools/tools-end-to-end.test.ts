/** Memory tools from end to end: a client, the gateway over HTTP, a real engine, and a provider by script. */
import OpenAI from 'openai'
import { expect, it } from 'vitest'
import { askFor } from '../support/client-conversation.ts'
import { MEMORY_HEADER, OWNER, QUESTION, setUpGateway } from '../support/gateway-harness.ts'
import { PATHS, speak } from '../support/wire-format.ts'
import { callsIn, search, toolNames, WAYS, weather } from './tool-support.ts'

const settings = { 'gateway.memoryToolsEnabled': true }
const FINAL = { text: 'Jasmine, of course.' }

it.each(WAYS)('[MT2] $way: a model looks something up and answers', async ({ format, streams }) => {
  const { upstream, url, key, engine } = await setUpGateway('memory on', { settings })
  upstream.queue(
    (request) => speak(request, { toolCalls: [search('favourite tea')], cutSeed: 7 }),
    (request) => speak(request, { ...FINAL, cutSeed: 8 }),
  )
  const asked = [{ role: 'user', content: QUESTION }]
  const response = await fetch(url + PATHS[format], {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      max_tokens: 9,
      stream: streams,
      messages: asked,
      input: asked,
    }),
  })
  const body = await response.text()
  expect(response.status).toBe(200)
  expect(body).not.toContain('memory_')
  const [first, second] = upstream.requests
  expect(toolNames(first?.body)).toContain('memory_search')
  const [call, result] = callsIn(format, second?.body)
  expect(call).toBe('call call_m1')
  expect(result).toContain('My favourite tea is jasmine from Fuzhou')
  await engine.conversations.flush()
  const { rows } = await engine.conversations.receipts.list({ owner: OWNER })
  const memories = (await engine.list({ owner: OWNER })).rows.map(({ id }) => id)
  expect(rows).toMatchObject([
    {
      toolCalls: ['memory_search'],
      memoryToolResults: { found: memories, saved: [] },
      status: 200,
    },
  ])
})

it.each(WAYS)('[MT9] $way: a model that takes no tools is asked without', async (way) => {
  const { format, streams } = way
  const { upstream, url, key } = await setUpGateway('memory on', { settings })
  const refusal = { error: { message: 'gemma3 does not support tools', type: 'api_error' } }
  const asked = [{ role: 'user', content: QUESTION }]
  const ask = () =>
    askFor({ url, key }, PATHS[format], {
      ...{ model: 'm', max_tokens: 9, stream: streams, messages: asked, input: asked },
    })
  upstream.queue({ status: 400, body: JSON.stringify(refusal) })
  for (let time = 0; time < 2; time++) {
    const response = await ask()
    expect(response.status).toBe(200)
    expect(response.headers.get(MEMORY_HEADER)).toMatch(/^injected; .*; tools=refused$/)
    await response.arrayBuffer()
  }
  // The second time it is known.
  const offered = upstream.requests.map(({ body }) => toolNames(body).length > 0)
  expect(offered).toEqual([true, false, false])
})

it('[MT9] what is refused for other reasons, or without tools as well, is no matter of tools', async () => {
  const { upstream, url, key } = await setUpGateway('memory on', { settings })
  const body = { model: 'm', messages: [{ role: 'user', content: QUESTION }] }
  const ask = () => askFor({ url, key }, PATHS.chat, body)
  const refuse = (message: string) => ({
    status: 400,
    body: JSON.stringify({ error: { message } }),
  })
  upstream.queue(refuse('max_tokens is too large'))
  expect((await ask()).status).toBe(400)
  expect(upstream.requests).toHaveLength(1)
  upstream.queue(refuse('no function today'), refuse('no function today'))
  expect((await ask()).status).toBe(400)
  expect((await ask()).status).toBe(200)
  expect(toolNames(upstream.last().body)).toContain('memory_search')
})

it.each([false, true])(
  '[MT5] a client runs its own tools beside, streaming: %s',
  async (streams) => {
    const { upstream, baseUrl, key } = await setUpGateway('memory on', { settings })
    upstream.queue(
      (request) => speak(request, { toolCalls: [search('tea'), weather('Oslo')] }),
      (request) => speak(request, FINAL),
    )
    const asked: unknown[] = []
    const tool = {
      type: 'function' as const,
      function: {
        name: 'get_weather',
        description: 'The weather',
        parameters: { type: 'object', properties: {} },
        parse: (text: string) => JSON.parse(text) as object, // what the model wrote
        function: (given: unknown) => {
          asked.push(given)
          return 'Rain'
        },
      },
    }
    const { completions } = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 }).chat
    const body = {
      model: 'gpt-test',
      messages: [{ role: 'user' as const, content: QUESTION }],
      tools: [tool],
    }
    const runner = streams
      ? completions.runTools({ ...body, stream: true })
      : completions.runTools(body)
    expect(await runner.finalContent()).toBe(FINAL.text)
    expect(asked).toEqual([{ city: 'Oslo' }])
    const calls = callsIn('chat', upstream.requests[1]?.body)
    expect(calls.map((each) => each.split(':')[0]).sort()).toEqual([
      'call call_m1',
      'call call_w1',
      'result call_m1',
      'result call_w1',
    ])
  },
)

it('[MT1] a request that wants no memory gets no tools', async () => {
  const { upstream, baseUrl, key } = await setUpGateway('memory on', { settings })
  const client = new OpenAI({
    baseURL: baseUrl,
    apiKey: key,
    maxRetries: 0,
    defaultHeaders: { 'x-recollect-no-memory': 'true' },
  })
  await client.responses.create({ model: 'gpt-test', input: QUESTION })
  expect(upstream.last().body.tools).toBeUndefined()
})

const NOTHING_LEARNED = { 'x-recollect-no-extract': '1' }
const NOTHING_TOLD = { 'x-recollect-no-inject': '1' }

it.each([
  ['a header', NOTHING_LEARNED, {}],
  ['a setting', {}, { 'learning.enabled': false }],
])(
  '[MT8] where nothing is to be learned, by %s, nothing can be saved',
  async (_, headers, more) => {
    const setup = await setUpGateway('memory on', { settings: { ...settings, ...more } })
    const { upstream, baseUrl, key, engine } = setup
    const save = { id: 'call_m1', name: 'memory_save', arguments: { content: 'I own a yacht' } }
    upstream.queue((request) => speak(request, { toolCalls: [save] }))
    const shared = { baseURL: baseUrl, apiKey: key, maxRetries: 0 }
    const client = new OpenAI({ ...shared, defaultHeaders: headers })
    const answer = await client.chat.completions.create({
      model: 'gpt-test',
      messages: [{ role: 'user', content: QUESTION }],
    })
    expect(toolNames(upstream.last().body)).toEqual(['memory_search'])
    // Not ours to answer: the client sees what its model made up.
    expect(answer.choices[0]?.message.tool_calls).toMatchObject([{ id: 'call_m1' }])
    expect(upstream.requests).toHaveLength(1)
    const { rows } = await engine.list({ owner: OWNER })
    expect(rows.map(({ content }) => content).join()).not.toContain('yacht')
  },
)

it.each([
  [NOTHING_TOLD, ['memory_save', 'memory_update', 'memory_forget']],
  [{ ...NOTHING_TOLD, ...NOTHING_LEARNED }, []],
])('[MT8] with %j the model is offered %j', async (headers, names) => {
  const { upstream, url, key } = await setUpGateway('memory on', { settings })
  const body = { model: 'm', input: QUESTION }
  const response = await askFor({ url, key }, PATHS.responses, body, headers)
  expect(response.status).toBe(200)
  expect(toolNames(upstream.last().body)).toEqual(names)
})
