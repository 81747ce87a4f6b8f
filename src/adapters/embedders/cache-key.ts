/** What decides a vector, as one name that holds neither the text nor anything secret. */
import { createHash } from 'node:crypto'
import type { EmbeddingModel, EmbedPurpose } from '../../ports/embedder.ts'

export type VectorOrigin = {
  readonly model: EmbeddingModel
  /** Null when the source makes no difference between them. */
  readonly purpose: EmbedPurpose | null
  /** Whose account at which address, as a hash; see `accountHash`. */
  readonly account: string
}

export function vectorKey(origin: VectorOrigin, text: string): string {
  const { model, purpose, account } = origin
  const parts = [model.source, model.model, model.dimensions, purpose, account]
  // UTF-8 has no lone halves of surrogate pairs: different texts would get the same name.
  return createHash('sha256')
    .update(`${JSON.stringify(parts)}\n`)
    .update(text, 'utf16le')
    .digest('hex')
}

/**
 * Two servers may run different models by the same name, and two accounts must not learn from each other what was
 * embedded. The key itself is never stored.
 */
export function accountHash(baseUrl: string, apiKey: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey ?? null]))
    .digest('hex')
}
