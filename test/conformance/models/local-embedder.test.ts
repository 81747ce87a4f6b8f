import { beforeAll } from 'vitest'
import { openLocalEmbedder } from '../../../src/models/embedders/local/local-embedder.ts'
import { expectFreshWorker } from '../../models/embedders/local-support.ts'
import { describeEmbedder } from './embedder.suite.ts'

beforeAll(expectFreshWorker)

describeEmbedder('the local model', async () => openLocalEmbedder(), { isSlow: true })
