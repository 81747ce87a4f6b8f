/** Behavior that clients of the described systems rely on. */
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/app/composition.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { AppError } from '../../src/lib/errors.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { keyFor, start } from '../api/http/http-support.ts'
import { CLIENTS, openHost } from '../api/mcp/mcp-support.ts'
import { createCli } from '../e2e/cli/cli-host.ts'

it('[PO54] OmniRoute: the strategy `semantic` falls back to keywords without vectors, and says so', async () => {
  const { client, engine } = await start()
  await engine.remember({ owner: 'default' }, { content: 'The spare key is under the mat.' })
  const preview = async (strategy: string) =>
    (await client.post('/api/memory/retrieve-preview', { query: 'spare key', strategy })).body
  const fallback = await preview('semantic')
  expect(fallback.memories).toMatchObject([{ content: 'The spare key is under the mat.' }])
  expect(fallback.resolution).toMatchObject({
    ...{ degraded: true, strategyUsed: 'keyword' },
    fallbackReason: 'there is no embedding model',
  })
  expect((await preview('keyword')).resolution).toMatchObject({
    degraded: false,
    fallbackReason: null,
  })
  expect((await preview('recent')).resolution).toMatchObject({
    degraded: false,
    fallbackReason: null,
  })
})

it('[PO54] OmniRoute: an upsert by key moves the memory to the given session', async () => {
  const { client } = await start()
  const add = (content: string, sessionId: string) =>
    client.post('/api/memory', { key: 'editor', content, sessionId })
  await add('uses vim', 's1')
  const { body } = await add('uses emacs', 's2')
  expect(body).toMatchObject({ outcome: 'update', memory: { sessionId: 's2' } })
})

it('[PO54] OmniRoute: settings survive GET and PUT unchanged', async () => {
  const { client } = await start()
  for (const path of ['/api/settings/memory', '/api/settings/qdrant']) {
    const before = (await client.get(path)).body
    const { hasApiKey: _, apiKeyMasked: __, ...fields } = before
    const put = await client.call('PUT', path, { body: fields })
    expect([path, put.status]).toEqual([path, 200])
    expect((await client.get(path)).body).toEqual(before)
  }
})

it('[PO54] OmniRoute: `embedding-models` lists each model once', async () => {
  const { client } = await start({
    embeddingProviders: [
      { provider: 'openai', hasKey: true, models: [{ id: 'openai/m', name: 'm', dimensions: 3 }] },
    ],
  })
  const { body } = await client.get('/api/settings/qdrant/embedding-models')
  expect(body.models).toEqual([{ value: 'openai/m', label: 'openai: m' }])
})

it('[PO54] OmniRoute: the constant k of rank fusion can be 0', async () => {
  const engine = await createEngine({
    embedding: false,
    settings: { 'recall.fusion': 'rrf', 'recall.rrfK': 0 },
  })
  onTestFinished(() => engine.close())
  await engine.remember({ owner: 'ada' }, { content: 'Ada likes maps.' })
  const { memories } = await engine.recall({ owner: 'ada' }, { text: 'maps' })
  expect(memories.map(({ score }) => Number.isFinite(score))).toEqual([true])
})

it('[PO54] OmniRoute: extraction can be previewed without storing', async () => {
  const { client, engine } = await start()
  const text = 'I live in Lisbon.'
  const { body } = await client.post('/api/memory/learn', { text, dryRun: true })
  expect(body.remembered).toMatchObject([{ memory: { content: 'I live in Lisbon' } }])
  expect(
    (await engine.learn({ owner: 'default' }, text, { dryRun: true })).remembered,
  ).toHaveLength(1)
  expect((await engine.list({ owner: 'default' })).rows).toEqual([])
  const cli = createCli()
  expect((await cli(['learn', text, '--dry-run'])).out).toBe('I live in Lisbon\n')
  expect((await cli(['list', '--json'])).json.data).toEqual([])
})

it('[PO54] OmniRoute: an agent key clears the memories of its own owner by MCP', async () => {
  const host = await openHost({ hasCompatibilityTools: true })
  const { engine } = host
  const client = await CLIENTS['SDK 1']?.(host.url)
  onTestFinished(async () => {
    await client?.close()
    await host.close()
  })
  await engine.remember({ owner: 'ada' }, { content: 'Ada likes maps.' })
  await engine.remember({ owner: 'bob' }, { content: 'Bob likes cars.' })
  host.as({ key: null, role: 'agent', home: 'ada', actsFor: ['bob'] })
  const cleared = await client?.call('omniroute_memory_clear')
  expect(cleared?.structured).toMatchObject({ data: { deletedCount: 1 } })
  expect((await engine.list({ owner: 'bob' })).rows).toHaveLength(1)
})

it('[PO54] OpenClaw: `memory_forget` takes `memoryId`', async () => {
  const { client, engine } = await start()
  const { memory } = await engine.remember({ owner: 'default' }, { content: 'Ada likes maps.' })
  const { body } = await client.post('/api/memory/forget', { memoryId: memory.id })
  expect(body.forgotten).toMatchObject({ id: memory.id })
})

it('[PO54] OpenClaw: `ltm` and `memory` are command groups', async () => {
  const cli = createCli()
  await cli(['memory', 'add', 'Ada likes maps.'])
  for (const words of [
    ['ltm', 'search', 'maps'],
    ['memory', 'search', 'maps'],
    ['ltm', 'list'],
  ]) {
    expect((await cli(words)).out).toContain('Ada likes maps.')
  }
  expect((await cli(['ltm', 'stats'])).out).toContain('1 memory')
  expect((await cli(['memory', 'status'])).exit).toBe(0)
})

it('[PO54] OmniRoute: settings answer whose they are, and a management key may set them for everybody', async () => {
  const { client, engine } = await start()
  const own = await client.call('PUT', '/api/settings/memory', { body: { maxTokens: 500 } })
  expect(own.body).toMatchObject({ level: 'owner', owner: 'default', maxTokens: 500 })
  const all = await client.call('PUT', '/api/settings/memory', {
    body: { level: 'system', maxTokens: 600 },
  })
  expect(all.body).toMatchObject({ level: 'system', owner: null, maxTokens: 600 })
  const { body } = await client.get('/api/settings/memory?owner=ada')
  expect(body).toMatchObject({ level: 'owner', owner: 'ada', maxTokens: 600 })
  const back = await client.call('PUT', '/api/settings/memory', { body: all.body })
  expect([back.status, back.body]).toEqual([200, all.body])
  expect(await engine.admin.settings.getStored('ada' as OwnerId)).toEqual({})
})

it('[PO55] OmniRoute: `retentionDays` also limits what is recalled', async () => {
  const { client, engine } = await start()
  const yearAgo = Date.now() - 365 * 86_400_000
  await engine.admin.importRecords(parseScope({ owner: 'default' }), [
    {
      kind: 'memory',
      at: 1,
      name: 'old',
      content: 'The spare key is under the mat.',
      createdAt: yearAgo,
    },
  ] as never)
  const find = async () =>
    (await client.post('/api/memory/search', { query: 'spare key' })).body.results.length
  expect(await find()).toBe(1)
  const { body } = await client.call('PUT', '/api/settings/memory', { body: { retentionDays: 30 } })
  expect(body).toMatchObject({ 'retention.unusedDays': 30, 'recall.maxAgeDays': 30 })
  expect(await find()).toBe(0)
  expect((await client.get('/api/memory')).body.data).toHaveLength(1)
  await client.call('PUT', '/api/settings/memory', { body: { 'recall.maxAgeDays': 0 } })
  expect(await find()).toBe(1)
})

it('[PO55] OmniRoute: a setting lets the users of an owner share its own memories', async () => {
  const { client, engine } = await start()
  await engine.remember({ owner: 'default' }, { content: 'The spare key is under the mat.' })
  await engine.remember({ owner: 'default', user: 'eve' }, { content: 'The spare key is mine.' })
  const find = async () =>
    (await client.post('/api/memory/search', { query: 'spare key', user: 'bob' })).body.results.map(
      ({ memory }: { memory: { content: string } }) => memory.content,
    )
  expect(await find()).toEqual([])
  await client.call('PUT', '/api/settings/memory', { body: { 'recall.ownerMemoryForUsers': true } })
  expect(await find()).toEqual(['The spare key is under the mat.'])
})

it('[PO54] OmniRoute: any budget but 0 has room for one memory', async () => {
  const { client, engine } = await start()
  await engine.remember({ owner: 'default' }, { content: 'The spare key is under the mat.' })
  const preview = (maxTokens: number) =>
    client.post('/api/memory/context-preview', { query: 'Where is the spare key?', maxTokens })
  for (const maxTokens of [1, 10, 63]) {
    expect((await preview(maxTokens)).body.memories).toHaveLength(1)
  }
})

it('[PO54] Osaurus: a key that acts for `*` writes for agents of any name', async () => {
  const { client, engine } = await start()
  const key = await keyFor(engine, 'agent', 'home', ['*'])
  const ingested = await client.post(
    '/memory/ingest',
    { agent_id: 'My Agent', conversation_id: 's', turns: [{ user: 'I live in Lisbon.' }] },
    { key },
  )
  expect(ingested.status).toBe(200)
  const { body } = await client.post(
    '/api/memory/search',
    { owner: 'My Agent', query: 'live in Lisbon' },
    { key },
  )
  expect(body.results).toHaveLength(2)
  for (const owner of ['@shared', '@system']) {
    const refused = await client.post('/api/memory', { owner, content: 'x' }, { key })
    expect(refused.status).toBe(404)
  }
  const narrow = await keyFor(engine, 'agent', 'home', ['other'])
  const hidden = await client.post(
    '/api/memory/search',
    { owner: 'My Agent', query: 'x' },
    { key: narrow },
  )
  expect(hidden.status).toBe(404)
})

it('[PO54] Osaurus: `embeddingBackend` and `embeddingModel` are settings of the command line', async () => {
  const cli = createCli()
  const set = await cli(['settings', 'set', 'embeddingBackend=none', '--system'])
  expect(set.out).toBe('embeddingBackend is none, takes effect at the next start\n')
  expect((await cli(['settings', 'get', 'embedding.source'])).out).toMatch(/^none/)
  const model = await cli(['settings', 'set', 'embeddingModel=openai/m', '--system'])
  expect(model.out).toContain('embeddingModel is openai/m')
  const wrong = await cli(['settings', 'set', 'embeddingBackend=spam', '--system'])
  expect([wrong.exit, wrong.err]).toEqual([2, expect.stringContaining('mlx')])
})

it('[PO54] OpenClaw: `memory_recall` gives percentages', async () => {
  const host = await openHost({ hasCompatibilityTools: true })
  const client = await CLIENTS['SDK 1']?.(host.url)
  onTestFinished(async () => {
    await client?.close()
    await host.close()
  })
  await host.engine.remember({ owner: 'ada' }, { content: 'Ada likes maps.' })
  host.as({ key: null, role: 'agent', home: 'ada', actsFor: [] })
  const recalled = await client?.call('memory_recall', { query: 'Ada likes maps' })
  expect(recalled?.text).toMatch(/^1\. \[other\] Ada likes maps\. \(\d{1,3}%\)$/)
})

it('[PO54] OpenClaw: auto-capture keeps the three most valuable messages', async () => {
  const { client } = await start({}, { settings: { 'hooks.captureEnabled': true } })
  const messages = [
    'Remember that my passport is in the blue box.',
    'We decided to use Postgres.',
    'I prefer oat milk.',
    'I always walk to work.',
    'My dog is brown.',
  ].map((content) => ({ role: 'user', content }))
  const { body } = await client.post('/api/hooks/capture', { messages })
  expect(body.captured.map(({ content }: { content: string }) => content)).toEqual(
    messages.slice(0, 3).map(({ content }) => content),
  )
})

it('[PO54] OmniRoute: statements of more than 500 characters are cut, not dropped', async () => {
  const { client } = await start()
  const text = `I like ${'very '.repeat(120)}old tea.`
  const { body } = await client.post('/api/memory/learn', { text, dryRun: true })
  expect(body.remembered).toHaveLength(1)
  expect(body.remembered[0].memory.content.length).toBeLessThanOrEqual(500)
})

it('[PO54] OmniRoute: `fallbackReason` names what failed, and only then', async () => {
  const inner = createHashingEmbedder()
  let isFailing = false
  const embedding = {
    ...inner,
    embed: async (...call: Parameters<typeof inner.embed>) => {
      if (isFailing) throw new AppError('forbidden', 'The key was refused.')
      return inner.embed(...call)
    },
  }
  const { client, engine } = await start({}, { embedding })
  await engine.remember({ owner: 'default' }, { content: 'The spare key is under the mat.' })
  await engine.warmUp()
  const resolve = async (strategy: string) =>
    (await client.post('/api/memory/retrieve-preview', { query: 'spare key', strategy })).body
      .resolution
  for (const strategy of ['hybrid', 'semantic', 'keyword', 'recent']) {
    expect(await resolve(strategy)).toMatchObject({ degraded: false, fallbackReason: null })
  }
  isFailing = true
  for (const strategy of ['hybrid', 'semantic']) {
    expect(await resolve(strategy)).toMatchObject({
      degraded: true,
      fallbackReason: expect.stringContaining('refused'),
    })
  }
  expect(await resolve('keyword')).toMatchObject({ degraded: false, fallbackReason: null })
})

it('[PO54] OmniRoute: a change of the embedding source is stored, and said to take effect at the next start', async () => {
  const { client } = await start()
  const put = await client.call('PUT', '/api/settings/memory', {
    body: { embeddingSource: 'static' },
  })
  expect(put.body.embeddingSource).toBe('static')
  const { body } = await client.get('/api/settings')
  const source = body.settings.find(({ name }: { name: string }) => name === 'embedding.source')
  expect(source.appliesAt).toBe('start')
})

it('[PO54] OmniRoute: metadata is kept and returned', async () => {
  const { client } = await start()
  const metadata = { category: 'preference', project: 'lighthouse' }
  await client.post('/api/memory', { key: 'k', content: 'prefers green tea', metadata })
  expect((await client.get('/api/memory?q=green')).body.data).toMatchObject([{ metadata }])
  // Keyword search reads the content only.
  expect((await client.post('/api/memory/search', { query: 'lighthouse' })).body.results).toEqual(
    [],
  )
})
