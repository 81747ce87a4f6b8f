import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FENCE_CLOSE, FENCE_OPEN } from '../../../domain/context-block.ts'
import type { Json, JsonObject } from '../../../lib/json.ts'
import { messagesFormat as format } from './anthropic-messages.ts'

const BLOCK = `${FENCE_OPEN}\n- Likes tea (2026-03-01)\n${FENCE_CLOSE}`

describe('requests', () => {
  const read = (...messages: JsonObject[]) => format.parseRequest({ model: 'claude', messages })
  const user = (content: JsonObject['content'] = 'Hi') => ({ role: 'user', content })
  const said = (content: JsonObject['content']) => ({ role: 'assistant', content })
  const text = (words: string) => ({ type: 'text', text: words })
  const result = (content?: JsonObject['content']) => ({
    type: 'tool_result',
    tool_use_id: 't',
    ...(content === undefined ? {} : { content }),
  })

  it('[FM7] are parsed as exchanges, without tool results and thoughts', () => {
    const asked = read(
      user('Hello'),
      said([
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        text('Looking.'),
        { type: 'tool_use', id: 't', name: 'f', input: { q: 'secret' } },
      ]),
      user([result('old result')]),
      said('Found it.'),
      user([{ ...text('And this?'), cache_control: { type: 'ephemeral' } }, text('Look closely.')]),
      said([{ type: 'tool_use', id: 't', name: 'f', input: {} }]),
      user([
        result([text('new result'), { type: 'image', source: { type: 'base64', data: 'AA' } }]),
        result(),
        result(`${BLOCK}\n\nother result`),
      ]),
      { role: 'system', content: 'Between' },
    )
    expect(asked.exchanges).toEqual([
      { user: 'Hello', assistant: 'Looking.\nFound it.' },
      { user: 'And this?\nLook closely.', assistant: null },
    ])
    expect(asked.toolResults).toEqual(['new result', 'other result'])
  })

  it('[FM20] indicate whether the answer to the last message has begun', () => {
    const call = said([{ type: 'tool_use', id: 't', name: 'f', input: {} }])
    expect(read(user('Hello')).isMidAnswer).toBe(false)
    expect(read(user('Hello'), call, user([result('')])).isMidAnswer).toBe(true)
    expect(read(user('Hello'), call, user([result('7'), text('Stop')])).isMidAnswer).toBe(false)
  })

  it('[FM7] may bring results and words in one message', () => {
    const asked = read(user('Hello'), said('Looking.'), user([result('7'), text('Hurry up')]))
    expect(asked.exchanges).toEqual([
      { user: 'Hello', assistant: 'Looking.' },
      { user: 'Hurry up', assistant: null },
    ])
    expect(asked.toolResults).toEqual(['7'])
  })

  it('[FM6] are read without the blocks that a client sends back', () => {
    const asked = read(
      user([text('Hello'), text(BLOCK)]),
      said(`${BLOCK}\n\nI see.`),
      user(`${BLOCK}`),
      user([text(BLOCK), text('Thanks')]),
    )
    expect(asked.exchanges).toEqual([
      { user: 'Hello', assistant: 'I see.' },
      { user: 'Thanks', assistant: null },
    ])
  })

  it('[FM7] contain the end user, the token limit and the parameters', () => {
    const metadata = { user_id: 'ann' }
    const body = { model: 'claude', messages: [user()], stream: true, max_tokens: 9, metadata }
    expect(format.parseRequest(body)).toMatchObject({
      model: 'claude',
      isStreaming: true,
      endUser: 'ann',
      outputTokensMax: 9,
      previousResponseId: null,
      conversationId: null,
    })
    expect(read(user()).endUser).toBeNull()
    const thread = { type: 'continue', previous_message_id: 'msg_1' }
    expect(format.parseRequest({ ...body, thread }).previousResponseId).toBe('msg_1')
    const system = [text('x'.repeat(500))]
    const longer = format.parseRequest({ model: 'claude', messages: [user()], system }).characters
    expect(longer - read(user()).characters).toBeGreaterThan(500)
  })

  it('[FM16] contain the system text without blocks', () => {
    const told = (system: Json) =>
      format.parseRequest({ model: 'claude', messages: [user()], system }).instructions
    expect(read(user()).instructions).toBe('')
    expect(told(`Be kind.\n\n${BLOCK}`)).toBe('Be kind.')
    expect(told([text('Be kind.'), text(BLOCK), text('In French.')])).toBe('Be kind.\nIn French.')
    expect(told(7)).toBe('')
  })

  it('[FM7] know the session of Claude Code, which is no person', () => {
    const readUser = (user_id: string) => {
      const { endUser, conversationId: conversation } = format.parseRequest({
        model: 'm',
        messages: [user()],
        metadata: { user_id },
      })
      return { endUser, conversation }
    }
    const session = '11111111-0000-4000-8000-111111111111'
    const expected = { endUser: null, conversation: session }
    expect(readUser(`user_ab_account__session_${session}`)).toEqual(expected)
    expect(readUser(JSON.stringify({ device_id: 'd', session_id: session }))).toEqual(expected)
    for (const other of ['{"x":1}', '{broken', 'the_session_manager', 'a@b.c']) {
      expect(readUser(other)).toEqual({ endUser: other, conversation: null })
    }
  })

  it.each([
    [{ messages: [] }, 'model', 'model: Field required'],
    [{ model: null }, 'model', 'model: Input should be a valid string'],
    [{ model: '' }, 'model', 'model: String should have at least 1 character'],
    [{ model: 'm' }, 'messages', 'messages: Field required'],
    [{ model: 'm', messages: 'Hi' }, 'messages', 'messages: Input should be a valid list'],
    [{ model: 'm', messages: [] }, 'messages', 'messages: at least one message is required'],
    [
      { model: 'm', messages: [user(), 7] },
      'messages.1',
      'messages.1: Input should be a valid dic',
    ],
    [{ model: 'm', messages: [{}] }, 'messages.0.role', 'messages.0.role: Field required'],
    [{ model: 'm', messages: [{ role: 7 }] }, 'messages.0.role', "Input should be 'user' or 'assi"],
    [{ model: 'm', messages: [{ role: 'user' }] }, 'messages.0.content', 'Field required'],
    [{ model: 'm', messages: [user(7)] }, 'messages.0.content', 'Input should be a valid list'],
  ])('[FM8] %j is refused for %s', (body, field, message) => {
    const refused = () => format.parseRequest(body as JsonObject) // wrong on purpose
    expect(refused).toThrow(message)
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid_input', facts: { field } }))
  })

  it('[FM8] accept unknown fields', () => {
    const odd = [{ type: 'hologram' }, 'words', null, { type: 'text', text: 7 }, result(7)]
    expect(read({ role: 'oracle', content: 'x' }, user(odd), said(odd))).toMatchObject({
      exchanges: [{ user: '', assistant: null }],
      toolResults: [],
    })
  })
})

describe('answers', () => {
  const started = {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'claude',
      stop_reason: null,
      usage: {
        input_tokens: 4,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 8,
        output_tokens: 1,
      },
    },
  }
  const start = (index: number, block: object) => ({
    type: 'content_block_start',
    index,
    content_block: block,
  })
  const delta = (index: number, piece: object) => ({
    type: 'content_block_delta',
    index,
    delta: piece,
  })
  const words = (index: number, text: string) => delta(index, { type: 'text_delta', text })
  const stop = (index: number) => ({ type: 'content_block_stop', index })
  const ended = (reason: string | null) => ({
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 5, input_tokens: null },
  })
  const stopped = { type: 'message_stop' }
  const spoken = [
    started,
    { type: 'ping' },
    start(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    delta(0, { type: 'signature_delta', signature: 'sig' }),
    stop(0),
    start(1, { type: 'text', text: '' }),
    words(1, 'Hello, '),
    words(1, 'Ann.'),
    stop(1),
    start(2, { type: 'tool_use', id: 't', name: 'f', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"secret":1}' }),
    stop(2),
    start(3, { type: 'text', text: 'More.' }),
    stop(3),
  ]

  function answerTo(...events: readonly { readonly type: string }[]) {
    const reader = format.createAnswerReader()
    for (const event of events) reader.readEvent({ name: event.type, data: JSON.stringify(event) })
    return reader.getAnswer()
  }

  it('[FM9] are put together from a stream, without thoughts and calls', () => {
    expect(answerTo(...spoken, ended('tool_use'), stopped)).toEqual({
      id: 'msg_1',
      text: 'Hello, Ann.\nMore.',
      isComplete: true,
      isTruncated: false,
      hasToolCalls: true,
      // What was in the cache and what was put there is part of the input.
      usage: { input: 15, output: 5, cached: 8 },
    })
  })

  it('[FM10] are complete only when the API reports it', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    for (const end of [
      [],
      [ended('end_turn')],
      [error],
      [ended('end_turn'), error, stopped],
      [ended('max_tokens'), stopped],
      [ended('model_context_window_exceeded'), stopped],
      [ended('refusal'), stopped],
    ]) {
      const answer = answerTo(...spoken, ...end)
      expect(answer).toMatchObject({ text: 'Hello, Ann.\nMore.', isComplete: false })
    }
    for (const reason of ['end_turn', 'stop_sequence', 'tool_use', 'pause_turn']) {
      expect(answerTo(...spoken, ended(reason), stopped).isComplete).toBe(true)
    }
  })

  it('[FM9] are read when they come in one piece', () => {
    const whole = (body: object) => {
      const reader = format.createAnswerReader()
      reader.readBody(body)
      return reader.getAnswer()
    }
    const body = {
      ...started.message,
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 't', name: 'f', input: {} },
        { type: 'text', text: 'More.' },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 4, output_tokens: 5 },
    }
    expect(whole(body)).toEqual({
      id: 'msg_1',
      text: 'Hello\nMore.',
      isComplete: true,
      isTruncated: false,
      hasToolCalls: false,
      usage: { input: 4, output: 5, cached: null },
    })
    expect(whole({ ...body, stop_reason: 'max_tokens' }).isComplete).toBe(false)
    expect(whole({ ...body, stop_reason: null }).isComplete).toBe(false)
    expect(whole({ type: 'error', error: { type: 'api_error', message: 'no' } })).toEqual({
      id: null,
      text: '',
      isComplete: false,
      isTruncated: false,
      hasToolCalls: false,
      usage: null,
    })
  })

  it('[FM11] are parsed to the same value when the client sends them back', () => {
    const texts = fc.array(fc.constantFrom(' ', 'tea', `\n\n${BLOCK}\n\n`, '\n'))
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1 }), (parts) => {
        const content = parts.map((pieces) => ({ type: 'text', text: pieces.join('') }))
        const messages = [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content },
        ]
        const { exchanges } = format.parseRequest({ model: 'm', messages })
        const wanted = exchanges[0]?.assistant ?? ''
        const deltas = parts.flatMap((pieces, part) => pieces.map((each) => words(part, each)))
        const reader = format.createAnswerReader()
        reader.readBody({ content })
        expect(answerTo(...deltas).text).toBe(wanted)
        expect(reader.getAnswer().text).toBe(wanted)
      }),
    )
  })

  it('[FM12] are read from anything without an error', () => {
    const reader = format.createAnswerReader()
    const name = fc.constantFrom('message_start', 'message_delta', 'content_block_delta', 'x')
    fc.assert(
      fc.property(name, fc.oneof(fc.json(), fc.string()), fc.anything(), (type, data, any) => {
        expect(() => reader.readEvent({ name: type, data })).not.toThrow()
        expect(() => reader.readBody(any)).not.toThrow()
      }),
    )
  })
})
