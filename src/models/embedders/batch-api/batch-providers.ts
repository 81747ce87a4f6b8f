/** Which services embed in batches. */
import { type RemoteConfig, remoteOptions } from '../remote/embedding-providers.ts'
import type { EmbeddingBatches } from './embedding-batches.ts'
import { geminiBatches } from './gemini-batches.ts'
import { openaiBatches, voyageBatches } from './openai-batches.ts'

/** Null where the provider has no batches. Nothing is asked yet. */
export function openBatches(config: RemoteConfig): EmbeddingBatches | null {
  const options = () => ({ ...remoteOptions(config), source: config.provider })
  switch (config.provider) {
    case 'openai':
      return openaiBatches(options())
    case 'voyage':
      return voyageBatches(options())
    case 'gemini':
      return geminiBatches(options())
    default:
      return null
  }
}
