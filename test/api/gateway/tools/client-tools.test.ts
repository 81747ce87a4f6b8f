/** Answers that call tools of the client's and ours: what the client sees, and what the model finds when it comes back. */

import { expect, it } from 'vitest'
import { HiddenToolCalls } from '../../../../src/api/gateway/tools/hidden-tool-calls.ts'
import { restoreHiddenToolCalls } from '../../../../src/api/gateway/tools/tool-handler.ts'
import { FakeClock } from '../../../fakes/clock.ts'
import type { PathFormat } from '../support/wire-format.ts'
import {
  type Body,
  callsIn,
  clientTool,
  type Heard,
  Play,
  type Stage,
  search,
  WAYS,
  weather,
} from './tool-support.ts'

const HOUR = 60 * 60_000

/** The conversation as a client sends it back: what it has seen, and the results of its own calls. */
function comingBack(format: PathFormat, { answer, calls }: Heard): readonly object[] {
  const asked = { role: 'user', content: 'Hello' }
  if (format === 'chat') {
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'sunny' }))
    return [asked, answer.choices[0].message, ...results]
  }
  if (format === 'messages') {
    const content = calls.map(({ id }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: 'sunny',
    }))
    return [asked, { role: 'assistant', content: answer.content }, { role: 'user', content }]
  }
  const results = calls.map(({ id }) => ({
    type: 'function_call_output',
    call_id: id,
    output: 'sunny',
  }))
  return [asked, ...answer.output, ...results]
}

const MIXED = { id: 'one', text: 'Both.', toolCalls: [search('tea'), weather('Oslo')] }
const FINAL = { text: 'It is sunny.' }

const tools = (format: PathFormat) => ({ tools: [clientTool(format)] })

/** Asks, and comes back as the same owner or another, after a while. */
async function thereAndBack(
  stage: Pick<Stage, 'format' | 'streams'>,
  lines: Stage['lines'],
  back: { owner?: string; after?: number; change?: (messages: Body) => object[] } = {},
) {
  const clock = new FakeClock()
  const hidden = new HiddenToolCalls(clock)
  const there = new Play({ ...stage, lines, hidden })
  const heard = await there.ask(tools(stage.format))
  clock.advance(back.after ?? 0)
  const again = new Play({ ...stage, lines: [FINAL], hidden, owner: back.owner ?? 'ann' })
  const sent = comingBack(stage.format, heard)
  await again.ask(tools(stage.format), back.change?.(sent) ?? sent)
  return { there, heard, request: again.requests[0] as Body, text: again.texts[0] ?? '' }
}

it.each(WAYS)('[MT5] $way: the client gets its calls, and the model finds ours', async (way) => {
  const { there, heard, request } = await thereAndBack(way, [MIXED])
  expect(heard.calls).toEqual([{ id: 'call_w1', name: 'get_weather', input: { city: 'Oslo' } }])
  const { format } = way
  expect(heard.finish).toBe(
    { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' }[format],
  )
  expect(heard.text).toBe('Both.')
  expect(there.requests).toHaveLength(1)
  expect(there.toolCalls).toEqual(['memory_search'])
  expect(there.body).not.toContain('memory_search')
  expect([...callsIn(format, request)].sort()).toEqual([
    'call call_m1',
    'call call_w1',
    'result call_m1: result of memory_search',
    'result call_w1: sunny',
  ])
  // Every call comes before its result.
  const order = callsIn(format, request).map((each) => each.replace(/:.*/, ''))
  expect(order.indexOf('call call_m1')).toBeLessThan(order.indexOf('result call_m1'))
})

it.each(WAYS)('[MT5] $way: so it does with calls of ours that led to the client’s', async (way) => {
  const lines = [
    { id: 'one', text: 'Let me look.', toolCalls: [search('tea')] },
    {
      id: 'two',
      text: 'Now the weather.',
      toolCalls: [search('city', 'call_m2'), weather('Oslo')],
    },
  ]
  const { request } = await thereAndBack(way, lines)
  const order = callsIn(way.format, request).map((each) => each.replace(/:.*/, ''))
  expect(order.slice(0, 2)).toEqual(['call call_m1', 'result call_m1'])
  expect([...order.slice(2)].sort()).toEqual([
    'call call_m2',
    'call call_w1',
    'result call_m2',
    'result call_w1',
  ])
  if (way.format !== 'messages') return
  expect(request.messages.map(({ role }: Body) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
  ])
  expect(request.messages[1].content.map(({ type }: Body) => type)).toEqual(['text', 'tool_use'])
  expect(request.messages[3].content.map(({ type }: Body) => type)).toEqual([
    'text',
    'tool_use',
    'tool_use',
  ])
  expect(request.messages[4].content[0]).toMatchObject({ tool_use_id: 'call_m2' })
})

it.each(WAYS)('[MT5] $way: nothing is put back for others, later, or elsewhere', async (way) => {
  const count = async (back: Parameters<typeof thereAndBack>[2]) => {
    const { request } = await thereAndBack(way, [MIXED], back)
    return callsIn(way.format, request).length
  }
  expect(await count({ after: HOUR - 1 })).toBe(4)
  expect(await count({ after: HOUR })).toBe(2)
  expect(await count({ owner: 'ben' })).toBe(2)
  // Some providers count their ids anew: the same id with other arguments is another call.
  const elsewhere = (sent: Body) => JSON.parse(JSON.stringify(sent).replaceAll('Oslo', 'Rome'))
  expect(await count({ change: elsewhere })).toBe(2)
  // Arguments that were parsed and written anew are the same.
  const anew = (sent: Body) =>
    JSON.parse(
      JSON.stringify(sent).replaceAll('{\\"city\\":\\"Oslo\\"}', '{ \\"city\\": \\"Oslo\\" }'),
    )
  expect(await count({ change: anew })).toBe(4)
})

it('[MT5] responses: where the provider has the calls, it gets only our results', async () => {
  const onlyResults = (sent: Body) =>
    sent.filter(({ type }: Body) => type === 'function_call_output')
  const stage = { format: 'responses', streams: true } as const
  const { request } = await thereAndBack(stage, [MIXED], { change: onlyResults })
  expect(callsIn('responses', request)).toEqual([
    'result call_m1: result of memory_search',
    'result call_w1: sunny',
  ])
})

it('[MT5] they are put back as well where no tools are offered this time', async () => {
  const hidden = new HiddenToolCalls(new FakeClock())
  const play = new Play({ format: 'chat', streams: false, lines: [MIXED], hidden })
  const before = '{"messages":[{"role":"user","content":"Hello"}]}'
  expect(restoreHiddenToolCalls('chat', before, hidden.forScope('ann', null))).toBe(before)
  const messages = comingBack('chat', await play.ask(tools('chat')))
  const text = JSON.stringify({ messages, tool_choice: 'none' })
  const restored = JSON.parse(restoreHiddenToolCalls('chat', text, hidden.forScope('ann', null)))
  expect(callsIn('chat', restored)).toHaveLength(4)
  expect(restored.tools).toBeUndefined()
  expect(restoreHiddenToolCalls('chat', text, hidden.forScope('ann', 'bob'))).toBe(text)
})

it('[MT5] responses: reasoning stays right before what it led to', async () => {
  const reasoning = (id: string) => ({ id, type: 'reasoning', summary: [] })
  const call = (id: string, name: string, args: string) => ({
    id: `fc_${id}`,
    type: 'function_call',
    call_id: id,
    name,
    arguments: args,
  })
  const whole = (output: readonly object[]) => ({
    reply: {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: 'r',
        object: 'response',
        status: 'completed',
        output,
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    },
  })
  const lines = [
    whole([call('call_m0', 'memory_search', '{}')]),
    whole([reasoning('rs_1'), call('call_m1', 'memory_search', '{}')]),
    whole([reasoning('rs_2'), call('call_w1', 'get_weather', '{"city":"Oslo"}')]),
  ]
  const { request } = await thereAndBack({ format: 'responses', streams: false }, lines)
  expect(request.input.slice(1).map((item: Body) => item.id ?? item.call_id)).toEqual([
    'fc_call_m0',
    'call_m0',
    'rs_1',
    'fc_call_m1',
    'call_m1',
    'rs_2',
    'fc_call_w1',
    'call_w1',
  ])
})

it('[MT5] what the client wrote stays as it was written', async () => {
  const odd = '{"role":"user","content":"1.0 \\u00e9","n":1.0}'
  const hidden = new HiddenToolCalls(new FakeClock())
  const format = 'chat'
  const there = new Play({ format, streams: false, lines: [MIXED], hidden })
  const heard = await there.ask(tools(format))
  const [, message, result] = comingBack(format, heard).map((each) => JSON.stringify(each))
  const again = new Play({ format, streams: false, lines: [FINAL], hidden })
  const body = `{ "messages": [ ${odd} , ${message} , ${result} ] , "model" : "m" }`
  await again.fetch('', { body })
  const text = again.texts[0] ?? ''
  expect(text).toContain(`{ "messages": [ ${odd} , `)
  expect(text).toContain(`${result} ] , "model" : "m",`)
  expect(callsIn(format, JSON.parse(text))).toHaveLength(4)
})

it('[MT5] no more is kept than fits, and what was used last stays', () => {
  const clock = new FakeClock()
  const hidden = new HiddenToolCalls(clock, { entries: 2, characters: 10_000 }).forScope(
    'ann',
    null,
  )
  const call = (id: string) => ({ id, name: 'get_weather', arguments: '{}' })
  const own = { id: 'm', name: 'memory_search', arguments: '{}' }
  const keep = (id: string, result = 'r') =>
    hidden.store([
      {
        memoryCalls: [own],
        clientCalls: [call(id)],
        parts: [],
        isComplete: true,
        results: [result],
      },
    ])
  const isThere = (id: string) => hidden.find([{ id, call: call(id) }]) !== null
  keep('a')
  keep('b')
  expect(isThere('a')).toBe(true)
  keep('c')
  expect(['a', 'b', 'c'].map(isThere)).toEqual([true, false, true])
  keep('d', 'x'.repeat(9_700))
  expect(['a', 'c', 'd'].map(isThere)).toEqual([false, false, true])
  keep('e', 'x'.repeat(20_000))
  expect(['d', 'e'].map(isThere)).toEqual([true, false])
  keep('f')
  clock.advance(HOUR - 1)
  expect(isThere('f')).toBe(true)
  clock.advance(HOUR - 1)
  expect(isThere('f')).toBe(true)
  clock.advance(HOUR)
  expect(isThere('f')).toBe(false)
})
