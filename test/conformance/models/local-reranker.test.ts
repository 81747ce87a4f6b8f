import { beforeAll } from 'vitest'
import { openLocalReranker } from '../../../src/models/rerankers/local-reranker.ts'
import { writeCrossEncoder } from '../../fakes/tiny-cross-encoder.ts'
import { expectFreshReranker } from '../../models/rerankers/local-reranker-support.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { describeReranker } from './reranker.suite.ts'

const folder = temporaryFolder()
beforeAll(() => {
  expectFreshReranker()
  writeCrossEncoder(folder)
})

describeReranker('a reranker on this machine', async () => openLocalReranker({ folder }))
