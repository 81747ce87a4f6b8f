import { createReferenceStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { referenceVectors } from '../../../src/storage/in-memory/in-memory-vector-index.ts'
import { describeVectorIndex } from './vector-index.suite.ts'

describeVectorIndex('reference vectors', async () => {
  const store = createReferenceStore()
  return { store, vectors: referenceVectors(store), close: () => store.close() }
})
