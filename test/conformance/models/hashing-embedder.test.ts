import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { describeEmbedder } from './embedder.suite.ts'

describeEmbedder('reference', async () => createHashingEmbedder())
describeEmbedder('reference with other dimensions', async () =>
  createHashingEmbedder({ dimensions: 256 }),
)
