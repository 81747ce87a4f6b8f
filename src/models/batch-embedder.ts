/**
 * Batch embedder: fills the vector cache ahead of use through a cheaper interface, such as a provider's batch API. Texts
 * that it cannot embed are embedded as usual: a failed batch costs time, never vectors.
 */
export type BatchEmbedderOptions = { readonly signal?: AbortSignal }

export interface BatchEmbedder {
  /** Below this number of texts, a batch is not worthwhile. */
  readonly textsMin: number
  /** Document embedding waits until the returned function is called. Several holds may overlap. */
  deferEmbedding(): () => void
  /** Takes texts exactly as they will be embedded. Fails only when aborted. */
  embedAll(texts: readonly string[], options?: BatchEmbedderOptions): Promise<void>
  /** For `status`: progress, and the reason when batches are disabled. */
  report(): Readonly<Record<string, string | number | boolean>>
}
