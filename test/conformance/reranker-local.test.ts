import { beforeAll } from 'vitest'
import { openLocalReranker } from '../../src/adapters/rerankers/local.ts'
import { writeCrossEncoder } from '../fakes/tiny-cross-encoder.ts'
import { expectFreshReranker } from '../rerankers/local-support.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { describeReranker } from './reranker.suite.ts'

const folder = temporaryFolder()
beforeAll(() => {
  expectFreshReranker()
  writeCrossEncoder(folder)
})

describeReranker('a reranker on this machine', async () => openLocalReranker({ folder }))
