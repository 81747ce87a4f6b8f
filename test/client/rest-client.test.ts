/** The REST client against real servers, and against servers that fail on purpose. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { OPERATIONS } from '../../src/api/operations/index.ts'
import { ROUTES } from '../../src/client/api-types.ts'
import { createClient, RecollectError } from '../../src/client/index.ts'
import { start } from '../api/http/http-support.ts'

const ADA = { owner: 'my-app', user: 'ada' }

async function startClient() {
  const { url, admin, engine } = await start()
  return { engine, url, client: createClient({ url, apiKey: admin }) }
}

/** Answers request number n with `answer(n)`. */
async function startFaulty(
  answer: (number: number, request: IncomingMessage, response: ServerResponse) => void,
) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(requests.length, request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  return { requests, url: `http://127.0.0.1:${port}` }
}

function send(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

const BUSY = { error: { code: 'busy', message: 'Locked.', details: [], retryable: true } }

describe('against a server', () => {
  it('[KL1] remembers, recalls, edits, forgets, restores and undoes', async () => {
    const { client, engine } = await startClient()
    const { outcome, memory } = await client.remember(ADA, {
      content: 'I prefer tea over coffee.',
      category: 'preference',
    })
    expect(outcome).toBe('create')
    expect(await engine.get(ADA, memory.id)).toMatchObject({ content: memory.content })
    const found = await client.recall(ADA, { text: 'tea', categories: ['preference'], limit: 3 })
    expect(found.memories.map((each) => each.memory.id)).toEqual([memory.id])
    expect(await client.get(ADA, memory.id)).toMatchObject({ id: memory.id })
    expect(await client.get(ADA, 'mem_none')).toBeNull()

    const edited = await client.edit(ADA, memory.id, { importance: 9 }, { version: 1 })
    expect(edited).toMatchObject({ importance: 9, version: 2 })
    await client.undo(ADA, edited.change)
    expect(await client.get(ADA, memory.id)).toMatchObject({ importance: memory.importance })
    await client.forget(ADA, memory.id)
    expect((await client.list(ADA)).rows).toEqual([])
    expect((await client.restore(ADA, memory.id)).status).toBe('active')
    const page = await client.list(ADA, { contains: 'tea', statuses: ['active'], limit: 1 })
    expect(page).toMatchObject({ total: 1, rows: [{ id: memory.id }] })
  })

  it('[KL1] learns, and builds the context of a prompt', async () => {
    const { client } = await startClient()
    const { remembered } = await client.learn(ADA, 'I live in Berlin.')
    expect(remembered.map(({ memory }) => memory.content)).toEqual(['I live in Berlin'])
    await client.call('settings.change', { level: 'system', 'hooks.recallEnabled': true })
    await client.call('settings.change', { level: 'system', 'hooks.captureEnabled': true })
    const messages = [{ role: 'user', content: 'Remember that I am allergic to nuts.' }]
    const { captured } = await client.conversations.captureMessages(ADA, messages)
    expect(captured).toHaveLength(1)
    const { block } = await client.conversations.recallForPrompt(ADA, 'Where in Berlin do I live?')
    expect(block).toContain('I live in Berlin')
    expect((await client.status()).state).toBe('ok')
  })

  it('[KL1] recalls turns of conversations beside memories', async () => {
    const { client } = await startClient()
    const turns = [{ user: 'We repainted the kitchen in sage green.' }]
    await client.call('memory.ingest', {
      ...{ agent_id: ADA.owner, user: ADA.user, conversation_id: 'monday', turns },
      skip_extraction: true,
    })
    const query = { text: 'kitchen', include: 'conversations' } as const
    const { memories } = await client.recall(ADA, query)
    expect(memories[0]?.memory).toMatchObject({
      type: 'turn',
      content: turns[0]?.user,
      role: 'user',
      sessionId: 'monday',
    })
  })

  it('[KL2] has a route for every operation', () => {
    const routes = OPERATIONS.map(({ name, http, isSecret }) => {
      const isRepeatable = http.method === 'GET' || (http.stream === undefined && isSecret !== true)
      return [name, { method: http.method, path: http.path, isRepeatable }]
    })
    expect(ROUTES).toEqual(Object.fromEntries(routes))
  })

  it('[KL2] refuses an operation that does not exist', async () => {
    const { client } = await startClient()
    const call = client.call('memory.nothing' as 'memory.get', { id: 'x' })
    await expect(call).rejects.toThrow('must be an operation')
  })

  it('[KL6] moves an export into another owner, line by line', async () => {
    const { client } = await startClient()
    await client.remember(ADA, { content: 'I prefer tea over coffee.' })
    const copied = await client.import({ owner: 'copy' }, client.export({ owner: ADA.owner }))
    expect(copied).toBeDefined()
    expect((await client.list({ owner: 'copy' })).rows.map(({ content }) => content)).toEqual([
      'I prefer tea over coffee.',
    ])
  })

  it('[KL6] reads changes as they come', async () => {
    const { client } = await startClient()
    const changes = client.changes()[Symbol.asyncIterator]()
    const first = changes.next()
    // The stream may not be open yet: writes go on until one is seen.
    let isSeen = false
    const seen = first.then((change) => {
      isSeen = true
      return change
    })
    for (let count = 0; !isSeen && count < 100; count++) {
      await client.remember(ADA, { content: `Ticket ${count} is about billing.` })
    }
    expect((await seen).value?.kinds).toContain('memory')
    await changes.return?.()
  })

  it('[KL5] throws the error of the server', async () => {
    const { client, url } = await startClient()
    const wrong = client.remember(ADA, { content: 'x', importance: 99 })
    await expect(wrong).rejects.toMatchObject({
      ...{ name: 'RecollectError', code: 'invalid_input', status: 400, retryable: false },
      details: [{ field: 'importance' }],
      requestId: expect.stringMatching(/^req_/),
    })
    const stranger = createClient({ url, apiKey: 'rc_agent_unknown' })
    await expect(stranger.status()).rejects.toMatchObject({ code: 'unauthenticated', status: 401 })
  })
})

describe('against a server that fails', () => {
  it('[KL3] repeats a write under one idempotency key until it succeeds', async () => {
    const { requests, url } = await startFaulty((number, _, response) =>
      number < 3
        ? send(response, 503, BUSY, { 'retry-after': '0' })
        : send(response, 201, { success: true, id: 'mem_1' }),
    )
    const client = createClient({ url })
    expect(await client.remember(ADA, { content: 'x' })).toMatchObject({ id: 'mem_1' })
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[\w-]{36}$/)
  })

  it('[KL3] does not repeat a write that the server cannot recognize', async () => {
    const { requests, url } = await startFaulty((_, __, response) => send(response, 503, BUSY))
    const created = createClient({ url }).call('key.create', { name: 'app', home: 'app' })
    await expect(created).rejects.toMatchObject({ code: 'busy' })
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined])
  })

  it('[KL3.1] gives up after the retries that the options allow', async () => {
    const { requests, url } = await startFaulty((_, request) => request.socket.destroy())
    const client = createClient({ url, retries: 1 })
    const failed = client.status()
    await expect(failed).rejects.toMatchObject({ code: 'unreachable', status: 0, retryable: true })
    expect(requests).toHaveLength(2)
  })

  it('[KL3.3] does not repeat what another attempt cannot heal', async () => {
    const { requests, url } = await startFaulty((_, __, response) =>
      send(response, 400, { error: { ...BUSY.error, code: 'invalid_input', retryable: false } }),
    )
    await expect(createClient({ url }).status()).rejects.toBeInstanceOf(RecollectError)
    expect(requests).toHaveLength(1)
  })

  it('[KL3.3] does not wait longer than a minute for a server that asks for more', async () => {
    const { requests, url } = await startFaulty((_, __, response) =>
      send(response, 429, BUSY, { 'retry-after': '3600' }),
    )
    const failed = createClient({ url }).status()
    await expect(failed).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 })
    expect(requests).toHaveLength(1)
  })

  it('[KL4] ends with its signal, also between attempts', async () => {
    const abort = new AbortController()
    const { url } = await startFaulty((_, __, response) => {
      send(response, 503, BUSY, { 'retry-after': '30' })
      setTimeout(() => abort.abort(), 50)
    })
    const stopped = createClient({ url }).status({ signal: abort.signal })
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
    const silent = await startFaulty(() => {})
    const signal = AbortSignal.timeout(20)
    const waiting = createClient({ url: silent.url }).status({ signal })
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('[KL4] ends with timeout when no answer begins', async () => {
    const { url } = await startFaulty(() => {})
    const late = createClient({ url, timeoutMs: 20, retries: 0 }).status()
    await expect(late).rejects.toMatchObject({ code: 'timeout', status: 0 })
  })

  it('[KL5] names the status of an answer that is not of Recollect', async () => {
    const { url } = await startFaulty((_, __, response) => response.writeHead(404).end('nothing'))
    await expect(createClient({ url }).status()).rejects.toMatchObject({
      code: 'unavailable',
      status: 404,
    })
    expect(() => createClient({ url: 'memory.db' })).toThrow('must be an http or https address')
  })
})

const BUILT = 'dist/client/index.js'
it.skipIf(!existsSync(BUILT))('[KL7] stands alone (skipped when dist is not built)', () => {
  expect(readFileSync(BUILT, 'utf8')).not.toMatch(/^import\b|^export .* from\b|\brequire\(/m)
})
