import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FENCE_CLOSE, FENCE_OPEN } from '../../../domain/context-block.ts'
import type { Json, JsonObject } from '../../../lib/json.ts'
import { responsesFormat } from './openai-responses.ts'

const BLOCK = `${FENCE_OPEN}\n- Likes tea (2026-03-01)\n${FENCE_CLOSE}`

describe('requests', () => {
  const read = (input: Json, rest: JsonObject = {}) =>
    responsesFormat.parseRequest({ model: 'gpt-5', input, ...rest })

  it('[FM7] are read from a text', () => {
    expect(read('Hello').exchanges).toEqual([{ user: 'Hello', assistant: null }])
    expect(read(`Hello\n\n${BLOCK}`).exchanges).toEqual([{ user: 'Hello', assistant: null }])
    expect(read(BLOCK).exchanges).toEqual([])
  })

  it('[FM7] are read from items, with and without a type', () => {
    const asked = read([
      { role: 'developer', content: 'Rules' },
      { role: 'user', content: 'Hello' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
      },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"q":"secret"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'old result' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'And this?' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
      { type: 'item_reference', id: 'msg_2' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [{ type: 'input_text', text: 'new result' }],
      },
      { type: 'custom_tool_call_output', call_id: 'c3', output: `${BLOCK}\n\nother result` },
    ])
    expect(asked.exchanges).toEqual([
      { user: 'Hello', assistant: 'Looking.\nNo.' },
      { user: 'And this?', assistant: null },
    ])
    expect(asked.toolResults).toEqual(['new result', 'other result'])
  })

  it('[FM20] indicate whether the answer to the last message has begun', () => {
    const hello = { role: 'user', content: 'Hello' }
    const result = { type: 'function_call_output', call_id: 'c', output: '' }
    expect(read('Hello').isMidAnswer).toBe(false)
    expect(read([hello]).isMidAnswer).toBe(false)
    expect(read([hello, result]).isMidAnswer).toBe(true)
    expect(read([hello, result, hello]).isMidAnswer).toBe(false)
  })

  it('[FM21] list the calls that the client must answer', () => {
    const callsTools = (type: string) => {
      const reader = responsesFormat.createAnswerReader()
      reader.readBody({ id: 'resp_1', status: 'completed', output: [{ type }] })
      return reader.getAnswer().hasToolCalls
    }
    for (const type of ['function_call', 'custom_tool_call', 'computer_call', 'local_shell_call']) {
      expect(callsTools(type)).toBe(true)
    }
    for (const type of ['web_search_call', 'message', 'reasoning']) {
      expect(callsTools(type)).toBe(false)
    }
  })

  it('[FM7] name the response or conversation that they continue', () => {
    const output = [{ type: 'function_call_output', call_id: 'c', output: '7' }]
    const asked = read(output, { previous_response_id: 'resp_1', conversation: 'conv_1' })
    expect(asked).toMatchObject({
      exchanges: [],
      toolResults: ['7'],
      previousResponseId: 'resp_1',
      conversationId: 'conv_1',
    })
    expect(read('Hi', { conversation: { id: 'conv_2' } }).conversationId).toBe('conv_2')
    expect(read('Hi', { conversation: null, previous_response_id: null })).toMatchObject({
      previousResponseId: null,
      conversationId: null,
    })
  })

  it('[FM7] contain the end user, the token limit and the parameters', () => {
    const rest = { stream: true, user: 'ann', max_output_tokens: 9, instructions: 'Be brief.' }
    expect(read('Hi', rest)).toMatchObject({
      isStreaming: true,
      endUser: 'ann',
      outputTokensMax: 9,
    })
    const plain = read('Hi').characters
    expect(read('Hi', { instructions: 'x'.repeat(99) }).characters - plain).toBe(
      'instructions'.length + 99,
    )
    const sealed = { type: 'reasoning', encrypted_content: 'A'.repeat(9000) }
    expect(read([sealed]).characters).toBeLessThan(100)
  })

  it('[FM16] contain the system text', () => {
    expect(read('Hi').instructions).toBe('')
    expect(read('Hi', { instructions: 'Be kind.' }).instructions).toBe('Be kind.')
    const developer = { role: 'developer', content: [{ type: 'input_text', text: 'In French.' }] }
    const items = [{ type: 'message', role: 'system', content: 'Be brief.' }, developer]
    expect(read(items, { instructions: 'Be kind.' }).instructions).toBe(
      'Be kind.\nBe brief.\nIn French.',
    )
    expect(read([{ type: 'item_reference', id: 'x' }], { instructions: null }).instructions).toBe(
      '',
    )
  })

  it('[FM8] need no input or model where the provider has one', () => {
    const nothing = { exchanges: [], toolResults: [] }
    expect(responsesFormat.parseRequest({ model: 'm', previous_response_id: 'r' })).toMatchObject(
      nothing,
    )
    expect(
      responsesFormat.parseRequest({ model: 'm', conversation: 'c', input: [] }),
    ).toMatchObject(nothing)
    const settings = { prompt: { id: 'pmpt_1' }, input: 'Hi' }
    expect(responsesFormat.parseRequest(settings)).toMatchObject({
      model: '',
      exchanges: [{ user: 'Hi' }],
    })
  })

  const nothing = `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be`
  it.each([
    [{ input: 'Hi' }, 'model', "Missing required parameter: 'model'."],
    [{ model: ['m'] }, 'model', "Invalid type for 'model': expected a string, but got an array"],
    [{ model: 'm' }, 'input', "Missing required parameter: 'input'."],
    [{ model: 'm', input: null }, 'input', "Missing required parameter: 'input'."],
    [{ model: 'm', input: '' }, 'input', nothing],
    [{ model: 'm', input: [] }, 'input', nothing],
    [
      { model: 'm', input: 7 },
      'input',
      "Invalid type for 'input': expected one of an array of objects or string, but got an integer",
    ],
    [{ model: 'm', input: [{ role: 'user' }, 'Hi'] }, 'input[1]', 'but got a string instead.'],
    [{ model: 'm', input: [{ type: 'message' }] }, 'input[0].role', 'Missing required parameter:'],
    [{ model: 'm', input: [{ role: 7 }] }, 'input[0].role', 'but got an integer instead.'],
    [
      { model: 'm', input: [{ role: 'user', content: {} }] },
      'input[0].content',
      "Invalid type for 'input[0].content': expected one of an array of objects or string",
    ],
  ])('[FM8] %j is refused for %s', (body, field, message) => {
    const refused = () => responsesFormat.parseRequest(body as JsonObject) // wrong on purpose
    expect(refused).toThrow(message)
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid_input', facts: { field } }))
  })

  it('[FM8] accept unknown fields', () => {
    const odd = [{ type: 'hologram', content: 7 }, {}, { role: 'oracle', content: 7 }]
    expect(read(odd)).toMatchObject({ exchanges: [], toolResults: [] })
  })
})

describe('answers', () => {
  const usage = {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 8 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 17,
  }
  const message = (...content: JsonObject[]) => ({
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content,
  })
  const outputText = (text: string) => ({ type: 'output_text', text, annotations: [] })
  const response = (status: string, output: object[] = [], rest: object = {}) => ({
    id: 'resp_1',
    object: 'response',
    status,
    error: null,
    output,
    usage: null,
    ...rest,
  })
  const delta = (text: string, part = 0, output = 1) => ({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: output,
    content_index: part,
    delta: text,
  })
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [] }
  const call = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }

  function answerTo(...events: readonly { readonly type: string }[]) {
    const reader = responsesFormat.createAnswerReader()
    for (const event of events) reader.readEvent({ name: event.type, data: JSON.stringify(event) })
    return reader.getAnswer()
  }
  const begun = [
    { type: 'response.created', response: response('in_progress') },
    { type: 'response.in_progress', response: response('in_progress') },
    { type: 'response.output_item.added', output_index: 0, item: reasoning },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Hm.' },
    { type: 'response.output_item.added', output_index: 1, item: message() },
    { type: 'response.content_part.added', output_index: 1, part: outputText('') },
    delta('Hello, '),
    delta('Ann.'),
    delta('More.', 1),
  ]
  const completed = (...output: object[]) => ({
    type: 'response.completed',
    response: response('completed', output, { usage }),
  })

  it('[FM9] are put together from a stream, without thoughts and calls', () => {
    const wanted = {
      id: 'resp_1',
      text: 'Hello, Ann.\nMore.',
      isComplete: true,
      isTruncated: false,
      hasToolCalls: true,
      usage: { input: 12, output: 5, cached: 8 },
    }
    const output = [reasoning, message(outputText('Hello, Ann.'), outputText('More.')), call]
    const called = { type: 'response.function_call_arguments.delta', delta: '{"secret":1}' }
    expect(answerTo(...begun, called, completed(...output))).toEqual(wanted)
    // Some send the end without saying everything again.
    expect(answerTo(...begun, called, completed())).toEqual(wanted)
    // Who joins late still hears all of it.
    expect(answerTo(completed(...output))).toEqual(wanted)
  })

  it('[FM9] may be refusals, or calls without a word', () => {
    const refused = [
      { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: "I can't." },
      completed(),
    ]
    expect(answerTo(...refused)).toMatchObject({ text: "I can't.", isComplete: true })
    expect(answerTo(completed(call))).toMatchObject({ text: '', isComplete: true })
  })

  it('[FM10] are complete only when the API reports it', () => {
    const failed = response('failed', [], { error: { code: 'server_error', message: 'no' } })
    const cut = response('incomplete', [], {
      incomplete_details: { reason: 'max_output_tokens' },
      usage,
    })
    for (const end of [
      [],
      [{ type: 'response.failed', response: failed }],
      [{ type: 'response.failed' }],
      [{ type: 'response.incomplete', response: cut }],
      [{ type: 'error', code: 'server_error', message: 'no', param: null }],
      [{ type: 'error', message: 'no' }, completed()],
      [{ type: 'response.unheard_of', response: response('cancelled') }],
    ]) {
      const answer = answerTo(...begun, ...end)
      expect(answer).toMatchObject({ text: 'Hello, Ann.\nMore.', isComplete: false })
    }
    const inChunk = responsesFormat.createAnswerReader()
    inChunk.readEvent({ name: '', data: JSON.stringify({ error: { message: 'no' } }) })
    inChunk.readBody(response('completed'))
    expect(inChunk.getAnswer().isComplete).toBe(false)
  })

  it('[FM9] are read when they come in one piece', () => {
    const whole = (body: object) => {
      const reader = responsesFormat.createAnswerReader()
      reader.readBody(body)
      return reader.getAnswer()
    }
    const output = [reasoning, message(outputText('Hello'), { type: 'refusal', refusal: 'No.' })]
    expect(whole(response('completed', output, { usage }))).toEqual({
      id: 'resp_1',
      text: 'Hello\nNo.',
      isComplete: true,
      isTruncated: false,
      hasToolCalls: false,
      usage: { input: 12, output: 5, cached: 8 },
    })
    for (const status of ['queued', 'in_progress', 'incomplete', 'failed', 'cancelled']) {
      expect(whole(response(status, output)).isComplete).toBe(false)
    }
    expect(whole({ error: { message: 'no' } })).toMatchObject({ id: null, isComplete: false })
  })

  it('[FM11] are parsed to the same value when the client sends them back', () => {
    const texts = fc.array(fc.constantFrom(' ', 'tea', `\n\n${BLOCK}\n\n`, '\n'))
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1 }), (parts) => {
        const content = parts.map((pieces) => outputText(pieces.join('')))
        const input = [{ role: 'user', content: 'Hi' }, message(...content)]
        const { exchanges } = responsesFormat.parseRequest({ model: 'm', input })
        const deltas = parts.flatMap((pieces, part) => pieces.map((each) => delta(each, part)))
        const wanted = exchanges[0]?.assistant ?? ''
        expect(answerTo(...deltas).text).toBe(wanted)
        expect(answerTo(completed(message(...content))).text).toBe(wanted)
      }),
    )
  })

  it('[FM12] are read from anything without an error', () => {
    const reader = responsesFormat.createAnswerReader()
    fc.assert(
      fc.property(
        fc.string(),
        fc.oneof(fc.json(), fc.string()),
        fc.anything(),
        (name, data, any) => {
          expect(() => reader.readEvent({ name, data })).not.toThrow()
          expect(() => reader.readBody(any)).not.toThrow()
        },
      ),
    )
    expect(
      answerTo({ type: 'response.completed', response: { output: [null, { content: 7 }] } } as {
        type: string
      }),
    ).toMatchObject({ id: null, text: '' })
  })
})
