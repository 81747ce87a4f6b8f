import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { createEngine } from '../../src/app/composition.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { synonymEmbedder } from '../fakes/synonym-embedder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { describeRecall } from './recall.suite.ts'

describeRecall('on the reference store', async () => {
  const store = createInMemoryStore()
  return { store, vectors: createInMemoryVectorIndex(store) }
})

describeRecall('on sqlite', async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  return { store, vectors: store.vectors }
})

it('[FO3] erasing also empties the embedding cache file', async () => {
  const cacheFile = join(temporaryFolder(), 'vectors.db')
  const engine = await createEngine({
    embedding: { source: 'static', cacheFile, cachesLocal: true },
  })
  const { memory } = await engine.remember({ owner: 'ada' }, { content: 'The code is 4711.' })
  await engine.admin.reindex()
  const kept = async () => {
    const database = new DatabaseSync(cacheFile)
    const rows = database.prepare('SELECT count(*) AS vectors FROM vector').all()
    database.close()
    return rows[0]
  }
  expect(await kept()).not.toEqual({ vectors: 0 })
  await engine.memories.erase({ owner: 'ada' }, memory.id)
  expect(await kept()).toEqual({ vectors: 0 })
  await engine.close()
})

it('[RA28] keyword search alone finds a memory in a script that the model cannot read', async () => {
  const inner = synonymEmbedder({ beverage: '猫を飼っています', drink: '猫を飼っています' })
  const engine = await createEngine({
    embedding: {
      ...inner,
      describe: async () => ({ ...(await inner.describe()), languages: ['en'] }),
    },
    settings: { 'recall.minTopSimilarity': 0, 'recall.minSimilarity': 0 },
  })
  const ada = { owner: 'ada' }
  await engine.remember(ada, { content: '猫を飼っています' })
  await engine.remember(ada, { content: 'My favourite beverage is tea' })
  await engine.admin.reindex()
  const found = async (text: string) =>
    (await engine.recall(ada, { text })).memories.map(({ memory }) => memory.content)
  expect(await found('a drink for me')).not.toContain('猫を飼っています')
  expect(await found('猫')).toEqual(['猫を飼っています'])
  await engine.close()
})
