import { createInMemoryVectorReplica } from '../../../src/storage/in-memory/in-memory-vector-replica.ts'
import { describeVectorMirror } from './vector-replica.suite.ts'

describeVectorMirror('reference mirror', async () => {
  const mirror = createInMemoryVectorReplica()
  return { mirror, close: () => mirror.close() }
})
