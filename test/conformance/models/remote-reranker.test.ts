import { afterAll, beforeAll } from 'vitest'
import { openRemoteReranker } from '../../../src/models/rerankers/remote-reranker.ts'
import { type RerankService, startRerankService } from '../../models/rerankers/rerank-service.ts'
import { describeReranker } from './reranker.suite.ts'

/** No test waits for it; the machine may be busy. */
const TIMEOUT_MS = 3_600_000

let service: RerankService
beforeAll(async () => {
  service = await startRerankService()
})
afterAll(() => service.stop())

describeReranker('a reranker on the network', async () =>
  openRemoteReranker({ url: service.url, model: 'any', timeoutMs: TIMEOUT_MS }),
)
