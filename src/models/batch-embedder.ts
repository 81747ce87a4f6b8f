/**
 * Prefill: gets the vectors of many texts ahead, in a cheaper way than asking for each when it is needed, as by the batches of
 * a service. Whatever it can't get is embedded as usual: it costs time, never vectors.
 */
export type BatchEmbedderOptions = { readonly signal?: AbortSignal }

export interface BatchEmbedder {
  /** So few texts are not worth it. */
  readonly textsMin: number
  /** From now on documents wait to be embedded, until what it gives back is called. Several may hold at once. */
  deferEmbedding(): () => void
  /** Texts as they will be embedded. Fails only when it is stopped. */
  embedAll(texts: readonly string[], options?: BatchEmbedderOptions): Promise<void>
  /** Small facts for `status`: how far it is, and why it is given up. */
  report(): Readonly<Record<string, string | number | boolean>>
}
