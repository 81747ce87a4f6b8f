/** What decides a vector, as one name that holds neither the text nor anything secret. */
import { createHash } from 'node:crypto'
import { sha256 } from '../../lib/hash.ts'
import type { EmbeddingModel, EmbeddingPurpose } from '../embedder.ts'

export type EmbeddingCacheScope = {
  readonly model: EmbeddingModel
  /** Null when the source makes no difference between them. */
  readonly purpose: EmbeddingPurpose | null
  /** Who is asked, as a hash; see `accountHash`. */
  readonly account: string
}

export function computeCacheKey(origin: EmbeddingCacheScope, text: string): string {
  const { model, purpose, account } = origin
  const parts = [model.source, model.model, model.dimensions, purpose, account]
  // UTF-8 has no lone halves of surrogate pairs: different texts would get the same name.
  return createHash('sha256')
    .update(`${JSON.stringify(parts)}\n`)
    .update(text, 'utf16le')
    .digest('hex')
}

/** Two servers may run different models by the same name. Keys say nothing of vectors: a new one pays for none again. */
export function hashAccount(baseUrl: string): string {
  return sha256(baseUrl)
}
