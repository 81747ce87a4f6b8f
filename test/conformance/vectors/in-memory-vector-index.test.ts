import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../../src/storage/in-memory/in-memory-vector-index.ts'
import { describeVectorIndex } from './vector-index.suite.ts'

describeVectorIndex('reference vectors', async () => {
  const store = createInMemoryStore()
  return { store, vectors: createInMemoryVectorIndex(store), close: () => store.close() }
})
