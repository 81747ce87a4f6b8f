/** Services with a batch API for embeddings. */
import {
  type RemoteEmbedderConfig,
  toRemoteEmbedderOptions,
} from '../remote/embedding-providers.ts'
import type { EmbeddingBatches } from './embedding-batches.ts'
import { createGeminiBatches } from './gemini-batches.ts'
import { createOpenaiBatches, createVoyageBatches } from './openai-batches.ts'

/** Null for a provider without a batch API. Sends no request. */
export function openEmbeddingBatches(config: RemoteEmbedderConfig): EmbeddingBatches | null {
  const options = () => ({ ...toRemoteEmbedderOptions(config), source: config.provider })
  switch (config.provider) {
    case 'openai':
      return createOpenaiBatches(options())
    case 'voyage':
      return createVoyageBatches(options())
    case 'gemini':
      return createGeminiBatches(options())
    default:
      return null
  }
}
