/** Answers that the provider keeps: all of them lie under the one key of the server, and each is its owner's. */
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { patientStore } from './support/faulty-parts.ts'
import { type GatewaySetup, keyFor, OWNER, setUpGateway } from './support/gateway-harness.ts'
import type { Reply, Respond } from './support/scripted-upstream.ts'
import { speak } from './support/wire-format.ts'

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
    // What was made elsewhere may be anybody's, and its id cannot be guessed.
    await foreign.responses.create({ ...asked, previous_response_id: 'resp_elsewhere' })
    expect(setup.upstream.requests).toHaveLength(3)
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
