import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { referenceVectors } from '../../src/adapters/reference/vectors.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeRecall } from './recall.suite.ts'

describeRecall('on the reference store', async () => {
  const store = createReferenceStore()
  return { store, vectors: referenceVectors(store) }
})

describeRecall('on sqlite', async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  return { store, vectors: store.vectors }
})
