/** The loop of memory tools, heard through the client libraries of the three APIs. */
import { describe, expect, it } from 'vitest'
import { ROUNDS_MAX } from '../../../../src/api/gateway/tools/tool-loop.ts'
import { refuse } from '../support/wire-format.ts'
import { INPUT_TOKENS, OUTPUT_TOKENS } from '../support/wire-parts.ts'
import {
  ALL,
  callsIn,
  clientTool,
  FORMATS,
  type Line,
  Play,
  search,
  toolNames,
  WAYS,
  weather,
} from './tool-support.ts'

describe.each(WAYS)('$way', ({ format, streams }) => {
  const play = (lines: readonly Line[], more: object = {}) =>
    new Play({ format, streams, lines, ...more })
  const cut = streams ? { step: 3 } : {}
  const usage = (rounds: number) => ({
    input: INPUT_TOKENS * rounds,
    output: OUTPUT_TOKENS * rounds,
  })
  const others = { tools: [clientTool(format)] }

  it('[MT1] tools are offered behind those of the client', async () => {
    const alone = play([{ text: 'Hi' }])
    await alone.ask()
    expect(toolNames(alone.requests[0])).toEqual(ALL)
    const beside = play([{ text: 'Hi' }])
    await beside.ask(others)
    expect(toolNames(beside.requests[0])).toEqual(['get_weather', ...ALL])
    expect(beside.requests[0].tools[0]).toEqual(clientTool(format))
  })

  it('[MT1] a tool of the client with one of our names is the client’s', async () => {
    const tools = [clientTool(format, 'memory_search')]
    const heard = play([{ toolCalls: [search('tea')] }])
    const { calls } = await heard.ask({ tools })
    expect(calls).toMatchObject([{ name: 'memory_search', id: 'call_m1' }])
    expect(toolNames(heard.requests[0])).toEqual([
      'memory_search',
      'memory_save',
      'memory_update',
      'memory_forget',
    ])
    expect(heard.ran).toEqual([])
  })

  it('[MT4] an answer without calls of ours comes as the provider wrote it', async () => {
    const { text, usage: used } = await play([{ text: 'Grüße 🙂' }], cut).ask()
    expect(text).toBe('Grüße 🙂')
    expect(used).toEqual(usage(1))
    const calls = play([{ text: 'Wait', toolCalls: [weather('Oslo')] }], cut)
    const heard = await calls.ask(others)
    expect(heard.calls).toEqual([{ id: 'call_w1', name: 'get_weather', input: { city: 'Oslo' } }])
    expect(calls.requests).toHaveLength(1)
    expect(calls.ran).toEqual([])
  })

  it('[MT2] a call is answered, and the client sees only what was said', async () => {
    const lines = [
      { id: 'one', text: 'Let me look.', toolCalls: [search('drinks "hot" 🍵')] },
      { id: 'two', text: 'You prefer tea.' },
    ]
    const heard = play(lines, cut)
    const { text, calls, finish, usage: used, id } = await heard.ask()
    expect(heard.ran).toEqual([{ name: 'memory_search', input: { query: 'drinks "hot" 🍵' } }])
    expect(callsIn(format, heard.requests[1])).toEqual([
      'call call_m1',
      'result call_m1: result of memory_search',
    ])
    expect(calls).toEqual([])
    expect(used).toEqual(usage(2))
    expect(finish).toBe({ chat: 'stop', responses: 'completed', messages: 'end_turn' }[format])
    const joint = format === 'responses' ? '' : '\n\n'
    expect(text).toBe(`Let me look.${joint}You prefer tea.`)
    const isFirst = streams && format !== 'responses'
    expect(id).toBe(isFirst ? 'one' : 'two')
    expect(heard.toolCalls).toEqual(['memory_search'])
    expect(heard.body).not.toContain('memory_')
    expect(heard.body).not.toContain('call_m1')
  })

  it('[MT2] the conversation before and the tools stay as they were in every round', async () => {
    const heard = play([{ toolCalls: [search('a')] }, { text: 'Done' }])
    await heard.ask(others)
    const [first, second] = heard.texts
    const end = format === 'responses' ? ']' : ']'
    const history = first?.slice(0, first.indexOf(end, first.indexOf('Hello')))
    expect(second?.startsWith(String(history))).toBe(true)
    expect(heard.requests[1].tools).toEqual(heard.requests[0].tools)
  })

  it('[MT2] several calls in one answer are carried out in order, several rounds too', async () => {
    const save = { id: 'call_m2', name: 'memory_save', arguments: { content: 'Likes tea' } }
    const lines = [
      { toolCalls: [save, search('tea', 'call_m3')] },
      { text: 'Hm.', toolCalls: [search('coffee', 'call_m4')] },
      { text: 'Tea.' },
    ]
    const heard = play(lines, cut)
    const { text, usage: used } = await heard.ask()
    expect(heard.toolCalls).toEqual(['memory_save', 'memory_search', 'memory_search'])
    expect(heard.ran.map(({ input }) => input)).toEqual([
      { content: 'Likes tea' },
      { query: 'tea' },
      { query: 'coffee' },
    ])
    expect(callsIn(format, heard.requests[2]).map((each) => each.split(':')[0])).toEqual([
      'call call_m2',
      'call call_m3',
      'result call_m2',
      'result call_m3',
      'call call_m4',
      'result call_m4',
    ])
    expect(text.replaceAll('\n', '')).toBe('Hm.Tea.')
    expect(used).toEqual(usage(3))
  })

  it('[MT3] after five rounds the model must answer', async () => {
    const calling = Array.from({ length: ROUNDS_MAX + 1 }, (_, index) => ({
      toolCalls: [search('again', `call_${index}`)],
    }))
    const heard = play([...calling.slice(0, ROUNDS_MAX), { text: 'Enough.' }])
    expect((await heard.ask()).text).toBe('Enough.')
    expect(heard.requests).toHaveLength(ROUNDS_MAX + 1)
    const last = heard.requests[ROUNDS_MAX]
    if (format === 'messages') expect(last.tool_choice).toEqual({ type: 'none' })
    else expect(last.tools).toBeUndefined()
    const beside = play([...calling.slice(0, ROUNDS_MAX), { text: 'Enough.' }])
    await beside.ask(others)
    expect(toolNames(beside.requests[ROUNDS_MAX])).toEqual(['get_weather'])
    expect(beside.requests[ROUNDS_MAX].tool_choice).toBeUndefined()

    const stubborn = play(calling)
    const { text, calls, finish } = await stubborn.ask()
    expect(stubborn.ran).toHaveLength(ROUNDS_MAX)
    expect([text, calls]).toEqual(['', []])
    expect(finish).toBe({ chat: 'stop', responses: 'completed', messages: 'end_turn' }[format])
  })

  it('[MT7] a provider that refuses at once is heard as it is', async () => {
    const heard = play([{ reply: refuse(format, 429, { 'retry-after': '7' }) }])
    await expect(heard.ask()).rejects.toMatchObject({ status: 429 })
    expect(heard.headers).toContainEqual(['retry-after', '7'])
    expect(heard.body).toBe(refuse(format, 429).body)
  })

  it('[MT7] what is not what was asked for is passed on unread', async () => {
    const reply = { headers: { 'content-type': 'text/html' }, body: '<p>memory_search</p>' }
    const heard = play([{ reply }])
    const response = await heard.fetch('', {
      body: JSON.stringify({ model: 'm', stream: streams, messages: [], input: [] }),
    })
    expect(await response.text()).toBe(reply.body)
  })

  it('[MT7] an error in a later round is told in the words of the API', async () => {
    const heard = play([
      { text: 'Let me look.', toolCalls: [search('tea')] },
      { reply: refuse(format, 429) },
    ])
    if (!streams) {
      await expect(heard.ask()).rejects.toMatchObject({ status: 429 })
      expect(heard.body).toBe(refuse(format, 429).body)
      return
    }
    const message = JSON.parse(String(refuse(format, 429).body)).error.message
    if (format === 'responses') {
      await heard.ask().catch(() => {})
      expect(heard.events.at(-1)).toMatchObject({ type: 'error', message })
      const numbers = heard.events.map(({ sequence_number }) => sequence_number)
      expect(numbers).toEqual(numbers.map((_, index) => index))
    } else {
      await expect(heard.ask()).rejects.toThrow(message)
    }
    expect(heard.body).toContain('Let')
  })

  it('[MT7] a provider that breaks off in a later round is an error too', async () => {
    const heard = play([
      { toolCalls: [search('tea')] },
      async () => {
        throw new Error('connection reset')
      },
    ])
    if (!streams) await expect(heard.ask()).rejects.toThrow()
    else if (format !== 'responses') await expect(heard.ask()).rejects.toThrow()
    else {
      await heard.ask().catch(() => {})
      expect(heard.events.at(-1)).toMatchObject({ type: 'error' })
    }
    expect(heard.body).not.toContain('connection reset')
  })

  it('[MT7] a client that leaves in a later round ends it', async () => {
    const leaving = new AbortController()
    let hasStopped = false
    const heard = play(
      [
        { toolCalls: [search('tea')] },
        (signal: AbortSignal) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              hasStopped = true
              reject(signal.reason)
            })
            leaving.abort(new Error('left'))
          }),
      ],
      { signal: leaving.signal },
    )
    await expect(heard.ask()).rejects.toThrow()
    expect(hasStopped).toBe(true)
    expect(heard.requests).toHaveLength(2)
  })

  it('[MT6] calls that can’t be carried out are told to the model, not to the client', async () => {
    const broken = async () => {
      throw new Error('the store is on fire')
    }
    const heard = play([{ toolCalls: [search('tea')] }, { text: 'Never mind.' }], { run: broken })
    expect((await heard.ask()).text).toBe('Never mind.')
    const [, result] = callsIn(format, heard.requests[1])
    expect(result).toMatch(/^result call_m1: Memory is unavailable right now/)
    expect(heard.texts.join()).not.toContain('on fire')
  })

  it('[MT6] a model that calls too often at once is told so', async () => {
    const many = Array.from({ length: 20 }, (_, index) => search('tea', `call_${index}`))
    const heard = play([{ toolCalls: many }, { text: 'Sorry.' }])
    await heard.ask()
    expect(heard.ran).toHaveLength(16)
    expect(callsIn(format, heard.requests[1]).at(-1)).toMatch(/Too many calls at once/)
  })
})

it.each(FORMATS)('[MT4] %s: pieces may be cut anywhere', async (format) => {
  const lines = [
    {
      text: 'Ich schaue nach: «Öl» 🫖',
      toolCalls: [search('Ä "q" \\ 🍵')],
      step: 1,
      lineEnd: '\r\n',
    },
    { text: 'Grün 🍵.', toolCalls: [weather('Łódź')], step: 2 },
  ] as const
  const tools = { tools: [clientTool(format)] }
  const whole = new Play({ format, streams: true, lines })
  const expected = await whole.ask(tools)
  for (const step of [1, 2, 5, 17, 64]) {
    const heard = new Play({ format, streams: true, lines, step })
    expect(await heard.ask(tools)).toEqual(expected)
    expect(heard.body).toBe(whole.body)
  }
  expect(expected.calls).toEqual([{ id: 'call_w1', name: 'get_weather', input: { city: 'Łódź' } }])
})
