/** What a client sees of several rounds: one well-formed stream or answer, and nothing of our calls. */
import { expect, it } from 'vitest'
import { toSse } from '../support/wire-format.ts'
import type { Event } from '../support/wire-parts.ts'
import { type Body, callsIn, clientTool, Play, search, weather } from './tool-support.ts'

const ROUNDS = [
  { id: 'one', text: 'Let me look.', toolCalls: [search('tea')] },
  { id: 'two', text: 'And again.', toolCalls: [search('more', 'call_m2')] },
  { id: 'three', text: 'Now.', toolCalls: [weather('Oslo'), weather('Rome', 'call_w2')] },
]

async function heardOf(format: 'chat' | 'responses' | 'messages') {
  const play = new Play({ format, streams: true, lines: ROUNDS })
  const heard = await play.ask({ tools: [clientTool(format)] })
  return { play, heard, events: play.events }
}

it('[MT4] chat: one id, one role, one end, calls counted through', async () => {
  const { play, heard, events } = await heardOf('chat')
  expect(new Set(events.map(({ id }) => id))).toEqual(new Set(['one']))
  const choices = events.flatMap((event) => event.choices)
  expect(choices.filter(({ delta }) => delta.role !== undefined)).toHaveLength(1)
  expect(choices.flatMap((choice) => choice.finish_reason ?? [])).toEqual(['tool_calls'])
  expect(events.filter(({ usage }) => usage)).toHaveLength(1)
  expect(events.at(-1)?.choices).toEqual([])
  expect(play.body.match(/\[DONE\]/g)).toHaveLength(1)
  const indexes = choices.flatMap(({ delta }) =>
    (delta.tool_calls ?? []).map((call: Body) => call.index),
  )
  expect([...new Set(indexes)]).toEqual([0, 1])
  expect(heard.text).toBe('Let me look.\n\nAnd again.\n\nNow.')
  expect(heard.answer.usage.prompt_tokens_details.cached_tokens).toBe(24)
})

it('[MT4] messages: one start, one end, blocks counted through', async () => {
  const { heard, events } = await heardOf('messages')
  const types = events.map(({ type }) => type)
  for (const once of ['message_start', 'message_delta', 'message_stop']) {
    expect(types.filter((type) => type === once)).toHaveLength(1)
  }
  expect(types.at(-1)).toBe('message_stop')
  const begun = events.filter(({ type }) => type === 'content_block_start')
  const ended = events.filter(({ type }) => type === 'content_block_stop')
  expect(begun.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4])
  expect(ended.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4])
  expect(heard.answer.content.map(({ type }: Body) => type)).toEqual([
    'text',
    'text',
    'text',
    'tool_use',
    'tool_use',
  ])
  expect(heard.answer.usage.cache_read_input_tokens).toBe(24)
})

it('[MT4] responses: one beginning, numbers without gaps, one end with all that was shown', async () => {
  const { play, heard, events } = await heardOf('responses')
  const types = events.map(({ type }) => type)
  for (const once of ['response.created', 'response.in_progress', 'response.completed']) {
    expect(types.filter((type) => type === once)).toHaveLength(1)
  }
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
  const done = events.filter(({ type }) => type === 'response.output_item.done')
  expect(done.map(({ output_index }) => output_index)).toEqual([0, 1, 2, 3, 4])
  expect(events.at(-1).response.output).toEqual(done.map(({ item }) => item))
  expect(heard.id).toBe('three')
  expect(play.requests[2].input.map(({ type }: Body) => type)).toEqual([
    undefined,
    'message',
    'function_call',
    'function_call_output',
    'message',
    'function_call',
    'function_call_output',
  ])
})

it('[MT4] parts go out as soon as they come', async () => {
  let goOn = () => {}
  const waits = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let hasEnded = false
  const bytes = (events: readonly Event[]) => Buffer.from(toSse(events, '\n'))
  const delta = (fields: object): Event => ({
    name: null,
    data: { id: 'x', choices: [{ index: 0, delta: fields }] },
  })
  const body = {
    async *[Symbol.asyncIterator]() {
      try {
        yield bytes([delta({ role: 'assistant', content: 'Let' })])
        await waits
        yield bytes([delta({ content: ' me' })])
      } finally {
        hasEnded = true
      }
    },
  } as unknown as Iterable<Uint8Array> // the provider by script takes both
  const reply = { headers: { 'content-type': 'text/event-stream' }, body }
  const play = new Play({ format: 'chat', streams: true, lines: [{ reply }] })
  const response = await play.fetch('', { body: '{"stream":true,"messages":[]}' })
  const reader = response.body?.getReader()
  const first = await reader?.read()
  expect(Buffer.from(first?.value ?? []).toString()).toContain('"Let"')
  goOn()
  // A client that leaves lets go of the provider too.
  await reader?.cancel()
  expect(hasEnded).toBe(true)
})

const sse = (events: readonly Event[]) => ({
  reply: { headers: { 'content-type': 'text/event-stream' }, body: toSse(events, '\n') },
})

it('[MT4] chat: calls without numbers of their own, all in the chunk that ends it', async () => {
  const call = (id: string, name: string, args: string) => ({
    index: 0,
    id,
    type: 'function',
    function: { name, arguments: args },
    extra_content: { signature: `of ${id}` },
  })
  const chunk = (delta: object, finish_reason: string | null, more: object = {}): Event => ({
    name: null,
    data: {
      id: 'g',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    },
  })
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
  const first = chunk(
    {
      role: 'assistant',
      content: 'Hm',
      reasoning_content: 'think',
      tool_calls: [call('a', 'memory_search', '{"query":"x"}'), call('b', 'memory_search', '{}')],
    },
    'stop',
    { usage },
  )
  const second = chunk({ role: 'assistant', content: 'Tea' }, 'stop', { usage })
  const done: Event = { name: null, data: '[DONE]' }
  const lines = [sse([first, done]), sse([second, done])]
  const play = new Play({ format: 'chat', streams: true, lines })
  const heard = await play.ask()
  expect(heard.text).toBe('Hm\n\nTea')
  expect(heard.calls).toEqual([])
  expect(heard.usage).toEqual({ input: 10, output: 4 })
  expect(play.ran.map(({ input }) => input)).toEqual([{ query: 'x' }, {}])
  // What providers want back with a call, they get.
  expect(play.requests[1].messages[1]).toMatchObject({
    role: 'assistant',
    reasoning_content: 'think',
    tool_calls: [{ id: 'a', extra_content: { signature: 'of a' } }, { id: 'b' }],
  })
  expect(play.requests[1].messages[1].tool_calls[0]).not.toHaveProperty('index')
})

it('[MT2] chat: half a call is not carried out', async () => {
  const cut = (delta: object, finish_reason: string | null): Event => ({
    name: null,
    data: { id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] },
  })
  const call = {
    index: 0,
    id: 'a',
    type: 'function',
    function: { name: 'memory_forget', arguments: '{"id":"me' },
  }
  const lines = [sse([cut({ role: 'assistant', tool_calls: [call] }, null), cut({}, 'length')])]
  const play = new Play({ format: 'chat', streams: true, lines })
  const response = await play.fetch('', { body: '{"stream":true,"messages":[]}' })
  expect(await response.text()).toContain('"finish_reason":"length"')
  expect(play.ran).toEqual([])
  expect(play.body).not.toContain('memory_forget')
})

const THOUGHT = { type: 'thinking', thinking: 'Do I know this?', signature: 'c2ln' }

function thinking(toolCalls: readonly object[], stop: string): readonly Event[] {
  const blocks = [
    {
      block: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking: 'Do I ' },
        { type: 'thinking_delta', thinking: 'know this?' },
        { type: 'signature_delta', signature: 'c2ln' },
      ],
    },
    { block: { type: 'text', text: '' }, deltas: [] },
    ...toolCalls.map((block) => ({
      block,
      deltas: [{ type: 'input_json_delta', partial_json: '' }],
    })),
  ]
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const events = [
    { type: 'message_start', message },
    ...blocks.flatMap(({ block, deltas }, index) => [
      { type: 'content_block_start', index, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  return events.map((data) => ({ name: data.type, data }))
}

it('[MT2] messages: thoughts go back with the calls they led to, empty texts don’t', async () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'memory_search', input: { query: 'tea' } }
  const lines = [sse(thinking([call], 'tool_use')), sse(thinking([], 'end_turn'))]
  const play = new Play({ format: 'messages', streams: true, lines })
  const { answer } = await play.ask()
  expect(play.requests[1].messages).toEqual([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: [THOUGHT, call] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'result of memory_search' },
      ],
    },
  ])
  expect(answer.content.map(({ type }: Body) => type)).toEqual([
    'thinking',
    'text',
    'thinking',
    'text',
  ])
})

const REASONING = { id: 'rs_1', type: 'reasoning', summary: [] }
const CALL = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_m1',
  name: 'memory_search',
  arguments: '{}',
}

function wholeResponse(output: readonly object[], more: object = {}) {
  const body = { id: 'resp', object: 'response', status: 'completed', output, ...more }
  return {
    reply: { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  }
}
const ANSWER = {
  id: 'msg_2',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Tea.', annotations: [] }],
}

const USAGE = { usage: { input_tokens: 1, output_tokens: 1 } }
async function continuedInput(fields: object): Promise<Body> {
  const lines = [wholeResponse([REASONING, CALL], USAGE), wholeResponse([ANSWER], USAGE)]
  const play = new Play({ format: 'responses', streams: false, lines })
  await play.ask(fields)
  return play.requests[1]
}

it('[MT2] responses: what is asked next fits where the conversation is kept', async () => {
  const output = {
    type: 'function_call_output',
    call_id: 'call_m1',
    output: 'result of memory_search',
  }
  const plain = await continuedInput({ input: 'Hi "there"' })
  expect(plain.input).toEqual([{ role: 'user', content: 'Hi "there"' }, REASONING, CALL, output])
  const previous = await continuedInput({ input: 'Hi', previous_response_id: 'resp_0' })
  expect(previous.previous_response_id).toBe('resp_0')
  expect(previous.input).toHaveLength(4)
  const kept = await continuedInput({ input: 'Hi', conversation: 'conv_1' })
  expect(kept.input).toEqual([output])
  const forgotten = await continuedInput({ input: 'Hi', store: false })
  expect(forgotten.input).toEqual([{ role: 'user', content: 'Hi' }, CALL, output])
  const prompt = await continuedInput({ input: undefined, prompt: { id: 'p' } })
  expect(callsIn('responses', prompt)).toHaveLength(2)
})

it('[MT4] responses: our tools are not among those that the answer tells of', async () => {
  const tools = [
    { type: 'web_search' },
    { type: 'function', name: 'memory_save', parameters: {}, strict: false },
  ]
  const lines = [wholeResponse([ANSWER], { tools, ...USAGE })]
  const play = new Play({ format: 'responses', streams: false, lines })
  const { answer } = await play.ask()
  expect(answer.tools).toEqual([{ type: 'web_search' }])
  expect(play.headers).toContainEqual(['content-length', String(Buffer.byteLength(play.body))])
})
