/** Some models embed queries and documents differently. */
export type EmbeddingPurpose = 'query' | 'document'

export type EmbedOptions = {
  readonly purpose: EmbeddingPurpose
  readonly signal?: AbortSignal
}

/** Identifies a vector space. Vectors of different models are not comparable, even with equal dimensions. */
export type EmbeddingModel = {
  /** `static`, `transformers`, `openai`, `gemini`, … */
  readonly source: string
  readonly model: string
  /** As probed, never assumed. */
  readonly dimensions: number
  /** Short hash of a non-default server: model names are not unique across servers. */
  readonly host?: string
  /** Longer texts are truncated. Absent when no text of ours is longer. */
  readonly tokensMax?: number
  /** BCP 47 tags; absent for multilingual and unknown models. */
  readonly languages?: readonly string[]
  /** Whether vectors of other languages than English come from a smaller model, and keywords should count for more. */
  readonly isApproximateBeyondEnglish?: boolean
}

export type EmbedderState =
  | { readonly kind: 'cold' }
  | { readonly kind: 'warming' }
  | { readonly kind: 'ready' }
  /** The next call retries. */
  | { readonly kind: 'failing'; readonly reason: string }

export type EmbedderReport = {
  readonly source: string
  readonly model: string
  readonly state: EmbedderState
  /** For `status`: the runtime, warm-up time, cache hits. Never secrets. */
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

/**
 * Embedder: turns texts into unit vectors whose inner product measures semantic similarity.
 *
 * Returns one finite unit vector per text, in order and of equal dimensions. A text always gets the same vector, whatever
 * it is batched with: bit for bit with a local model, as far as the service guarantees it with a remote one. Blank texts
 * get a vector too. Failures are AppErrors: `unavailable` (retryable), `missing_part` (something to install),
 * `invalid_input` (rejected by the model), `cancelled` (aborted). A response with missing vectors, wrong dimensions or
 * non-finite numbers is a failure.
 *
 * Wrappers (cache, retry, batch, rate limit) implement the same interface. Every implementation must pass
 * `test/conformance/models/embedder.suite.ts`.
 */
export interface Embedder {
  /** Loads the model or probes the service; cached after the first success. */
  describe(signal?: AbortSignal): Promise<EmbeddingModel>
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]>
  report(): EmbedderReport
  close(): Promise<void>
}
