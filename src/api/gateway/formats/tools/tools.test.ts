import { expect, it } from 'vitest'
import { PendingToolCalls } from './chat-tools.ts'
import { TOOL_DIALECTS } from './index.ts'
import type { AnsweredToolRound } from './tool-dialect.ts'
import { mergeUsage, sumUsage } from './tool-dialect.ts'

it('[MT4] adds up what rounds used, field by field', () => {
  const one = { input: 1, details: { cached: 2 }, tier: 'a', only: 5 }
  const other = { input: 10, details: { cached: 20, more: 1 }, tier: 'b', nothing: null }
  expect(sumUsage(one, other)).toEqual({
    input: 11,
    details: { cached: 22, more: 1 },
    tier: 'b',
    only: 5,
    nothing: null,
  })
  expect(sumUsage(null, one)).toEqual(one)
  expect(sumUsage(one, null)).toEqual(one)
  expect(sumUsage(undefined, undefined)).toBeNull()
  expect(mergeUsage({ input: 1, output: 1 }, { output: 7, input: null })).toEqual({
    input: 1,
    output: 7,
  })
})

it('[MT4] distinguishes streamed calls with different, missing or equal indexes', () => {
  const own = new Set(['memory_search'])
  const named = (id: string, name: string, given = '') => ({
    id,
    function: { name, arguments: given },
  })
  const same = new PendingToolCalls(own, 3)
  expect(same.add({ index: 0, ...named('a', 'memory_search', '{') })).toBeNull()
  expect(same.add({ index: 0, function: { arguments: '}' } })).toBeNull()
  expect(same.add({ index: 0, ...named('b', 'other', '{}') })).toMatchObject({ index: 3, id: 'b' })
  expect(same.merged()).toEqual([named('a', 'memory_search', '{}'), named('b', 'other', '{}')])

  const without = new PendingToolCalls(own, 0)
  expect(without.add(named('a', 'other', '{'))).toMatchObject({ index: 0 })
  expect(without.add({ function: { arguments: '}' } })).toMatchObject({ index: 0 })
  expect(without.add(named('b', 'memory_search'))).toBeNull()
  expect([without.hasMemoryCalls, without.hasClientCalls, without.shown]).toEqual([true, true, 1])

  const late = new PendingToolCalls(own, 0)
  expect(late.add({ index: 0, id: 'a', type: 'function' })).toBeNull()
  expect(late.add({ index: 0, function: { name: 'other', arguments: '' } })).toEqual({
    index: 0,
    id: 'a',
    type: 'function',
    function: { name: 'other', arguments: '' },
  })
})

const THOUGHT = { type: 'thinking', thinking: 't', signature: 's' }
const OWN = { type: 'tool_use', id: 'm', name: 'memory_search', input: {} }
const OTHER = { type: 'tool_use', id: 'w', name: 'get_weather', input: {} }
const call = ({ id, name }: { id: string; name: string }) => ({ id, name, arguments: '{}' })
const ROUNDS: readonly AnsweredToolRound[] = [
  {
    memoryCalls: [call(OWN)],
    clientCalls: [],
    parts: [THOUGHT, OWN],
    isComplete: true,
    results: ['r'],
  },
  { memoryCalls: [], clientCalls: [call(OTHER)], parts: [OTHER], isComplete: true, results: [] },
]

function restored(content: readonly object[], results: unknown) {
  const body = {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content },
      { role: 'user', content: results },
    ],
  }
  const text = JSON.stringify(body)
  return JSON.parse(
    TOOL_DIALECTS.messages.restoreHiddenRounds(text, JSON.parse(text), () => ROUNDS),
  ).messages
}

it('[MT5] messages: thoughts go back to where they were, unless the client has changed them', () => {
  const results = [{ type: 'tool_result', tool_use_id: 'w', content: 'sunny' }]
  const hidden = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'm', content: 'r' }],
  }
  expect(restored([THOUGHT, OTHER], results)).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [THOUGHT, OWN] },
    hidden,
    { role: 'assistant', content: [OTHER] },
    { role: 'user', content: results },
  ])
  expect(restored([OTHER], results)).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [OWN] },
    hidden,
    { role: 'assistant', content: [OTHER] },
    { role: 'user', content: results },
  ])
  expect(restored([THOUGHT, OTHER], 'never mind')).toHaveLength(3)
})

it('[MT5] nothing is put back into requests of other shapes', () => {
  for (const body of [
    {},
    { messages: null, input: 'hi' },
    { messages: [null, 7, { role: 'assistant' }], input: [null, 'x', {}] },
    { messages: [{ role: 'assistant', content: 'x', tool_calls: [] }], input: {} },
  ]) {
    const text = JSON.stringify(body)
    for (const dialect of Object.values(TOOL_DIALECTS)) {
      expect(dialect.restoreHiddenRounds(text, JSON.parse(text), () => null)).toBe(text)
    }
  }
})
