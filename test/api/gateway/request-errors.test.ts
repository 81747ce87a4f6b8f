/** What can't be answered is refused as the called API would refuse it, and leaves nothing behind. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { type GatewaySetup, keyFor, setUpGateway } from './support/gateway-harness.ts'

/** Stands in every request, and must not be found anywhere afterwards. */
const MARK = 'I prefer zebra-striped pyjamas.'
const CHAT = { model: 'gpt-test', messages: [{ role: 'user' as const, content: MARK }] }
const MESSAGES = { ...CHAT, model: 'claude-test', max_tokens: 5 }

type Sent = {
  /** In place of what the library would send. */
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly fields?: object
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The error that each library makes of the answer to such a request. */
async function errors(setup: GatewaySetup, sent: Sent) {
  const fetching: typeof fetch = (url, init) =>
    fetch(url, sent.body === undefined ? init : { ...init, body: sent.body })
  const { key: apiKey = setup.key, headers: defaultHeaders = {} } = sent
  const shared = { apiKey, maxRetries: 0, fetch: fetching, defaultHeaders }
  const openai = new OpenAI({ ...shared, baseURL: setup.baseUrl })
  const anthropic = new Anthropic({ ...shared, authToken: null, baseURL: setup.url })
  const { model, messages } = CHAT
  return {
    chat: await failure(openai.chat.completions.create({ ...CHAT, ...sent.fields })),
    responses: await failure(
      openai.responses.create({ model, input: messages, ...renamed(sent.fields) }),
    ),
    messages: await failure(anthropic.messages.create({ ...MESSAGES, ...sent.fields })),
  }
}

/** Responses has `input` where the others have `messages`. */
function renamed(fields: object = {}): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name === 'messages' ? 'input' : name, value]),
  )
}

async function failure(asking: PromiseLike<unknown>): Promise<unknown> {
  try {
    await asking
  } catch (error) {
    return error
  }
  throw new Error('It was answered.')
}

type Kind = 'BadRequestError' | 'AuthenticationError' | 'PermissionDeniedError' | 'NotFoundError'

const ANTHROPIC_TYPES = {
  BadRequestError: 'invalid_request_error',
  AuthenticationError: 'authentication_error',
  PermissionDeniedError: 'permission_error',
  NotFoundError: 'not_found_error',
} as const

async function expectRefused(setup: GatewaySetup, sent: Sent, kind: Kind): Promise<void> {
  const { chat, responses, messages } = await errors(setup, sent)
  for (const error of [chat, responses]) {
    expect(error).toBeInstanceOf(OpenAI[kind])
    expect(error).toMatchObject({ type: 'invalid_request_error', requestID: expect.any(String) })
    expect(String((error as Error).message)).toMatch(/^\d{3} \S/) // an OpenAI.APIError, as was just seen
  }
  expect(messages).toBeInstanceOf(Anthropic[kind])
  expect(messages).toMatchObject({
    error: { type: 'error', error: { type: ANTHROPIC_TYPES[kind], message: expect.any(String) } },
  })
  await expectNothingKept(setup)
}

async function expectNothingKept({ engine, upstream }: GatewaySetup): Promise<void> {
  await engine.conversations.flush()
  expect(upstream.requests).toHaveLength(0)
  let kept = ''
  for await (const line of engine.admin.export(null)) kept += line
  expect(kept).not.toContain('zebra')
}

const INVALID_UTF8 = Uint8Array.from([
  ...Buffer.from('{"model":"gpt-test","max_tokens":5,"messages":[{"role":"user","content":"zebra '),
  0xc3,
  0x28,
  ...Buffer.from('"}]}'),
])

describe('bad input', () => {
  it.each<[string, Sent]>([
    [
      'malformed JSON',
      { body: `{"model":"gpt-test","messages":[{"role":"user","content":"zebra"}` },
    ],
    ['nothing at all', { body: ' ' }],
    ['a list', { body: '["zebra"]' }],
    ['null', { body: 'null' }],
    ['bytes that are no text', { body: INVALID_UTF8 }],
    ['no model', { fields: { model: undefined } }],
    ['a model that is a number', { fields: { model: 7 } }],
    ['an empty model', { fields: { model: '' } }],
    ['no messages', { fields: { messages: undefined } }],
    ['messages that are a text in a list', { fields: { messages: ['zebra'] } }],
    [
      'messages that are an object',
      { body: '{"model":"m","max_tokens":5,"messages":{},"input":{}}' },
    ],
    ['messages that are a number', { body: '{"model":"m","max_tokens":5,"messages":7,"input":7}' }],
    ['messages that are numbers', { fields: { messages: [7] } }],
    [
      'a message whose content is a number',
      { fields: { messages: [{ role: 'user', content: 7 }] } },
    ],
    ['a message whose role is a number', { fields: { messages: [{ role: 7, content: MARK }] } }],
  ])('[GW12] is refused as a bad request: %s', async (_, sent) => {
    await expectRefused(await setUpGateway(), sent, 'BadRequestError')
  })

  it('[GW12] is refused where no provider has the model', async () => {
    const providers = (url: string) => ({
      other: { kind: 'openai', baseUrl: `${url}/v1`, key: 'sk-upstream' },
    })
    const setup = await setUpGateway('memory on', { providers })
    await expectRefused(setup, { fields: { model: 'nowhere/model' } }, 'NotFoundError')
  })

  it.each(['', 'rc_0_nothing', 'sk-something', 'ключ'].filter((key) => /^[\x20-\x7e]+$/.test(key)))(
    '[GW12] is refused with a key that is not known: %s',
    async (key) => {
      await expectRefused(await setUpGateway(), { key }, 'AuthenticationError')
    },
  )

  it('[GW12] is refused when the key may not act for the agent', async () => {
    const setup = await setUpGateway()
    const key = await keyFor(setup.engine, 'grace')
    for (const header of ['x-recollect-agent', 'x-osaurus-agent-id']) {
      await expectRefused(setup, { key, headers: { [header]: 'ada' } }, 'PermissionDeniedError')
    }
  })

  it('[GW12] is refused past the limit, and answered up to it', async () => {
    const setup = await setUpGateway('memory on', { bodyBytesMax: 20_000 })
    const long = 'zebra '.repeat(4_000)
    const { chat, responses, messages } = await errors(setup, {
      fields: { messages: [{ role: 'user', content: long }] },
    })
    for (const error of [chat, responses]) {
      expect(error).toBeInstanceOf(OpenAI.APIError)
      expect(error).toMatchObject({ status: 413, type: 'invalid_request_error' })
    }
    expect(messages).toBeInstanceOf(Anthropic.ContentTooLargeError)
    expect(messages).toMatchObject({ error: { error: { type: 'request_too_large' } } })
    await expectNothingKept(setup)
    const openai = new OpenAI({ baseURL: setup.baseUrl, apiKey: setup.key, maxRetries: 0 })
    const content = 'y'.repeat(19_000)
    await openai.chat.completions.create({ ...CHAT, messages: [{ role: 'user', content }] })
    expect(setup.upstream.requests).toHaveLength(1)
  })

  it('[GW12] leaves the server as it was', async () => {
    const setup = await setUpGateway()
    for (const body of ['{', '[]', '{"model":1}']) await errors(setup, { body })
    await expectNothingKept(setup)
    const openai = new OpenAI({ baseURL: setup.baseUrl, apiKey: setup.key, maxRetries: 0 })
    const answer = await openai.chat.completions.create(CHAT)
    expect(answer.choices[0]?.message.content).toBe('Noted.')
  })
})
