/** Models of real protocols, asked for one answer. */
import { expect, it } from 'vitest'
import type { ModelMessage } from '../../../src/models/language-model.ts'
import { estimateTokens } from '../../../src/text/tokens.ts'
import { refuse, speak } from '../../api/gateway/support/wire-format.ts'
import { INPUT_TOKENS, OUTPUT_TOKENS } from '../../api/gateway/support/wire-parts.ts'
import { errorOf } from '../embedders/embedder-support.ts'
import { KEY, openModel, question, SECRET_WORDS, shown } from './llm-support.ts'

const ok = (body: unknown) => ({
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const refusing = (status: number, body: unknown) => ({ ...ok(body), status })
const chat = (message: unknown, rest: object = {}) =>
  ok({ choices: [{ index: 0, message, finish_reason: 'stop' }], ...rest })

it('[LM1] calls chat completions, and returns text and usage', async () => {
  const { model, upstream } = await openModel()
  expect(await model.complete(question({ json: true }))).toEqual({
    text: 'Noted.',
    isTruncated: false,
    tokens: { input: INPUT_TOKENS, output: OUTPUT_TOKENS },
  })
  const { path, headers, body } = upstream.last()
  expect(path).toBe('/v1/chat/completions')
  expect(headers.authorization).toBe(`Bearer ${KEY}`)
  expect(body).toEqual({
    model: 'some-model',
    messages: question().messages,
    max_completion_tokens: 500,
    response_format: { type: 'json_object' },
    stream: false,
  })
})

it('[LM1] calls Anthropic messages, with the system text in its own field', async () => {
  const { model, upstream } = await openModel({ kind: 'anthropic' })
  const { text, tokens } = await model.complete(question({ json: true }))
  expect(text).toBe('Noted.')
  expect(tokens.input).toBeGreaterThanOrEqual(INPUT_TOKENS)
  expect(tokens.output).toBe(OUTPUT_TOKENS)
  const { path, headers, body } = upstream.last()
  expect(path).toBe('/v1/messages')
  expect(headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' })
  expect(body).toEqual({
    model: 'some-model',
    max_tokens: 500,
    system: 'Answer as JSON.',
    messages: [{ role: 'user', content: SECRET_WORDS }],
  })
  const messages: readonly ModelMessage[] = [{ role: 'system', content: 'Say hello.' }]
  await model.complete(question({ messages }))
  expect(upstream.last().body).toMatchObject({
    messages: [{ role: 'user', content: 'Say hello.' }],
  })
})

it('[LM1] finds models by alias and default, and knows when there is none', async () => {
  const { model, upstream } = await openModel()
  await model.complete(question({ model: 'fast' }))
  expect(upstream.last().body.model).toBe('tiny')
  await model.complete(question({ model: 'anything' }))
  expect(upstream.last().body.model).toBe('anything')
  for (const name of ['nobody/model', 'demo/echo', '']) {
    const error = await errorOf(model.complete(question({ model: name })))
    expect(error.code).toBe('not_found')
  }
  expect(upstream.requests).toHaveLength(2)
})

it('[LM2] a model without a system role hears it from the person', async () => {
  const ask = async (messages: readonly ModelMessage[], systemRole: 'none' | 'leading' | 'any') => {
    const { model, upstream } = await openModel({ systemRole })
    await model.complete(question({ messages }))
    return upstream.last().body.messages
  }
  const both: readonly ModelMessage[] = [
    { role: 'user', content: 'a' },
    { role: 'system', content: 'one' },
    { role: 'assistant', content: 'b' },
    { role: 'system', content: 'two' },
  ]
  expect(await ask(both, 'any')).toEqual(both)
  expect(await ask(both, 'leading')).toEqual([
    { role: 'system', content: 'one\n\ntwo' },
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ])
  expect(await ask(both, 'none')).toEqual([
    { role: 'user', content: 'one\n\ntwo\n\na' },
    { role: 'assistant', content: 'b' },
  ])
  expect(await ask([{ role: 'system', content: 'one' }], 'none')).toEqual([
    { role: 'user', content: 'one' },
  ])
})

it('[LM3] retries without a parameter that is refused by name, and remembers that', async () => {
  const { model, upstream, clock } = await openModel()
  upstream.queue(
    refusing(400, {
      error: {
        message: "Invalid parameter: 'response_format' of type 'json_object' is not supported.",
        type: 'invalid_request_error',
      },
    }),
    refusing(422, {
      detail: [{ type: 'extra_forbidden', loc: ['body', 'max_completion_tokens'] }],
    }),
  )
  await model.complete(question({ json: true }))
  const keys = () => upstream.requests.map(({ body }) => Object.keys(body).sort().join(' '))
  const plain = 'max_tokens messages model stream'
  expect(keys()).toEqual([
    'max_completion_tokens messages model response_format stream',
    'max_completion_tokens messages model stream',
    plain,
  ])
  await model.complete(question({ json: true }))
  expect(keys().at(-1)).toBe(plain)
  expect(upstream.requests).toHaveLength(4)
  expect(upstream.last().body.max_tokens).toBe(500)
  // Another model may take it.
  await model.complete(question({ json: true, model: 'fast' }))
  expect(upstream.last().body).toHaveProperty('response_format')
  expect(clock.pauses).toEqual([])
})

it('[LM3] fails when the request is still refused', async () => {
  const { model, upstream } = await openModel()
  upstream.respond(() =>
    refusing(400, { error: { message: 'response_format: no. JSON mode: no' } }),
  )
  const error = await errorOf(model.complete(question({ json: true })))
  expect(error).toMatchObject({ code: 'invalid_input', facts: { status: 400 } })
  expect(upstream.requests).toHaveLength(2)
})

it('[LM3] Ollama gets the limit that it knows', async () => {
  const { model, upstream } = await openModel({ kind: 'ollama' })
  await model.complete(question())
  expect(upstream.last().body).toMatchObject({ max_tokens: 500 })
  expect(upstream.last().body).not.toHaveProperty('max_completion_tokens')
})

it('[LM4] retries transient errors twice, after the demanded time', async () => {
  const { model, upstream, clock } = await openModel()
  upstream.queue(refuse('chat', 500), refuse('chat', 503))
  expect((await model.complete(question())).text).toBe('Noted.')
  expect(clock.pauses).toEqual([1_000, 4_000])
  upstream.queue(refuse('chat', 429, { 'retry-after': '20' }))
  await model.complete(question())
  expect(clock.pauses.slice(2)).toEqual([20_000])
  const broken = { body: '{"choices": [', trouble: { after: 5, what: 'reset' } } as const
  upstream.queue(broken, broken)
  await model.complete(question())
  expect(clock.pauses.slice(3)).toEqual([1_000, 4_000])
  upstream.clear()
  upstream.respond(() => refuse('chat', 500))
  expect(await errorOf(model.complete(question()))).toMatchObject({
    ...{ code: 'unavailable', facts: { status: 500, provider: 'scripted' } },
  })
  expect(upstream.requests).toHaveLength(3)
})

it('[LM4] tries nothing again that would end the same way', async () => {
  const { model, upstream, clock } = await openModel()
  const cases = [
    [refuse('chat', 429, { 'retry-after': '31' }), 'unavailable'],
    [refusing(429, { error: { code: 'insufficient_quota' } }), 'unavailable'],
    [refuse('chat', 400), 'invalid_input'],
    [refuse('chat', 401), 'invalid_input'],
    [refuse('chat', 404), 'not_found'],
    [refusing(408, {}), 'timeout'],
    [refusing(307, ''), 'invalid_input'],
    [refusing(413, '<html>'), 'invalid_input'],
  ] as const
  for (const [reply, code] of cases) {
    upstream.queue(reply)
    expect((await errorOf(model.complete(question()))).code).toBe(code)
  }
  expect(upstream.requests).toHaveLength(cases.length)
  expect(clock.pauses).toEqual([])
  upstream.queue(refuse('chat', 429, { 'retry-after': '31' }))
  expect((await errorOf(model.complete(question()))).facts).toMatchObject({ retryAfterMs: 31_000 })
})

it('[LM4] does not retry a provider that times out', async () => {
  const { model, upstream } = await openModel({
    timeouts: { connectMs: 10_000, firstByteMs: 50, idleMs: 50 },
  })
  upstream.respond(() => ({ trouble: { after: 'headers', what: 'hang' } }))
  expect((await errorOf(model.complete(question()))).code).toBe('timeout')
  expect(upstream.requests).toHaveLength(1)
})

it('[LM5] an answer that is none is a failure, and not paid for twice', async () => {
  const { model, upstream } = await openModel()
  const page = Buffer.alloc(64 * 1_024, 'x')
  const answers = [
    ok('<html><body>Welcome to the hotel</body></html>'),
    ok('{"choices":[{"message":{"content":"Half an ans'),
    ok(''),
    ok('null'),
    ok([]),
    ok({ choices: {} }),
    ok({ choices: [null] }),
    ok({ choices: [{ message: 'text' }] }),
    chat({ content: 42 }),
    chat({ content: { text: 'x' } }),
    chat({ content: [{ type: 'text', text: 7 }] }),
    chat({ content: '' }),
    chat({ content: null }),
    { ...ok('not gzip at all'), headers: { 'content-encoding': 'gzip' } },
    { ...ok(`{"choices":[],"x":"${'x'.repeat(10_000_000)}"}`), isGzipped: true },
    {
      body: (function* () {
        for (let sent = 0; sent < 10_000_000; sent += page.length) yield page
      })(),
    },
  ]
  for (const [index, answer] of answers.entries()) {
    upstream.queue(answer)
    const error = await errorOf(model.complete(question()))
    expect(error.code, `answer ${index}`).toBe('unavailable')
  }
  expect(upstream.requests).toHaveLength(answers.length)
})

it('[LM5] so it is with messages', async () => {
  const { model, upstream } = await openModel({ kind: 'anthropic' })
  for (const body of [
    {},
    { content: 'text' },
    { content: [] },
    { content: [{ type: 'tool_use' }] },
  ]) {
    upstream.queue(ok(body))
    expect((await errorOf(model.complete(question()))).code).toBe('unavailable')
  }
  upstream.queue(ok({ content: [], stop_reason: 'refusal' }))
  expect(await errorOf(model.complete(question()))).toMatchObject({
    ...{ code: 'invalid_input', facts: { reason: 'refusal' } },
  })
  upstream.queue(refuse('messages', 529), refuse('messages', 529))
  expect((await model.complete(question())).text).toBe('Noted.')
})

it('[LM5] an error in the coat of a success is an error', async () => {
  const { model, upstream } = await openModel()
  upstream.queue(ok({ error: { code: 502, message: 'upstream' } }))
  expect((await model.complete(question())).text).toBe('Noted.')
  upstream.queue(ok({ error: { code: 400, message: 'bad' } }))
  expect((await errorOf(model.complete(question()))).code).toBe('invalid_input')
  upstream.queue(chat({ content: null, refusal: 'I will not.' }))
  expect((await errorOf(model.complete(question()))).code).toBe('invalid_input')
})

it('[LM6] reports truncation, omits thoughts, and decompresses', async () => {
  const { model, upstream } = await openModel()
  const said = async (...[message, rest]: Parameters<typeof chat>) => {
    upstream.queue(chat(message, rest))
    return (await model.complete(question())).text
  }
  expect(await said({ content: '<think>{"no"}</think>\n{"a":1}' })).toBe('{"a":1}')
  expect(await said({ content: 'No <think>, no </think>.' })).toBe('No <think>, no </think>.')
  const parts = [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: '{"b":2}' },
  ]
  expect(await said({ content: parts })).toBe('{"b":2}')
  upstream.queue(ok({ choices: [{ message: { content: '{"c"' }, finish_reason: 'length' }] }))
  expect(await model.complete(question())).toMatchObject({ text: '{"c"', isTruncated: true })
  upstream.queue(ok({ choices: [{ message: { content: '' }, finish_reason: 'length' }] }))
  expect(await model.complete(question())).toMatchObject({ text: '', isTruncated: true })
  upstream.queue((asked) => ({ ...speak(asked, { text: 'Packed.' }), isGzipped: true }))
  expect((await model.complete(question())).text).toBe('Packed.')
})

it('[LM6] estimates usage that is missing or invalid', async () => {
  const { model, upstream } = await openModel()
  const input = question().messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
  const reports = [undefined, null, 'many', { prompt_tokens: -1, completion_tokens: 1.5 }]
  for (const usage of reports) {
    upstream.queue(chat({ content: 'Four words it is.' }, { usage }))
    const { tokens } = await model.complete(question())
    expect(tokens).toEqual({ input, output: estimateTokens('Four words it is.') })
  }
})

it('[LM7] stops at once when aborted: before, during and between attempts', async () => {
  const { model, upstream, clock } = await openModel()
  const stopped = new AbortController()
  stopped.abort()
  const before = await errorOf(model.complete(question({ signal: stopped.signal })))
  expect(before.code).toBe('cancelled')
  expect(upstream.requests).toHaveLength(0)

  const asking = new AbortController()
  upstream.queue({ trouble: { after: 'headers', what: 'hang' } })
  const asked = errorOf(model.complete(question({ signal: asking.signal })))
  const received = await upstream.request(1)
  asking.abort()
  expect((await asked).code).toBe('cancelled')
  expect(await received.ended).toBe('left')

  const reading = new AbortController()
  upstream.queue({ body: '{"choices": []', trouble: { after: 5, what: 'hang' } })
  const read = errorOf(model.complete(question({ signal: reading.signal })))
  await upstream.request(2)
  reading.abort()
  expect((await read).code).toBe('cancelled')

  const pausing = new AbortController()
  clock.sleep = async () => {
    pausing.abort()
    await new Promise(() => {})
  }
  upstream.queue(refuse('chat', 500))
  const paused = await errorOf(model.complete(question({ signal: pausing.signal })))
  expect(paused.code).toBe('cancelled')
  expect(upstream.requests).toHaveLength(3)
})

it('[LM8] no error contains a key or a text, whatever the provider returns', async () => {
  const { model, upstream } = await openModel({ headers: { 'x-extra': 'another-secret' } })
  const echo = `${KEY} another-secret ${SECRET_WORDS}`
  const word = KEY.replaceAll('-', '_')
  for (const status of [200, 301, 400, 401, 404, 408, 429, 500]) {
    for (const body of [
      echo,
      { error: { message: echo, code: KEY, type: word, status: SECRET_WORDS } },
      { error: echo, code: KEY, details: [{ reason: KEY }] },
      { choices: [{ message: { content: null, refusal: echo } }] },
    ]) {
      upstream.respond(() => refusing(status, body))
      const error = await errorOf(model.complete(question()))
      expect(shown(error)).not.toMatch(/secret|4711|safe opens/)
    }
  }
  upstream.respond(() => ({ body: echo, trouble: { after: 5, what: 'reset' } }))
  expect(shown(await errorOf(model.complete(question())))).not.toMatch(/secret|4711/)
})

it('[LM8] any text can be sent', async () => {
  const { model, upstream } = await openModel()
  const odd = 'half \ud83d, nul \0, "quotes" \u2028'
  await model.complete(
    question({
      messages: [
        { role: 'user', content: odd },
        { role: 'user', content: ' ' },
      ],
    }),
  )
  const [first, second] = upstream.last().body.messages
  expect(first.content).toBe('half \ufffd, nul  , "quotes" \u2028')
  expect(second.content).not.toBe('')
})
