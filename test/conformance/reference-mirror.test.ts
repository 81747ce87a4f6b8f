import { referenceMirror } from '../../src/adapters/reference/mirror.ts'
import { describeVectorMirror } from './vector-mirror.suite.ts'

describeVectorMirror('reference mirror', async () => {
  const mirror = referenceMirror()
  return { mirror, close: () => mirror.close() }
})
