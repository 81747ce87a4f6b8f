/** Cache keys: a hash of everything that determines a vector, without the text itself or secrets. */
import { createHash } from 'node:crypto'
import { sha256 } from '../../lib/hash.ts'
import type { EmbeddingModel, EmbeddingPurpose } from '../embedder.ts'

export type EmbeddingCacheScope = {
  readonly model: EmbeddingModel
  /** Null when the source embeds queries and documents alike. */
  readonly purpose: EmbeddingPurpose | null
  /** Hash of the account; see `hashAccount`. */
  readonly account: string
}

export function computeCacheKey(origin: EmbeddingCacheScope, text: string): string {
  const { model, purpose, account } = origin
  const parts = [model.source, model.model, model.dimensions, purpose, account]
  // UTF-8 cannot encode lone surrogates: different texts would get the same key.
  return createHash('sha256')
    .update(`${JSON.stringify(parts)}\n`)
    .update(text, 'utf16le')
    .digest('hex')
}

/** Two servers may run different models by the same name. Keys say nothing of vectors: a new one pays for none again. */
export function hashAccount(baseUrl: string): string {
  return sha256(baseUrl)
}
