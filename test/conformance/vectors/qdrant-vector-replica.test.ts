import { describe, it } from 'vitest'
import { QUANTIZATIONS } from '../../../src/storage/qdrant/collection-schema.ts'
import { openOnServer, openOnStandIn } from '../../support/qdrant/qdrant-replicas.ts'
import { describeVectorMirror } from './vector-replica.suite.ts'

const url = process.env.TEST_QDRANT_URL?.replace(/\/+$/, '')
const key = process.env.TEST_QDRANT_KEY

describeVectorMirror('qdrant (stand-in)', async () => {
  const { mirror } = await openOnStandIn()
  return { mirror, close: () => mirror.close() }
})

if (url === undefined) {
  describe.skip('qdrant (TEST_QDRANT_URL): it is not set', () => it('was not run', () => {}))
} else {
  for (const quantisation of QUANTIZATIONS) {
    describeVectorMirror(`qdrant (TEST_QDRANT_URL, ${quantisation})`, () =>
      openOnServer(url, key, quantisation),
    )
  }
}
