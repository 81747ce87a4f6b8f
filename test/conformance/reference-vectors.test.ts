import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { referenceVectors } from '../../src/adapters/reference/vectors.ts'
import { describeVectorIndex } from './vector-index.suite.ts'

describeVectorIndex('reference vectors', async () => {
  const store = createReferenceStore()
  return { store, vectors: referenceVectors(store), close: () => store.close() }
})
