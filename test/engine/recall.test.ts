import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { referenceVectors } from '../../src/adapters/reference/vectors.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { createEngine } from '../../src/main/compose.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { describeRecall } from './recall.suite.ts'

describeRecall('on the reference store', async () => {
  const store = createReferenceStore()
  return { store, vectors: referenceVectors(store) }
})

describeRecall('on sqlite', async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  return { store, vectors: store.vectors }
})

it('[FO3] erasing also empties the file that keeps vectors of texts', async () => {
  const cacheFile = join(temporaryFolder(), 'vectors.db')
  const engine = await createEngine({
    embedding: { source: 'static', cacheFile, cachesLocal: true },
  })
  const { memory } = await engine.remember({ owner: 'ada' }, { content: 'The code is 4711.' })
  await engine.reindex()
  const kept = async () => {
    const database = new DatabaseSync(cacheFile)
    const rows = database.prepare('SELECT count(*) AS vectors FROM vector').all()
    database.close()
    return rows[0]
  }
  expect(await kept()).not.toEqual({ vectors: 0 })
  await engine.erase({ owner: 'ada' }, memory.id)
  expect(await kept()).toEqual({ vectors: 0 })
  await engine.close()
})
