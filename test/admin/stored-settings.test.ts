/** Stored settings that take effect when the engine starts. */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine, type EngineOptions } from '../../src/app/composition.ts'
import { describeHealth } from '../../src/engine/health.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function startedAfter(changes: object, options: EngineOptions = {}) {
  const path = join(temporaryFolder(), 'memory.db')
  const first = await createEngine({ path, embedding: false })
  await first.admin.settings.change(null, { ...changes })
  await first.close()
  const second = await createEngine({ path, ...options })
  onTestFinished(() => second.close())
  return second
}

async function embedderAfter(changes: object, options: EngineOptions = {}) {
  return (await startedAfter(changes, options)).admin.getComponents().embedder
}

const OPENAI = { 'embedding.model': 'openai/text-embedding-3-small' }
const KEYS = { providerKeys: { openai: 'sk-usual' } }

it('[SY15] reads the embedding source from the stored settings', async () => {
  expect(await embedderAfter({ 'embedding.source': 'static' })).toMatchObject({ source: 'static' })
  expect(await embedderAfter({ 'embedding.source': 'none' })).toBeNull()
  expect(await embedderAfter({ 'embedding.localEnabled': false })).toMatchObject({
    source: 'static',
  })
  expect(
    await embedderAfter({ 'embedding.localEnabled': false, 'embedding.staticEnabled': false }),
  ).toBeNull()
  const remote = { 'embedding.source': 'remote', 'embedding.model': 'ollama/nomic-embed-text' }
  expect(await embedderAfter(remote)).toMatchObject({ model: 'nomic-embed-text' })
})

it('[SY15] options of the process override stored settings', async () => {
  const options = { embedding: { source: 'static' } } as const
  expect(await embedderAfter({ 'embedding.source': 'none' }, options)).toMatchObject({
    source: 'static',
  })
  expect(await embedderAfter({ 'embedding.source': 'static' }, { embedding: false })).toBeNull()
})

it('[SY16] a stored model uses the provider key from the environment', async () => {
  const named = { source: 'openai', model: 'text-embedding-3-small', state: { kind: 'cold' } }
  expect(await embedderAfter(OPENAI, KEYS)).toMatchObject(named)
  expect(await embedderAfter({ ...OPENAI, 'embedding.source': 'remote' }, KEYS)).toMatchObject(
    named,
  )
})

it('[SY16] a stored model without a provider is refused', async () => {
  const engine = await startedAfter({}, { embedding: false })
  for (const name of ['embedding.model', 'recall.rerankModel']) {
    for (const value of ['text-embedding-3-small', 'nobody/model', 'cohere/']) {
      const change = engine.admin.settings.change(null, { [name]: value })
      await expect(change).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('provider/model'),
      })
    }
    await engine.admin.settings.change(null, { [name]: 'cohere/any' })
    await engine.admin.settings.change(null, { [name]: '' })
  }
})

it('[SY16] a model without its key does not prevent the start, and the status reports the reason', async () => {
  const reason = 'openai needs an API key. Set OPENAI_API_KEY.'
  const remote = await startedAfter({ ...OPENAI, 'embedding.source': 'remote' })
  await remote.remember({ owner: 'ada' }, { content: 'I drink tea.' })
  const { memories } = await remote.recall({ owner: 'ada' }, { text: 'tea' })
  expect(memories).toHaveLength(1)
  expect(describeHealth(await remote.status())).toMatchObject({
    state: 'degraded',
    reasons: expect.arrayContaining([expect.stringContaining(reason)]),
  })
  await remote.admin.settings.change(null, { 'embedding.source': null })

  const nameless = await startedAfter({ 'embedding.source': 'remote' })
  expect(nameless.admin.getComponents().embedder?.state).toMatchObject({ kind: 'failing' })

  const auto = await embedderAfter(OPENAI)
  const instead = { insteadOf: 'openai/text-embedding-3-small', insteadBecause: reason }
  expect(auto).toMatchObject({ source: 'transformers', facts: instead })
  const noLocal = { ...OPENAI, 'embedding.localEnabled': false }
  expect(await embedderAfter(noLocal)).toMatchObject({ source: 'static', facts: instead })
  expect(await embedderAfter({ ...noLocal, 'embedding.staticEnabled': false })).toMatchObject({
    source: 'openai',
    state: { kind: 'failing', because: reason },
  })
})

it('[SY16] invalid start options are refused at the start', async () => {
  const embedding = { source: 'remote', remoteModel: 'openai/text-embedding-3-small' } as const
  await expect(createEngine({ embedding })).rejects.toMatchObject({ code: 'invalid_input' })
})

it('[RR5] a setting names the reranker; without its key the reranker is skipped with a reason', async () => {
  const stored = { 'recall.rerankModel': 'cohere/rerank-v3.5' }
  const withKey = await startedAfter(stored, { embedding: false, providerKeys: { cohere: 'key' } })
  expect(withKey.admin.getComponents().reranker).toEqual({
    name: 'rerank-v3.5',
    provider: 'cohere',
  })
  expect(await withKey.status()).toMatchObject({ rerankerProblem: null })

  const without = await startedAfter(stored, { embedding: false })
  const reason = 'cohere needs an API key. Set COHERE_API_KEY.'
  expect(await without.status()).toMatchObject({ rerankerProblem: reason })
  const ada = { owner: 'ada' }
  await without.remember(ada, { content: 'I drink tea in the morning.' })
  await without.remember(ada, { content: 'My tea is from Assam.' })
  const { memories, retrievers } = await without.recall(ada, { text: 'tea' })
  expect(memories).toHaveLength(2)
  expect(retrievers.rerank).toMatchObject({ state: 'skipped', because: reason })

  const folder = { folder: temporaryFolder() }
  const started = await startedAfter(stored, { embedding: false, rerank: folder })
  expect(started.admin.getComponents().reranker).toMatchObject({ provider: null })
})
