import { referenceEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { describeEmbedder } from './embedder.suite.ts'

describeEmbedder('reference', async () => referenceEmbedder())
describeEmbedder('reference with other dimensions', async () =>
  referenceEmbedder({ dimensions: 256 }),
)
