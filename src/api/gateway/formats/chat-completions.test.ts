import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FENCE_CLOSE, FENCE_OPEN } from '../../../domain/context-block.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { STREAMED_ANSWER_CHARACTERS_MAX } from './answer-text.ts'
import { chatFormat } from './chat-completions.ts'

const NOTHING_SAID = {
  id: null,
  text: '',
  isComplete: false,
  isTruncated: false,
  hasToolCalls: false,
  usage: null,
}
const BLOCK = `${FENCE_OPEN}\n- Likes tea (2026-03-01)\n${FENCE_CLOSE}`

describe('requests', () => {
  const read = (...messages: JsonObject[]) => chatFormat.parseRequest({ model: 'gpt-5', messages })
  const user = (content: JsonObject['content'] = 'Hi') => ({ role: 'user', content })
  const said = (content: JsonObject['content']) => ({ role: 'assistant', content })

  it('[FM7] are read as exchanges, with all that was answered between two turns as one answer', () => {
    const asked = read(
      { role: 'system', content: 'Rules' },
      { role: 'developer', content: 'More rules' },
      said('Welcome! Nobody asked yet.'),
      user('Hello'),
      said('Let me look.'),
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'old result' },
      said([{ type: 'text', text: ' Found it. ' }]),
      user([
        { type: 'text', text: 'And this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'text', text: 'Look closely.' },
      ]),
      { role: 'assistant', content: null, refusal: "I can't help with that." },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'new result' }] },
      { role: 'function', name: 'f', content: 'older style' },
      { role: 'someone', content: 'Unknown' },
    )
    expect(asked.exchanges).toEqual([
      { user: 'Hello', assistant: 'Let me look.\nFound it.' },
      { user: 'And this?\nLook closely.', assistant: "I can't help with that." },
    ])
    expect(asked.toolResults).toEqual(['new result', 'older style'])
  })

  it('[FM7] have a turn without words where there is only a picture, and none where there is nothing', () => {
    expect(read(user([{ type: 'image_url', image_url: { url: 'https://x' } }])).exchanges).toEqual([
      { user: '', assistant: null },
    ])
    for (const content of ['', ' \n', null, [], [{ type: 'text', text: ' ' }], ['words']]) {
      expect(read(user(content)).exchanges).toEqual([])
    }
  })

  it('[FM6] are read without the blocks that a client sends back, from whomever they come', () => {
    const asked = read(
      user(BLOCK),
      user(`Hello\n\n${BLOCK}`),
      said(`You told me:\n\n${BLOCK}\n\nIs it so?`),
      user([
        { type: 'text', text: BLOCK },
        { type: 'text', text: 'Yes' },
      ]),
      { role: 'tool', content: `${BLOCK}\n\nresult` },
    )
    expect(asked.exchanges).toEqual([
      { user: 'Hello', assistant: 'You told me:\n\nIs it so?' },
      { user: 'Yes', assistant: null },
    ])
    expect(asked.toolResults).toEqual(['result'])
  })

  it('[FM20] indicate whether the answer to the last message has begun', () => {
    const call = { role: 'assistant', content: null, tool_calls: [{}] }
    expect(read(user('Hello')).isMidAnswer).toBe(false)
    expect(read(user('Hello'), call).isMidAnswer).toBe(true)
    expect(read(user('Hello'), call, { role: 'tool', content: '' }).isMidAnswer).toBe(true)
    expect(read(user('Hello'), call, user('Stop')).isMidAnswer).toBe(false)
  })

  it('[FM7] contain the end user, the token limit and the parameters', () => {
    const asked = chatFormat.parseRequest({
      model: 'gpt-5',
      messages: [user()],
      stream: true,
      user: 'ann',
      max_completion_tokens: 100,
      max_tokens: 50,
    })
    expect(asked).toMatchObject({
      model: 'gpt-5',
      isStreaming: true,
      endUser: 'ann',
      outputTokensMax: 100,
      previousResponseId: null,
      conversationId: null,
    })
    const loose = chatFormat.parseRequest({
      model: 'm',
      messages: [user()],
      user: 7,
      max_tokens: -1,
      stream: 1,
    })
    expect(loose).toMatchObject({ isStreaming: false, endUser: null, outputTokensMax: null })
    expect(
      chatFormat.parseRequest({ model: 'm', messages: [user()], max_tokens: 50 }).outputTokensMax,
    ).toBe(50)
  })

  it('[FM16] contain the system text without blocks', () => {
    expect(read(user()).instructions).toBe('')
    const developer = { role: 'developer', content: [{ type: 'text', text: 'In French.' }] }
    const system = { role: 'system', content: `Be kind.\n\n${BLOCK}` }
    expect(read(system, user(), developer).instructions).toBe('Be kind.\nIn French.')
    expect(read({ role: 'system', content: { odd: true } }, user()).instructions).toBe('')
  })

  it('[FM7] are as long as their text, tools included and pictures not', () => {
    const short = read(user('Hi')).characters
    const picture = { type: 'image_url', image_url: { url: `data:${'A'.repeat(9000)}` } }
    const pictured = read(user([picture, { type: 'text', text: 'Hi' }])).characters
    expect(pictured - short).toBeLessThan(50)
    expect(read(user('x'.repeat(1000))).characters - short).toBe(998)
    const tools = [{ type: 'function', function: { name: 'f', description: 'y'.repeat(500) } }]
    const tooled = chatFormat.parseRequest({
      model: 'gpt-5',
      messages: [user('Hi')],
      tools,
    }).characters
    expect(tooled - short).toBeGreaterThan(500)
    const deep = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))
    expect(
      chatFormat.parseRequest({ model: 'gpt-5', messages: [user('Hi')], deep }).characters,
    ).toBe(short + 'deep'.length)
  })

  it.each([
    [{ messages: [] }, 'model', 'you must provide a model parameter'],
    [{ model: '', messages: [] }, 'model', 'you must provide a model parameter'],
    [{ model: 7 }, 'model', "Invalid type for 'model': expected a string, but got an integer"],
    [{ model: 'm' }, 'messages', "Missing required parameter: 'messages'."],
    [
      { model: 'm', messages: 'Hi' },
      'messages',
      "Invalid type for 'messages': expected an array of objects, but got a string instead.",
    ],
    [{ model: 'm', messages: null }, 'messages', 'but got null instead.'],
    [{ model: 'm', messages: { 0: 1 } }, 'messages', 'but got an object instead.'],
    [{ model: 'm', messages: [] }, 'messages', "Invalid 'messages': empty array."],
    [
      { model: 'm', messages: [user(), 'Hi'] },
      'messages[1]',
      "Invalid type for 'messages[1]': expected an object, but got a string instead.",
    ],
    [{ model: 'm', messages: [[]] }, 'messages[0]', 'but got an array instead.'],
    [{ model: 'm', messages: [1.5] }, 'messages[0]', 'but got a decimal instead.'],
    [{ model: 'm', messages: [{}] }, 'messages[0].role', 'Missing required parameter:'],
    [{ model: 'm', messages: [{ role: true }] }, 'messages[0].role', 'but got a boolean instead.'],
    [
      { model: 'm', messages: [user({ type: 'text' })] },
      'messages[0].content',
      "Invalid type for 'messages[0].content': expected one of a string or array of objects",
    ],
  ])('[FM8] %j is refused for %s', (body, field, message) => {
    const refused = () => chatFormat.parseRequest(body as JsonObject) // wrong on purpose
    expect(refused).toThrow(message)
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid_input', facts: { field } }))
  })

  it('[FM8] accept unknown fields', () => {
    const odd = { role: 'oracle', content: 7 }
    const parts = [{ type: 'hologram', data: 1 }, 'words', null, { type: 'text', text: 7 }]
    expect(read(odd, { role: 'user' }, user(parts), { role: 'system', content: {} })).toMatchObject(
      { exchanges: [{ user: '', assistant: null }], toolResults: [] },
    )
  })
})

describe('answers', () => {
  const chunk = (delta: object, finish: string | null = null, index = 0) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-5',
    choices: [{ index, delta, logprobs: null, finish_reason: finish }],
    usage: null,
  })
  const usage = {
    prompt_tokens: 12,
    completion_tokens: 5,
    total_tokens: 17,
    prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 2 },
  }
  const counted = { id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [], usage }
  const DONE = '[DONE]'

  function answerTo(...chunks: readonly (object | string)[]) {
    const reader = chatFormat.createAnswerReader()
    for (const each of chunks) {
      reader.readEvent({ name: '', data: typeof each === 'string' ? each : JSON.stringify(each) })
    }
    return reader.getAnswer()
  }

  it('[FM9] are assembled from a stream, with the usage after the last choice', () => {
    const answer = answerTo(
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo, ' }),
      chunk({ content: 'another one' }, null, 1),
      chunk({ content: 'Ann.' }),
      chunk({}, 'stop', 1),
      chunk({}, 'stop'),
      counted,
      DONE,
    )
    expect(answer).toEqual({
      id: 'chatcmpl-1',
      text: 'Hello, Ann.',
      isComplete: true,
      isTruncated: false,
      hasToolCalls: false,
      usage: { input: 12, output: 5, cached: 8 },
    })
  })

  it('[FM9] are without tool calls; refusals are words too', () => {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'f', arguments: '' },
    }
    const piece = { index: 0, function: { arguments: '{"secret":1}' } }
    const called = answerTo(
      chunk({ role: 'assistant', content: 'One moment.', tool_calls: [call] }),
      chunk({ tool_calls: [piece] }),
      chunk({}, 'tool_calls'),
      DONE,
    )
    expect(called).toMatchObject({ text: 'One moment.', isComplete: true, usage: null })
    expect(called.hasToolCalls).toBe(true)
    const refused = answerTo(
      chunk({ role: 'assistant', refusal: '' }),
      chunk({ refusal: "I can't " }),
      chunk({ refusal: 'do that.' }),
      chunk({}, 'stop'),
      DONE,
    )
    expect(refused).toMatchObject({ text: "I can't do that.", isComplete: true })
  })

  it('[FM10] are complete only with an end that is no cut', () => {
    const hello = chunk({ content: 'Hel' })
    for (const chunks of [
      [hello],
      [hello, DONE],
      [hello, chunk({}, 'length'), DONE],
      [hello, chunk({}, 'content_filter'), DONE],
      [hello, { error: { message: 'overloaded', type: 'server_error' } }, DONE],
      [hello, chunk({}, 'stop'), { error: 'overloaded' }, DONE],
    ]) {
      expect(answerTo(...chunks)).toMatchObject({ text: 'Hel', isComplete: false })
    }
    expect(answerTo(hello, chunk({}, 'stop'), DONE).isComplete).toBe(true)
    // Some servers close the stream without a last word of their own.
    expect(answerTo(hello, chunk({}, 'stop')).isComplete).toBe(true)
    expect(answerTo(hello, chunk({}, 'length'))).toMatchObject({
      isComplete: false,
      isTruncated: true,
    })
    const reader = chatFormat.createAnswerReader()
    reader.readEvent({ name: '', data: JSON.stringify(chunk({ content: 'Hi' }, 'stop')) })
    reader.readEvent({ name: 'error', data: 'gone' })
    reader.readEvent({ name: '', data: DONE })
    expect(reader.getAnswer().isComplete).toBe(false)
  })

  it('[FM9] are read when they come in one piece', () => {
    const whole = (message: object, finish: string | null) => {
      const reader = chatFormat.createAnswerReader()
      const other = { index: 1, message: { content: 'Other' }, finish_reason: 'stop' }
      const first = { index: 0, message, finish_reason: finish }
      reader.readBody({ id: 'chatcmpl-2', choices: [other, first], usage })
      return reader.getAnswer()
    }
    expect(whole({ role: 'assistant', content: 'Hello', refusal: null }, 'stop')).toEqual({
      id: 'chatcmpl-2',
      text: 'Hello',
      isComplete: true,
      isTruncated: false,
      hasToolCalls: false,
      usage: { input: 12, output: 5, cached: 8 },
    })
    expect(whole({ content: null, tool_calls: [{}] }, 'tool_calls')).toMatchObject({
      text: '',
      hasToolCalls: true,
    })
    expect(whole({ content: 'Hel' }, 'length')).toMatchObject({
      isComplete: false,
      isTruncated: true,
    })
    expect(whole({ content: 'Hel' }, 'content_filter').isTruncated).toBe(false)
    expect(whole({ content: [{ type: 'text', text: 'Parts' }] }, 'stop').text).toBe('Parts')
    const failed = chatFormat.createAnswerReader()
    failed.readBody({ error: { message: 'no' } })
    expect(failed.getAnswer()).toEqual(NOTHING_SAID)
  })

  it('[FM11] are parsed to the same value when the client sends them back', () => {
    const texts = fc.array(fc.constantFrom(' ', 'tea', '\n', `\n\n${BLOCK}\n\n`, 'é', '"'))
    fc.assert(
      fc.property(texts, (pieces) => {
        const content = pieces.join('')
        const chunks = [...content].map((piece) => chunk({ content: piece }))
        const messages = [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content },
        ]
        const { exchanges } = chatFormat.parseRequest({ model: 'm', messages })
        expect(answerTo(...chunks).text).toBe(exchanges[0]?.assistant ?? '')
      }),
    )
  })

  it('[FM12] are parsed from any value without an error, up to a limit', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.json(), fc.string())), fc.anything(), (chunks, body) => {
        expect(() => answerTo(...chunks)).not.toThrow()
        expect(() => chatFormat.createAnswerReader().readBody(body)).not.toThrow()
      }),
    )
    const odd = { choices: [{ delta: 7 }, null, 'x'], usage: { prompt_tokens: 'many' }, id: 4 }
    expect(answerTo(odd)).toEqual(NOTHING_SAID)
    const endless = chunk({ content: 'x'.repeat(STREAMED_ANSWER_CHARACTERS_MAX / 2 + 1) })
    const answer = answerTo(endless, endless, endless, chunk({}, 'stop'), DONE)
    expect(answer.text).toHaveLength(STREAMED_ANSWER_CHARACTERS_MAX)
    expect(answer.isComplete).toBe(false)
  })
})
