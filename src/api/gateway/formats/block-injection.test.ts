import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FENCE_CLOSE, FENCE_OPEN } from '../../../domain/context-block.ts'
import {
  type ApiFormat,
  BLOCK_PLACEMENTS,
  type BlockPlacement,
} from '../../../domain/model-call.ts'
import { findFormatByPath, WIRE_FORMATS } from './index.ts'

/** Gemini's format, whose contents differ, has tests of its own. */
const MESSAGE_FORMATS = ['chat', 'responses', 'messages'] as const
type MessageFormat = Exclude<ApiFormat, 'gemini'>

const BLOCK = `${FENCE_OPEN}\n- Likes "tea" é 😀 (2026-03-01)\n${FENCE_CLOSE}`

/** JSON that is still to be written down; numbers and other words as they are to be written. */
type Node =
  | { readonly raw: string }
  | { readonly string: string }
  | { readonly list: readonly Node[] }
  | { readonly object: readonly (readonly [string, Node])[] }

/** One thing after another, for ever. */
function takeTurns<Thing>(things: readonly Thing[], otherwise: Thing): () => Thing {
  let next = 0
  return () => things[next++ % things.length] ?? otherwise
}

/** Writes with blanks and escapes as they come. */
function write(node: Node, space: () => string, quote: () => (text: string) => string): string {
  const between = (parts: readonly string[]) =>
    space() + parts.join(`${space()},${space()}`) + space()
  if ('raw' in node) return node.raw
  if ('string' in node) return quote()(node.string)
  if ('list' in node) {
    return `[${between(node.list.map((each) => write(each, space, quote)))}]`
  }
  const members = node.object.map(
    ([key, each]) => `${quote()(key)}${space()}:${space()}${write(each, space, quote)}`,
  )
  return `{${between(members)}}`
}

const QUOTES: readonly ((text: string) => string)[] = [
  JSON.stringify,
  (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  (text) =>
    `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`,
]

const text = (words: string): Node => ({ string: words })
const object = (members: Readonly<Record<string, Node>>): Node => ({
  object: Object.entries(members),
})

const odd = fc.constantFrom('1.0', '1e400', '-0', '9007199254740993', '1E+2', 'null', 'true', '0.1')
const words = fc
  .oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.lorem())
  .filter((each) => each.trim() !== '' && !each.includes('<'))
const { junk } = fc.letrec<{ junk: Node }>((tie) => ({
  junk: fc.oneof(
    { maxDepth: 3 },
    odd.map((raw) => ({ raw })),
    fc.string({ unit: 'grapheme' }).map(text),
    fc.array(tie('junk'), { maxLength: 3 }).map((list) => ({ list })),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 'content', '"'), tie('junk')), { maxLength: 3 })
      .map((members) => ({ object: members })),
  ),
}))

/** Fields that nobody knows, some of them twice. */
const extras = fc.array(fc.tuple(fc.constantFrom('x_one', 'cache_control', 'é'), junk), {
  maxLength: 3,
})

/** Puts members that nobody knows around those of an object, and earlier ones of the same keys in front. */
function disguised(node: fc.Arbitrary<Node>): fc.Arbitrary<Node> {
  return fc
    .tuple(node, extras, extras, fc.boolean(), junk)
    .map(([known, before, after, again, other]) => {
      if (!('object' in known)) return known
      const earlier = again ? known.object.map(([key]) => [key, other] as const) : []
      return { object: [...earlier, ...before, ...known.object, ...after] }
    })
}

const PART_TYPES: Readonly<Record<MessageFormat, string>> = {
  chat: 'text',
  responses: 'input_text',
  messages: 'text',
}

type Said = { readonly node: Node; readonly isTurn: boolean }

/** Messages of all kinds that a format has. */
function messagesOf(name: MessageFormat): fc.Arbitrary<Said> {
  const type = PART_TYPES[name]
  const part = disguised(words.map((each) => object({ type: text(type), text: text(each) })))
  const picture = disguised(
    junk.map((data) => object({ type: text('image'), source: data, image_url: data })),
  )
  const message = (role: string, content: fc.Arbitrary<Node>) =>
    disguised(
      content.map((each) => {
        const members = { role: text(role), content: each }
        return object(name === 'responses' ? { type: text('message'), ...members } : members)
      }),
    )
  const listOf = (each: fc.Arbitrary<Node>) =>
    fc.array(each, { minLength: 1, maxLength: 3 }).map((list) => ({ list }))
  const echo = fc.constantFrom(BLOCK, `\n${BLOCK}\n`, '', ' \n').map(text)
  const turn = fc.oneof(
    message('user', words.map(text)),
    message('user', listOf(fc.oneof(part, picture))),
  )
  const other = fc.oneof(
    message('assistant', words.map(text)),
    message('assistant', listOf(part)),
    message('user', echo),
    message('someone', words.map(text)),
    ...(name === 'chat' ? [message('tool', words.map(text)), message('system', listOf(part))] : []),
    ...(name === 'responses'
      ? [disguised(words.map((out) => object({ type: text('reasoning'), summary: text(out) })))]
      : []),
    ...(name === 'messages'
      ? [message('user', listOf(disguised(fc.constant(object({ type: text('tool_result') })))))]
      : []),
  )
  return fc.oneof(
    turn.map((node) => ({ node, isTurn: true })),
    other.map((node) => ({ node, isTurn: false })),
  )
}

type Request = {
  readonly format: MessageFormat
  readonly text: string
  /** Of the last message of the person's own; below zero where there is none. */
  readonly turn: number
}

function requestsOf(name: MessageFormat): fc.Arbitrary<Request> {
  const list = name === 'responses' ? 'input' : 'messages'
  const system = { chat: null, responses: 'instructions', messages: 'system' }[name]
  const body = fc
    .record({
      said: fc.array(messagesOf(name), { minLength: 1, maxLength: 6 }),
      system: fc.option(words),
    })
    .chain(({ said, system: rules }) =>
      disguised(
        fc.constant(
          object({
            model: text('m'),
            ...(system === null || rules === null ? {} : { [system]: text(rules) }),
            [list]: { list: said.map(({ node }) => node) },
          }),
        ),
      ).map((node) => ({ node, turn: said.findLastIndex(({ isTurn }) => isTurn) })),
    )
  const spaces = fc.array(fc.constantFrom('', ' ', '\n', '\t', '\r\n  '), { minLength: 1 })
  const quotes = fc.array(fc.constantFrom(...QUOTES), { minLength: 1 })
  return fc.tuple(body, spaces, quotes).map(([{ node, turn }, space, quote]) => ({
    format: name,
    text: write(node, takeTurns(space, ''), takeTurns(quote, JSON.stringify)),
    turn,
  }))
}

type Message = { role: string; content: string | object[] }

type Body = {
  messages?: Message[]
  input?: Message[]
  system?: string
  instructions?: string
}

/** The same change, made to what a parser gives. */
function changed(request: Request, placement: BlockPlacement): Body | null {
  const body: Body = JSON.parse(request.text)
  const list = body.messages ?? body.input ?? []
  if (placement === 'system' || placement === 'system-merged') {
    addSystem(body, list, request.format, placement)
    return body
  }
  const message = list[request.turn]
  if (message === undefined) return null
  const part = { type: PART_TYPES[request.format], text: BLOCK }
  const { content } = message
  if (placement === 'message' && request.format !== 'messages') {
    const type = request.format === 'responses' ? { type: 'message' } : {}
    list.splice(request.turn, 0, { ...type, role: 'user', content: BLOCK })
  } else if (typeof content === 'string') {
    message.content = (placement === 'turn-end' ? [content, BLOCK] : [BLOCK, content]).join('\n\n')
  } else if (placement === 'turn-end') content.push(part)
  else content.unshift(part)
  return body
}

function addSystem(
  body: Body,
  list: Message[],
  format: MessageFormat,
  placement: BlockPlacement,
): void {
  const [first] = list
  if (format === 'responses') {
    body.instructions = [BLOCK, ...(body.instructions ? [body.instructions] : [])].join('\n\n')
  } else if (format === 'messages') {
    body.system = [...(body.system ? [body.system] : []), BLOCK].join('\n\n')
  } else if (placement === 'system-merged' && first?.role === 'system') {
    first.content = [{ type: 'text', text: BLOCK }, ...first.content] as object[] // always parts
  } else {
    list.unshift({ role: 'system', content: BLOCK })
  }
}

/** How many characters at the beginning are the same. */
function commonPrefix(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}

function inject(name: MessageFormat, json: string, placement: BlockPlacement): string | null {
  return WIRE_FORMATS[name].injectBlock(json, JSON.parse(json), BLOCK, placement)
}

describe.each(MESSAGE_FORMATS)('a block in a request of %s', (name) => {
  const requests = fc.tuple(requestsOf(name), fc.constantFrom(...BLOCK_PLACEMENTS))

  it('[FM4] is inserted at the placement, and nothing else changes', () => {
    fc.assert(
      fc.property(requests, ([request, placement]) => {
        const injected = inject(name, request.text, placement)
        expect(injected === null ? null : JSON.parse(injected)).toEqual(changed(request, placement))
      }),
      { numRuns: 400 },
    )
  })

  it('[FM5] leaves every character before and after it as it was', () => {
    fc.assert(
      fc.property(requests, ([{ text: json }, placement]) => {
        const injected = inject(name, json, placement)
        if (injected === null) return
        const before = commonPrefix(json, injected)
        const after = json.length - before
        expect(injected.slice(injected.length - after)).toBe(json.slice(before))
      }),
      { numRuns: 400 },
    )
  })

  it('[FM6] is not parsed: the request has the same messages without it', () => {
    fc.assert(
      fc.property(requests, ([{ text: json }, placement]) => {
        const injected = inject(name, json, placement)
        if (injected === null) return
        const { characters: wanted, ...asked } = WIRE_FORMATS[name].parseRequest(JSON.parse(json))
        const { characters, ...again } = WIRE_FORMATS[name].parseRequest(JSON.parse(injected))
        expect(again).toEqual(asked)
        expect(characters).toBeGreaterThanOrEqual(wanted + BLOCK.length)
      }),
      { numRuns: 400 },
    )
  })

  it('[FM13] leaves thirty turns of conversation alike up to the last turn of the earlier request', () => {
    const list = name === 'responses' ? 'input' : 'messages'
    const said: object[] = []
    let earlier: { readonly json: string; readonly turnAt: number } | null = null
    for (let turn = 0; turn < 30; turn++) {
      const beforeTurn = JSON.stringify({ model: 'm', [list]: said }).length - ']}'.length
      const content = `What about number ${turn}?`
      said.push({
        role: 'user',
        content: turn % 2 ? content : [{ type: PART_TYPES[name], text: content }],
      })
      const plain = JSON.stringify({ model: 'm', [list]: said })
      const json = WIRE_FORMATS[name].injectBlock(
        plain,
        JSON.parse(plain),
        `${BLOCK} ${turn}`,
        'turn-end',
      )
      if (json === null) throw new Error('no place')
      if (earlier !== null) {
        expect(commonPrefix(earlier.json, json)).toBeGreaterThanOrEqual(earlier.turnAt)
      }
      earlier = { json, turnAt: beforeTurn }
      said.push({ role: 'assistant', content: `That is ${turn}.` })
    }
  })
})

describe('a block', () => {
  const at = (name: MessageFormat, body: object, placement: BlockPlacement) => {
    const injected = inject(name, JSON.stringify(body), placement)
    return injected === null ? null : JSON.parse(injected)
  }
  const user = (content: unknown) => ({ role: 'user', content })
  const textPart = { type: 'text', text: BLOCK }

  it('[FM13] stays with the answered message during tool calls, byte for byte', () => {
    const call = (id: string) => [
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function' }] },
      { role: 'tool', tool_call_id: id, content: '7' },
    ]
    const result = (id: string) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
      user([{ type: 'tool_result', tool_use_id: id, content: '7' }]),
    ]
    const output = (id: string) => [
      { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: id, output: '7' },
    ]
    for (const [name, list, round] of [
      ['chat', 'messages', call],
      ['messages', 'messages', result],
      ['responses', 'input', output],
    ] as const) {
      const first = JSON.stringify({ [list]: [user('add it up')] })
      const second = JSON.stringify({ [list]: [user('add it up'), ...round('1')] })
      const third = JSON.stringify({ [list]: [user('add it up'), ...round('1'), ...round('2')] })
      const [one, two, three] = [first, second, third].map((json) => inject(name, json, 'turn-end'))
      const open = -']}'.length
      expect(two?.startsWith(one?.slice(0, open) ?? '?')).toBe(true)
      expect(three?.startsWith(two?.slice(0, open) ?? '?')).toBe(true)
    }
  })

  it('[FM4] has no place without a user message, unless it is a system message', () => {
    const nobody = { role: 'assistant', content: 'Hello' }
    for (const placement of ['turn-end', 'turn-start', 'message'] as const) {
      expect(at('chat', { messages: [nobody] }, placement)).toBeNull()
      expect(at('chat', { messages: [nobody, user(null)] }, placement)).toBeNull()
      expect(at('messages', { messages: [nobody] }, placement)).toBeNull()
      expect(at('responses', { input: [nobody] }, placement)).toBeNull()
      expect(at('responses', { input: ' ' }, placement)).toBeNull()
      expect(at('responses', { previous_response_id: 'r' }, placement)).toBeNull()
    }
    expect(at('responses', { previous_response_id: 'r' }, 'system')?.instructions).toBe(BLOCK)
    expect(at('chat', { messages: [nobody] }, 'system')?.messages[0].content).toBe(BLOCK)
  })

  it('[FM4] goes along with a picture without words, and after parts that are marked for the cache', () => {
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
    const content = at('chat', { messages: [user([picture])] }, 'turn-end')?.messages[0].content
    expect(content).toEqual([picture, textPart])
    const marked = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }
    expect(at('messages', { messages: [user([marked])] }, 'turn-end')?.messages[0].content).toEqual(
      [marked, textPart],
    )
  })

  it('[FM4] comes after the results of tools, which must come first in a message', () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: 'ok' }
    const own = { type: 'text', text: 'And now?' }
    for (const placement of ['turn-start', 'message'] as const) {
      const { messages } = at('messages', { messages: [user([result, own])] }, placement)
      expect(messages).toEqual([user([result, textPart, own])])
    }
  })

  it('[FM4] joins the system prompt of Anthropic at its end, as a text or as one more block', () => {
    const messages = [user('Hi')]
    const rules = { type: 'text', text: 'Rules', cache_control: { type: 'ephemeral' } }
    for (const placement of ['system', 'system-merged'] as const) {
      const systemOf = (system: unknown) => at('messages', { system, messages }, placement)?.system
      expect(systemOf('Rules')).toBe(`Rules\n\n${BLOCK}`)
      expect(systemOf([rules])).toEqual([rules, textPart])
      expect(systemOf([])).toEqual([textPart])
      for (const none of ['', null, undefined]) expect(systemOf(none)).toBe(BLOCK)
      expect(systemOf(7)).toBeUndefined()
    }
  })

  it('[FM4] stands in front of instructions, also where there are none', () => {
    const instructed = (instructions: unknown) =>
      at('responses', { input: 'Hi', instructions }, 'system')?.instructions
    expect(instructed('Be brief')).toBe(`${BLOCK}\n\nBe brief`)
    for (const none of ['', null, undefined]) expect(instructed(none)).toBe(BLOCK)
    expect(instructed(['x'])).toBeUndefined()
  })

  it('[FM4] merges into a leading system message of a chat, or comes before all others', () => {
    const merged = (...messages: object[]) => at('chat', { messages }, 'system-merged')?.messages
    const rules = { role: 'developer', content: 'Rules' }
    expect(merged(rules, user('Hi'))).toEqual([
      { role: 'developer', content: `${BLOCK}\n\nRules` },
      user('Hi'),
    ])
    const parts = { role: 'system', content: [{ type: 'text', text: 'Rules' }] }
    expect(merged(parts)).toEqual([{ role: 'system', content: [textPart, ...parts.content] }])
    expect(merged(user('Hi'))).toEqual([{ role: 'system', content: BLOCK }, user('Hi')])
    expect(at('chat', { messages: [rules, user('Hi')] }, 'system')?.messages).toEqual([
      { role: 'developer', content: BLOCK },
      rules,
      user('Hi'),
    ])
  })

  it('[FM4] goes into an input that is a text, or makes two items of it', () => {
    const input = 'H\\u0069 \\/ there'
    const json = `{ "input" : "${input}" , "n":1.0}`
    const block = JSON.stringify(BLOCK).slice(1, -1)
    const item = (content: string) => `{"type":"message","role":"user","content":"${content}"}`
    const wanted = {
      'turn-end': `"${input}\\n\\n${block}"`,
      'turn-start': `"${block}\\n\\n${input}"`,
      message: `[${item(block)},${item(input)}]`,
    } as const
    for (const placement of ['turn-end', 'turn-start', 'message'] as const) {
      const injected = inject('responses', json, placement)
      expect(injected).toBe(`{ "input" : ${wanted[placement]} , "n":1.0}`)
      const { exchanges } = WIRE_FORMATS.responses.parseRequest({
        model: 'm',
        ...JSON.parse(injected ?? ''),
      })
      expect(exchanges).toEqual([{ user: 'Hi / there', assistant: null }])
    }
  })

  it('[FM5] is the same bytes for the same memories', () => {
    const json = JSON.stringify({ messages: [user('Hi')] })
    expect(inject('chat', json, 'turn-end')).toBe(inject('chat', json, 'turn-end'))
  })
})

it('[FM14] each format is known by its name and its address', () => {
  for (const name of MESSAGE_FORMATS) {
    expect(WIRE_FORMATS[name].name).toBe(name)
    expect(findFormatByPath(WIRE_FORMATS[name].path)).toBe(WIRE_FORMATS[name])
  }
  expect(MESSAGE_FORMATS.map((name) => WIRE_FORMATS[name].path)).toEqual([
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/messages',
  ])
  for (const path of ['/v1/models', '/v1/messages/count_tokens', '', 'chat']) {
    expect(findFormatByPath(path)).toBeNull()
  }
})
