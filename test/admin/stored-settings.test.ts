/** Settings that are kept with the data and decide how the engine is built at its next start. */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine, type EngineOptions } from '../../src/app/composition.ts'
import { describeHealth } from '../../src/engine/health.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function startedAfter(changes: object, options: EngineOptions = {}) {
  const path = join(temporaryFolder(), 'memory.db')
  const first = await createEngine({ path, embedding: false })
  await first.settings.change(null, { ...changes })
  await first.close()
  const second = await createEngine({ path, ...options })
  onTestFinished(() => second.close())
  return second
}

async function partsAfter(changes: object, options: EngineOptions = {}) {
  return (await startedAfter(changes, options)).getComponents().embedder
}

const OPENAI = { 'embedding.model': 'openai/text-embedding-3-small' }
const KEYS = { providerKeys: { openai: 'sk-usual' } }

it('[SY15] takes the source of vectors from the stored settings', async () => {
  expect(await partsAfter({ 'embedding.source': 'static' })).toMatchObject({ source: 'static' })
  expect(await partsAfter({ 'embedding.source': 'none' })).toBeNull()
  expect(await partsAfter({ 'embedding.localEnabled': false })).toMatchObject({ source: 'static' })
  expect(
    await partsAfter({ 'embedding.localEnabled': false, 'embedding.staticEnabled': false }),
  ).toBeNull()
  const remote = { 'embedding.source': 'remote', 'embedding.model': 'ollama/nomic-embed-text' }
  expect(await partsAfter(remote)).toMatchObject({ model: 'nomic-embed-text' })
})

it('[SY15] what the process was started with goes before them', async () => {
  const options = { embedding: { source: 'static' } } as const
  expect(await partsAfter({ 'embedding.source': 'none' }, options)).toMatchObject({
    source: 'static',
  })
  expect(await partsAfter({ 'embedding.source': 'static' }, { embedding: false })).toBeNull()
})

it('[SY16] a stored model gets the usual key of its provider', async () => {
  const named = { source: 'openai', model: 'text-embedding-3-small', state: { kind: 'cold' } }
  expect(await partsAfter(OPENAI, KEYS)).toMatchObject(named)
  expect(await partsAfter({ ...OPENAI, 'embedding.source': 'remote' }, KEYS)).toMatchObject(named)
})

it('[SY16] a stored model that names no provider is refused', async () => {
  const engine = await startedAfter({}, { embedding: false })
  for (const name of ['embedding.model', 'recall.rerankModel']) {
    for (const value of ['text-embedding-3-small', 'nobody/model', 'cohere/']) {
      const change = engine.settings.change(null, { [name]: value })
      await expect(change).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('provider/model'),
      })
    }
    await engine.settings.change(null, { [name]: 'cohere/any' })
    await engine.settings.change(null, { [name]: '' })
  }
})

it('[SY16] a model without its key keeps nobody from starting, and the status says why', async () => {
  const because = 'openai needs an API key. Set OPENAI_API_KEY.'
  const remote = await startedAfter({ ...OPENAI, 'embedding.source': 'remote' })
  await remote.remember({ owner: 'ada' }, { content: 'I drink tea.' })
  const { memories } = await remote.recall({ owner: 'ada' }, { text: 'tea' })
  expect(memories).toHaveLength(1)
  expect(describeHealth(await remote.status())).toMatchObject({
    state: 'degraded',
    reasons: expect.arrayContaining([expect.stringContaining(because)]),
  })
  await remote.settings.change(null, { 'embedding.source': null })

  const nameless = await startedAfter({ 'embedding.source': 'remote' })
  expect(nameless.getComponents().embedder?.state).toMatchObject({ kind: 'failing' })

  const auto = await partsAfter(OPENAI)
  const instead = { fallbackFor: 'openai/text-embedding-3-small', fallbackReason: because }
  expect(auto).toMatchObject({ source: 'transformers', facts: instead })
  const noLocal = { ...OPENAI, 'embedding.localEnabled': false }
  expect(await partsAfter(noLocal)).toMatchObject({ source: 'static', facts: instead })
  expect(await partsAfter({ ...noLocal, 'embedding.staticEnabled': false })).toMatchObject({
    source: 'openai',
    state: { kind: 'failing', reason: because },
  })
})

it('[SY16] what was said at the start alone is refused there', async () => {
  const embedding = { source: 'remote', remoteModel: 'openai/text-embedding-3-small' } as const
  await expect(createEngine({ embedding })).rejects.toMatchObject({ code: 'invalid_input' })
})

it('[RR5] a setting names the reranker; without its key it is left out and told', async () => {
  const stored = { 'recall.rerankModel': 'cohere/rerank-v3.5' }
  const withKey = await startedAfter(stored, { embedding: false, providerKeys: { cohere: 'key' } })
  expect(withKey.getComponents().reranker).toEqual({ name: 'rerank-v3.5', provider: 'cohere' })
  expect(await withKey.status()).toMatchObject({ rerankerProblem: null })

  const without = await startedAfter(stored, { embedding: false })
  const because = 'cohere needs an API key. Set COHERE_API_KEY.'
  expect(await without.status()).toMatchObject({ rerankerProblem: because })
  const ada = { owner: 'ada' }
  await without.remember(ada, { content: 'I drink tea in the morning.' })
  await without.remember(ada, { content: 'My tea is from Assam.' })
  const { memories, retrievers: legs } = await without.recall(ada, { text: 'tea' })
  expect(memories).toHaveLength(2)
  expect(legs.rerank).toMatchObject({ state: 'skipped', reason: because })

  const folder = { folder: temporaryFolder() }
  const started = await startedAfter(stored, { embedding: false, rerank: folder })
  expect(started.getComponents().reranker).toMatchObject({ provider: null })
})
