/** Behavior that clients of the described systems rely on. */
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/app/composition.ts'
import { start } from '../api/http/http-support.ts'
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
