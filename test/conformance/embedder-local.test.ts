import { beforeAll } from 'vitest'
import { openLocalEmbedder } from '../../src/adapters/embedders/local/embedder.ts'
import { expectFreshWorker } from '../embedders/local-support.ts'
import { describeEmbedder } from './embedder.suite.ts'

beforeAll(expectFreshWorker)

describeEmbedder('the local model', async () => openLocalEmbedder(), { isSlow: true })
