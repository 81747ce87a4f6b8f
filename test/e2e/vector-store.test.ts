/** A server with Qdrant beside its memories, from switching it on to whatever may happen to it. */
import { expect, it, onTestFinished } from 'vitest'
import type { EngineOptions } from '../../src/app/composition.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { keyFor, type Started, start } from '../api/http/http-support.ts'
import { startQdrant } from '../support/qdrant/fake-server.ts'
import { createCli } from './cli/cli-host.ts'

const KEY = 'a-key-that-nobody-may-see'
const MEMORIES = 60

async function startBoth(options: EngineOptions = {}) {
  const qdrant = await startQdrant({ apiKey: KEY })
  onTestFinished(() => qdrant.stop())
  const started = await start({}, { embedding: createHashingEmbedder(), ...options })
  const { engine } = started
  for (let number = 0; number < MEMORIES; number++) {
    await engine.remember({ owner: 'default' }, { content: `The lamp number ${number} is blue.` })
  }
  await engine.admin.reindex()
  return { ...started, qdrant }
}

async function until(started: Started, state: string): Promise<void> {
  await expect
    .poll(async () => (await started.client.get('/api/status')).body.vectors.state, {
      timeout: 15_000,
    })
    .toBe(state)
}

const QUERY = { query: 'Which lamp number is 17?', strategy: 'semantic', limit: 3 }

async function found(started: Started): Promise<unknown> {
  const { body } = await started.client.post('/api/memory/search', QUERY)
  return body.results.map(({ memory }: { readonly memory: { readonly id: string } }) => memory.id)
}

it('[VT11] is switched on by a request, answers, fails and recovers, and no search ever fails', async () => {
  const both = await startBoth()
  const { client, qdrant, engine } = both
  const before = await found(both)
  expect(before).toHaveLength(3)
  const set = { enabled: true, url: qdrant.url, apiKey: KEY, quantization: 'int8' }
  const { status, body } = await client.call('PUT', '/api/settings/qdrant', { body: set })
  expect([status, body.enabled, body.hasApiKey]).toEqual([200, true, true])
  expect(JSON.stringify(body)).not.toContain(KEY)
  expect(['backfilling', 'active']).toContain(body.replica.state)
  await until(both, 'active')
  const asked = () => qdrant.requests.filter(({ line }) => line.includes('/points/query')).length
  const questions = asked()
  expect(await found(both)).toEqual(before)
  expect(asked()).toBeGreaterThan(questions)
  expect((await client.get('/api/settings/qdrant/health')).body).toMatchObject({ ok: true })
  expect((await client.get('/api/memory/engine-status')).body).toMatchObject({
    vectorStore: { backend: 'qdrant' },
    qdrant: { enabled: true, healthy: true },
  })
  const own = await client.post('/api/settings/qdrant/search', { query: QUERY.query, topK: 4 })
  expect(own.body.results).toHaveLength(4)
  expect((await client.get('/api/doctor')).body.problems).toEqual([])

  qdrant.misbehave({ kind: 'answer', status: 500 }, undefined, 1_000)
  expect(await found(both)).toEqual(before)
  await until(both, 'down')
  expect((await client.get('/api/status')).body).toMatchObject({
    state: 'degraded',
    vectors: { backend: 'qdrant', servedBy: 'primary', reason: expect.any(String) },
  })
  await engine.remember({ owner: 'default' }, { content: 'The lamp number 99 is red.' })
  await engine.admin.reindex()
  expect(await found(both)).toHaveLength(3)
  qdrant.heal()
  await until(both, 'active')
  expect((await client.get('/api/doctor')).body.problems).toEqual([])

  qdrant.loseCollections()
  expect(await found(both)).toHaveLength(3)
  await expect
    .poll(async () => (await client.get('/api/doctor')).body.problems, { timeout: 20_000 })
    .toEqual([])
  expect((await client.post('/api/settings/qdrant/cleanup', {})).body).toMatchObject({ ok: true })
  const off = await client.call('PUT', '/api/settings/qdrant', { body: { enabled: false } })
  expect(off.body.replica.state).toBe('off')
  expect(qdrant.mistakes).toEqual([])
}, 60_000)

it('[VT11] a wrong key is refused and reported, and never shown', async () => {
  const both = await startBoth()
  const { client, qdrant } = both
  const set = { enabled: true, url: qdrant.url, apiKey: 'another-key-entirely' }
  const { body } = await client.call('PUT', '/api/settings/qdrant', { body: set })
  expect(body.replica).toMatchObject({ state: 'misconfigured', servedBy: 'primary' })
  expect(body.apiKeyMasked).toBe('***rely')
  expect(await found(both)).toHaveLength(3)
  const result = await Promise.all(
    ['/api/settings', '/api/settings/memory?level=system', '/api/audit', '/api/memory/export'].map(
      (path) => client.get(path),
    ),
  )
  expect(JSON.stringify(result.map(({ body: each }) => each))).not.toContain('another-key')
  const unfit = { url: 'http://127.0.0.1:1', apiKey: 'not a key' }
  expect((await client.call('PUT', '/api/settings/qdrant', { body: unfit })).status).toBe(400)
  expect((await client.get('/api/settings/qdrant')).body.url).toBe(qdrant.url)
  const right = await client.call('PUT', '/api/settings/qdrant', { body: { apiKey: KEY } })
  expect(['backfilling', 'active']).toContain(right.body.replica.state)
  await until(both, 'active')
})

it('[VT12] only who manages the system may see or change it', async () => {
  const { client, engine } = await start({}, { embedding: createHashingEmbedder() })
  const key = await keyFor(engine, 'user', 'ada')
  for (const [method, path] of [
    ['GET', '/api/settings/qdrant'],
    ['PUT', '/api/settings/qdrant'],
    ['GET', '/api/settings/qdrant/health'],
    ['POST', '/api/settings/qdrant/cleanup'],
  ] as const) {
    const body = method === 'GET' ? {} : { body: {} }
    expect((await client.call(method, path, { key, ...body })).status).toBe(403)
  }
  const { vectors } = (await client.get('/api/status', { key })).body
  expect(vectors).toMatchObject({ state: 'off', reason: null, pendingMemories: null })
})

it('[VT3] setting an address is enough, and an invalid one is reported', async () => {
  const both = await startBoth()
  const { client, qdrant, engine } = both
  await client.call('PUT', '/api/settings/qdrant', { body: { apiKey: KEY } })
  await engine.admin.settings.change(null, { 'vectorStore.qdrantUrl': qdrant.url })
  await until(both, 'active')
  await engine.admin.settings.change(null, { 'vectorStore.backend': 'pgvector' })
  await until(both, 'misconfigured')
  expect((await client.get('/api/status')).body.vectors.reason).toContain('PostgreSQL')
  await engine.admin.settings.change(null, { 'vectorStore.backend': 'sqlite-vec' })
  await until(both, 'off')
  const wrong = await client.call('PUT', '/api/settings/qdrant', { body: { url: 'ftp://x' } })
  expect(wrong.status).toBe(400)
})

it('[VT14] the command shows, sets up, tries and cleans, and never prints the key', async () => {
  const qdrant = await startQdrant({ apiKey: KEY })
  onTestFinished(() => qdrant.stop())
  const cli = createCli()
  const environment = { RECOLLECT_EMBEDDING_SOURCE: 'static' }
  const vectors = (words: readonly string[], around = {}) =>
    cli(['vectors', ...words], { environment, ...around })
  await cli(['add', 'The lamp is blue.'], { environment })
  await cli(['reindex'], { environment })
  expect((await vectors([])).out).toMatch(/vector store +the index of the memories/)
  expect((await vectors(['test'])).exit).toBe(13)
  const set = await vectors(['qdrant', '--url', qdrant.url, '--ask-key'], { stdin: `${KEY}\n` })
  expect([set.exit, set.out]).toEqual([0, expect.stringMatching(/qdrant, (?:backfilling|active)/)])
  expect(set.out).toContain('***-see')
  expect((await vectors(['test'])).out).toContain('Ready (')
  const doctor = await cli(['doctor'], { environment })
  const repaired = await cli(['doctor', '--repair'], { environment })
  expect([doctor.err, repaired.exit]).toEqual(['', 0])
  expect((await cli(['doctor'], { environment })).exit).toBe(0)
  expect((await vectors(['cleanup', '--dry-run'])).out).toBe('0 vectors would be removed.\n')
  expect((await cli(['search', 'blue lamp'], { environment })).out).toContain('blue')
  const status = await cli(['status'], { environment })
  expect(status.out).toContain('qdrantUrl')
  expect((await vectors(['off'])).out).toContain('the index of the memories')
  expect((await vectors(['sideways'])).exit).toBe(2)
  expect(`${set.out}${set.err}${status.out}`).not.toContain(KEY)
}, 60_000)
