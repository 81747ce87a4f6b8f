/** Providers charge less for prompts that begin as one they have seen. Memory must not cost that. */
import { describe, expect, it, vi } from 'vitest'
import type { SettingValues } from '../../../src/domain/settings/settings.ts'
import { askFor, requestOf, type Spoken } from './support/client-conversation.ts'
import { FENCE, type Mode, OWNER, setUpGateway } from './support/gateway-harness.ts'
import { PATH_FORMATS, PATHS, type PathFormat, speak } from './support/wire-format.ts'

const TURNS = 30
const TOPICS = [
  'tea',
  'coffee',
  'bread',
  'cheese',
  'music',
  'hiking',
  'novels',
  'cities',
  'films',
  'games',
]

function question(turn: number): string {
  return `Question ${turn}: what did I say about ${TOPICS[turn % TOPICS.length]}, “naïve” or not?`
}

/** The bodies that upstream received for one conversation. */
async function converse(
  format: PathFormat,
  mode: Exclude<Mode, 'direct'>,
  settings: SettingValues = {},
): Promise<readonly Buffer[]> {
  const setup = await setUpGateway(mode, { settings })
  for (const topic of TOPICS) {
    await setup.engine.remember({ owner: OWNER }, { content: `I like ${topic} with ${topic}fish` })
  }
  setup.upstream.respond((request) => speak(request, { text: 'I see, 茶.' }))
  const history: Spoken[] = []
  for (let turn = 1; turn <= TURNS; turn++) {
    history.push({ role: 'user', content: question(turn) })
    const response = await askFor(setup, PATHS[format], requestOf(format, history))
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    history.push({ role: 'assistant', content: 'I see, 茶.' })
    await setup.engine.conversations.flush()
  }
  return setup.upstream.requests.map(({ bytes }) => bytes)
}

function commonPrefix(a: Buffer, b: Buffer): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}

/** How much of each request the next one begins with. */
function prefixes(bodies: readonly Buffer[]): readonly number[] {
  return bodies.slice(1).map((body, index) => commonPrefix(bodies[index] ?? body, body))
}

/** Where the last words of the person end in each request but the last. */
function ends(bodies: readonly Buffer[]): readonly number[] {
  return bodies.slice(0, -1).map((body, index) => {
    const words = Buffer.from(JSON.stringify(question(index + 1)).slice(1, -1))
    return body.lastIndexOf(words) + words.length
  })
}

type Call = { readonly id: string; readonly name: string; readonly arguments: object }

/** The call of a tool as clients send it back, without a word, and its result, which is empty. */
const emptyResultOf: Record<PathFormat, (call: Call) => readonly object[]> = {
  chat: ({ id, name, arguments: input }) => {
    const called = { name, arguments: JSON.stringify(input) }
    return [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: called }],
      },
      { role: 'tool', tool_call_id: id, content: '' },
    ]
  },
  responses: ({ id, name, arguments: input }) => [
    { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) },
    { type: 'function_call_output', call_id: id, output: '' },
  ],
  messages: ({ id, name, arguments: input }) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '' }] },
  ],
}

// Many requests, one after the other.
vi.setConfig({ testTimeout: 120_000 })

describe.each(PATH_FORMATS)('%s', (format) => {
  it('[GW8] keeps the prompt cache over 30 turns', async () => {
    const without = await converse(format, 'memory off')
    const withMemory = await converse(format, 'memory on')
    expect(withMemory).toHaveLength(TURNS)
    const injected = withMemory.filter((body) => body.includes(FENCE))
    expect(injected.length, 'memories were injected').toBe(TURNS)
    const shared = prefixes(withMemory)
    const sharedWithout = prefixes(without)
    ends(without).forEach((end, index) => {
      expect(end).toBeGreaterThan(0)
      expect(shared[index]).toBeGreaterThanOrEqual(Math.min(sharedWithout[index] ?? 0, end))
      // Up to there, both are the same request.
      const [on, off] = [withMemory[index], without[index]]
      expect(on?.subarray(0, end).equals(off?.subarray(0, end) ?? Buffer.alloc(0))).toBe(true)
    })
  })

  it('[GW8] costs the prompt cache where memories stand in the system prompt', async () => {
    const bodies = await converse(format, 'memory on', { 'gateway.contextPosition': 'system' })
    const isCut = prefixes(bodies).map((shared, index) => {
      const end = bodies[index]?.indexOf(question(1).slice(0, 10)) ?? 0
      return shared < end
    })
    expect(isCut).toContain(true)
  })

  it.each([false, true])(
    '[CV6] keeps the prompt cache of a tool loop, streamed %s',
    async (stream) => {
      const setup = await setUpGateway('memory on')
      const call = { id: 'call_1', name: 'weather', arguments: { city: 'Fuzhou' } }
      const said: object[] = [{ role: 'user', content: 'Which tea is my favourite?' }]
      const ask = async (reply: Parameters<typeof speak>[1]) => {
        setup.upstream.respond((request) => speak(request, reply))
        const body = requestOf(format, said as Spoken[], { stream }) // with calls of tools among them
        const response = await askFor(setup, PATHS[format], body)
        expect(response.status).toBe(200)
        await response.arrayBuffer()
        await setup.engine.conversations.flush()
        return setup.upstream.last().text
      }
      const before = await ask({ toolCalls: [call] })
      expect(before).toContain(FENCE)
      said.push(...emptyResultOf[format](call))
      await setup.engine.remember({ owner: OWNER }, { content: 'My favourite tea cup is blue' })
      const looped = await ask({ toolCalls: [{ ...call, id: 'call_2' }] })
      // All but the brackets that end the list and the request.
      expect(looped.startsWith(before.slice(0, -2))).toBe(true)
      expect(await ask({ text: 'Jasmine.' })).toBe(looped)
      said.splice(1)
      expect(await ask({ text: 'Jasmine.' })).toContain('blue')
    },
  )

  it('[GW8] injects the same bytes while recall finds the same', async () => {
    const setup = await setUpGateway('memory on')
    const said: Spoken[] = [{ role: 'user', content: 'Which tea is my favourite?' }]
    const headers = { 'x-recollect-no-extract': 'true' }
    for (let time = 0; time < 3; time++) {
      const response = await askFor(setup, PATHS[format], requestOf(format, said), headers)
      await response.arrayBuffer()
      await setup.engine.conversations.flush()
    }
    const [first, ...others] = setup.upstream.requests
    expect(first?.text).toContain(FENCE)
    expect(others).toHaveLength(2)
    for (const other of others) expect(other.text).toBe(first?.text)
  })
})
