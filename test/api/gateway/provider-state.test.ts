/** Answers that the provider keeps: all of them lie under the one key of the server, and each is its owner's. */
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { patientStore } from './support/faulty-parts.ts'
import { type GatewaySetup, keyFor, OWNER, setUpGateway } from './support/gateway-harness.ts'
import type { Reply, Respond } from './support/scripted-upstream.ts'
import { PATHS, speak } from './support/wire-format.ts'

const KEPT: Reply = {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ id: 'resp_ada', object: 'response', output: [] }),
}

type Way = { readonly streams?: boolean; readonly isGzipped?: boolean; readonly cutSeed?: number }

const clientOf = ({ baseUrl }: GatewaySetup, key: string, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0, defaultHeaders: headers })

/** Ada asks, and the answer is kept under this id. */
async function make(setup: GatewaySetup, way: Way = {}, id = 'resp_ada'): Promise<void> {
  const { streams = false, isGzipped = false, cutSeed } = way
  const answer: Respond = (request) => ({
    ...speak(request, { text: 'Noted.', id, ...(cutSeed === undefined ? {} : { cutSeed }) }),
    isGzipped,
  })
  setup.upstream.queue(answer)
  const { responses } = clientOf(setup, setup.key)
  const asked = { model: 'gpt-test', input: 'I live in Lisbon' }
  if (!streams) {
    expect((await responses.create(asked)).id).toBe(id)
    return
  }
  for await (const event of await responses.create({ ...asked, stream: true })) void event
}

const readerFor = async ({ engine }: GatewaySetup, home = OWNER) =>
  (await engine.admin.keys.create({ name: 'reader', defaultOwner: home, role: 'reader' })).secret

describe.each(['memory on', 'memory off'] as const)('with %s', (mode) => {
  it.each<Way>([
    {},
    { streams: true },
    { isGzipped: true },
    { streams: true, isGzipped: true },
    { cutSeed: 5 },
    { streams: true, cutSeed: 5 },
  ])('[GW18] its owner reads, lists, cancels and deletes it: made %j', async (way) => {
    const setup = await setUpGateway(mode)
    await make(setup, way)
    setup.upstream.respond(() => KEPT)
    const { responses } = clientOf(setup, setup.key)
    expect((await responses.retrieve('resp_ada')).id).toBe('resp_ada')
    await responses.inputItems.list('resp_ada')
    await responses.cancel('resp_ada')
    await responses.delete('resp_ada')
    expect(setup.upstream.requests.slice(1).map(({ method, path }) => [method, path])).toEqual([
      ['GET', '/v1/responses/resp_ada'],
      ['GET', '/v1/responses/resp_ada/input_items'],
      ['POST', '/v1/responses/resp_ada/cancel'],
      ['DELETE', '/v1/responses/resp_ada'],
    ])
  })

  it('[GW18] to another owner it is not there', async () => {
    const setup = await setUpGateway(mode)
    await make(setup)
    const { responses } = clientOf(setup, await keyFor(setup.engine, 'grace'))
    for (const id of ['resp_ada', 'resp_unheard_of']) {
      for (const asking of [
        () => responses.retrieve(id),
        () => responses.inputItems.list(id),
        () => responses.cancel(id),
        () => responses.delete(id),
      ]) {
        await expect(asking()).rejects.toMatchObject({
          status: 404,
          type: 'invalid_request_error',
          message: `404 Response with id '${id}' not found.`,
        })
      }
    }
    expect(setup.upstream.requests).toHaveLength(1)
  })

  it('[GW18] another owner cannot go on from it, and is told as the API tells it', async () => {
    const setup = await setUpGateway(mode)
    await make(setup)
    const asked = { model: 'gpt-test', input: 'Go on', previous_response_id: 'resp_ada' }
    const foreign = clientOf(setup, await keyFor(setup.engine, 'grace'))
    await expect(foreign.responses.create(asked)).rejects.toMatchObject({
      status: 400,
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    })
    expect(setup.upstream.requests).toHaveLength(1)
    await clientOf(setup, setup.key).responses.create(asked)
    // What was made elsewhere may be anybody's.
    const elsewhere = { ...asked, previous_response_id: 'resp_elsewhere' }
    await expect(foreign.responses.create(elsewhere)).rejects.toMatchObject({
      ...{ status: 400, code: 'previous_response_not_found' },
    })
    expect(setup.upstream.requests).toHaveLength(2)
  })
})

it('[GW18] who may only read can neither cancel nor delete', async () => {
  const setup = await setUpGateway()
  await make(setup)
  const { responses } = clientOf(setup, await readerFor(setup))
  await expect(responses.delete('resp_ada')).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError)
  await expect(responses.cancel('resp_ada')).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError)
  setup.upstream.queue(KEPT)
  expect((await responses.retrieve('resp_ada')).id).toBe('resp_ada')
})

it('[GW18] a key reaches those of the agents it may act for, when it names them', async () => {
  const setup = await setUpGateway()
  await make(setup)
  const { secret } = await setup.engine.admin.keys.create({
    ...{ name: 'two agents', defaultOwner: 'grace', role: 'agent' },
    actsFor: [OWNER],
  })
  const foreign = clientOf(setup, secret).responses.retrieve('resp_ada')
  await expect(foreign).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  setup.upstream.queue(KEPT)
  const acting = clientOf(setup, secret, { 'x-recollect-agent': OWNER })
  expect((await acting.responses.retrieve('resp_ada')).id).toBe('resp_ada')
})

it('[GW18] after a restart, memory still knows whose it is', async () => {
  const settings = { 'server.requestsPerMinute': 0, 'gateway.enabled': true }
  const engine = await createEngine({ embedding: false, settings })
  const before = await setUpGateway('memory on', { engine })
  await make(before)
  await engine.conversations.flush()
  const after = await setUpGateway('memory on', { engine })
  after.upstream.queue(KEPT)
  expect((await clientOf(after, before.key).responses.retrieve('resp_ada')).id).toBe('resp_ada')
  const grace = clientOf(after, await keyFor(engine, 'grace'))
  await expect(grace.responses.retrieve('resp_ada')).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  const goingOn = { model: 'gpt-test', input: 'Go on', previous_response_id: 'resp_ada' }
  await expect(grace.responses.create(goingOn)).rejects.toBeInstanceOf(OpenAI.BadRequestError)
})

it('[GW18] while the store fails, a question passes and what is kept stays shut', async () => {
  const { part, become } = patientStore(createInMemoryStore())
  onTestFinished(() => become('well'))
  const settings = { 'server.requestsPerMinute': 0 }
  const engine = await createEngine({ store: part, embedding: false, settings })
  const setup = await setUpGateway('memory off', { engine, auth: 'off' })
  become('fails')
  const { responses } = clientOf(setup, 'none')
  await responses.create({ model: 'm', input: 'Go on', previous_response_id: 'resp_any' })
  await expect(responses.retrieve('resp_any')).rejects.toMatchObject({ status: 503 })
  expect(setup.upstream.requests).toHaveLength(1)
})

it('[GW18] the provider that made it is asked for it', async () => {
  const providers = (url: string) => ({
    openai: { kind: 'openai', baseUrl: `${url}/v1`, key: 'sk-upstream' },
    other: { kind: 'openai', baseUrl: `${url}/other/v1`, key: 'sk-other' },
  })
  const setup = await setUpGateway('memory off', { providers })
  setup.upstream.queue((request) => speak({ ...request, path: '/v1/responses' }, { id: 'resp_o' }))
  const { responses } = clientOf(setup, setup.key)
  await responses.create({ model: 'other/gpt-test', input: 'Hi' })
  setup.upstream.queue(KEPT)
  await responses.retrieve('resp_o')
  expect(setup.upstream.last()).toMatchObject({
    path: '/other/v1/responses/resp_o',
    headers: { authorization: 'Bearer sk-other' },
  })
})

describe('under a key that the client brings', () => {
  const providers = (url: string) => ({ openai: { kind: 'openai', baseUrl: `${url}/v1` } })

  it('[GW18] the provider decides', async () => {
    const setup = await setUpGateway('memory off', { providers })
    const own = clientOf(setup, 'sk-of-the-client', { 'x-recollect-key': setup.key })
    setup.upstream.queue(KEPT)
    await own.responses.retrieve('resp_any')
    await own.responses.create({ model: 'm', input: 'Go on', previous_response_id: 'resp_any' })
    expect(setup.upstream.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-of-the-client',
      'Bearer sk-of-the-client',
    ])
  })

  it('[GW18] and without one, it is as under the key of the server', async () => {
    const setup = await setUpGateway('memory off', { providers })
    const without = clientOf(setup, setup.key).responses.retrieve('resp_any')
    await expect(without).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    expect(setup.upstream.requests).toHaveLength(0)
  })
})

/** A request that refers to state of the provider, and an answer that hands out its id. */
type State = {
  readonly path: string
  /** Makes the provider keep state. */
  readonly opening?: object
  readonly refer: (id: string) => object
  readonly issue: (id: string) => object
  readonly field: string
}

const RESPONSES = {
  path: PATHS.responses,
  issue: (id: string) => ({
    id: 'resp_made',
    object: 'response',
    output: [{ id, type: 'message' }],
  }),
}
const MESSAGES = { path: PATHS.messages, opening: { thread: { type: 'new' } } }
const inputOf = (item: object) => ({ input: [item, { role: 'user', content: 'Go on' }] })
const contentOf = (content: unknown) => ({ messages: [{ role: 'user', content }] })

const STATES: { readonly [name: string]: State } = {
  'an item': {
    ...{ ...RESPONSES, field: 'input[0].id' },
    refer: (id) => inputOf({ type: 'item_reference', id }),
  },
  'a stored reasoning item': {
    ...{ ...RESPONSES, field: 'input[0].id' },
    refer: (id) => inputOf({ type: 'reasoning', id, summary: [] }),
  },
  'a conversation': {
    ...{ ...RESPONSES, field: 'conversation' },
    refer: (id) => ({ input: 'Go on', conversation: id }),
    issue: (id) => ({ id: 'resp_made', object: 'response', conversation: { id }, output: [] }),
  },
  'a conversation, as an object': {
    ...{ ...RESPONSES, field: 'conversation' },
    refer: (id) => ({ input: 'Go on', conversation: { id } }),
    issue: (id) => ({ id: 'resp_made', object: 'response', conversation: { id }, output: [] }),
  },
  'a container': {
    ...{ ...RESPONSES, field: 'tools[0].container' },
    refer: (id) => ({ input: 'Go on', tools: [{ type: 'code_interpreter', container: id }] }),
    issue: (id) => ({
      ...{ id: 'resp_made', object: 'response' },
      output: [{ id: 'ci_1', type: 'code_interpreter_call', container_id: id }],
    }),
  },
  'a file': {
    ...{ ...RESPONSES, field: 'input[0].content.file_id' },
    refer: (id) => inputOf({ role: 'user', content: [{ type: 'input_file', file_id: id }] }),
    issue: (id) => ({
      ...{ id: 'resp_made', object: 'response' },
      output: [
        {
          ...{ id: 'msg_1', type: 'message' },
          content: [
            {
              type: 'output_text',
              annotations: [{ type: 'container_file_citation', file_id: id }],
            },
          ],
        },
      ],
    }),
  },
  'a thread': {
    ...{ ...MESSAGES, field: 'thread.previous_message_id' },
    refer: (id) => ({
      ...contentOf('Go on'),
      thread: { type: 'continue', previous_message_id: id },
    }),
    issue: (id) => ({ id, type: 'message', role: 'assistant', content: [] }),
  },
  'a container of Messages': {
    ...{ ...MESSAGES, field: 'container' },
    refer: (id) => ({ ...contentOf('Go on'), container: id }),
    issue: (id) => ({ id: 'msg_1', type: 'message', content: [], container: { id } }),
  },
  'a file of Messages': {
    ...{ ...MESSAGES, field: 'messages.0.content.source.file_id' },
    refer: (id) => contentOf([{ type: 'document', source: { type: 'file', file_id: id } }]),
    issue: (id) => ({
      ...{ id: 'msg_1', type: 'message' },
      content: [{ type: 'code_execution_tool_result', content: { content: [{ file_id: id }] } }],
    }),
  },
  audio: {
    ...{ path: PATHS.chat, field: 'messages[0].audio.id' },
    opening: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    refer: (id) => ({
      messages: [
        { role: 'assistant', audio: { id } },
        { role: 'user', content: 'Go on' },
      ],
    }),
    issue: (id) => ({
      id: 'chatcmpl_1',
      choices: [{ message: { role: 'assistant', audio: { id } } }],
    }),
  },
}

describe.each(Object.entries(STATES))('%s that a provider keeps', (_, state) => {
  const { path, opening = {}, refer, issue, field } = state
  const first =
    path === PATHS.responses ? { input: 'Hi' } : { messages: [{ role: 'user', content: 'Hi' }] }
  const post = async (setup: GatewaySetup, key: string, body: object, headers = {}) => {
    const response = await fetch(`${setup.baseUrl.replace(/\/v1$/, '')}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'gpt-test', max_tokens: 9, ...body }),
    })
    return { status: response.status, text: await response.text() }
  }
  const open = async (options: Parameters<typeof setUpGateway>[1] = {}, isStream = false) => {
    const setup = await setUpGateway('memory off', options)
    const { upstream, key } = setup
    const answer = issue('state_1')
    const type = isStream ? 'text/event-stream' : 'application/json'
    const body = isStream ? toEvents(path, answer) : JSON.stringify(answer)
    upstream.queue({ headers: { 'content-type': type }, body })
    expect((await post(setup, key, { ...first, ...opening })).status).toBe(200)
    return setup
  }

  it.each([false, true])(
    '[GW18.5] belongs to the owner that got it: streamed %s',
    async (isStream) => {
      const setup = await open({}, isStream)
      const { upstream, key, engine } = setup
      expect((await post(setup, key, refer('state_1'))).status).toBe(200)
      const refused = await post(setup, await keyFor(engine, 'grace'), refer('state_1'))
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(field)])
      expect(upstream.requests).toHaveLength(2)
    },
  )

  it('[GW18.6] is refused where nobody knows whose it is, but to who reaches all owners', async () => {
    const setup = await setUpGateway('memory off')
    const { upstream, key, engine } = setup
    expect((await post(setup, key, refer('state_9'))).status).toBe(400)
    expect(upstream.requests).toHaveLength(0)
    const input = { name: 'root', defaultOwner: OWNER, role: 'superadmin' } as const
    const { secret } = await engine.admin.keys.create(input)
    expect((await post(setup, secret, refer('state_9'))).status).toBe(200)
  })

  it('[GW18.4] passes under a key of the client', async () => {
    const kind = path === PATHS.messages ? 'anthropic' : 'openai'
    const providers = (url: string) => ({ own: { kind, baseUrl: `${url}/v1` } })
    const setup = await setUpGateway('memory off', { providers })
    const headers = { 'x-recollect-key': setup.key }
    expect((await post(setup, 'sk-client', refer('state_9'), headers)).status).toBe(200)
  })

  it('[GW18.5] still belongs to its owner after a restart', async () => {
    const settings = { 'server.requestsPerMinute': 0, 'gateway.enabled': false }
    const engine = await createEngine({ embedding: false, settings })
    const { key } = await open({ engine })
    const stored = () => engine.conversations.getResponseOwner({ owner: OWNER }, 'state_1')
    await expect.poll(stored).toBe('own')
    const after = await setUpGateway('memory off', { engine })
    expect((await post(after, key, refer('state_1'))).status).toBe(200)
    const grace = await keyFor(engine, 'grace')
    expect((await post(after, grace, refer('state_1'))).status).toBe(400)
  })
})

/** The answer as a stream that hands out the same ids. */
function toEvents(path: string, answer: object): string {
  const whole = answer as { readonly output?: readonly object[] }
  const events =
    path === PATHS.responses
      ? [
          { type: 'response.created', response: { ...answer, output: [] } },
          ...(whole.output ?? []).map((item) => ({ type: 'response.output_item.done', item })),
          { type: 'response.completed', response: answer },
        ]
      : path === PATHS.messages
        ? [{ type: 'message_start', message: answer }, { type: 'message_stop' }]
        : [JSON.parse(JSON.stringify(answer).replace('"message"', '"delta"')) as object]
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
}

it('[GW18.5] counting tokens refers to nothing of others', async () => {
  const setup = await setUpGateway('memory off')
  const source = { type: 'file', file_id: 'file_9' }
  const body = { model: 'claude-test', ...contentOf([{ type: 'document', source }]) }
  const response = await fetch(`${setup.baseUrl}/messages/count_tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${setup.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(400)
  expect(setup.upstream.requests).toHaveLength(0)
})

it.each([
  ['PUT', '/responses/resp_ada', 'GET, DELETE'],
  ['PATCH', '/responses/resp_ada', 'GET, DELETE'],
  ['POST', '/responses/resp_ada', 'GET, DELETE'],
  ['DELETE', '/responses/resp_ada/input_items', 'GET'],
  ['GET', '/responses/resp_ada/cancel', 'POST'],
])('[GW18] %s %s is not passed on', async (method, path, allowed) => {
  const setup = await setUpGateway('memory off')
  await make(setup)
  const headers = { authorization: `Bearer ${setup.key}` }
  const response = await fetch(`${setup.baseUrl}${path}`, { method, headers })
  expect([response.status, response.headers.get('allow')]).toEqual([405, allowed])
  expect(setup.upstream.requests).toHaveLength(1)
})
