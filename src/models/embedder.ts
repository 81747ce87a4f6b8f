/** Whether a text is looked for or looked through: some models embed the two differently. */
export type EmbeddingPurpose = 'query' | 'document'

export type EmbedOptions = {
  readonly purpose: EmbeddingPurpose
  readonly signal?: AbortSignal
}

/** What a vector came from. Vectors of different models can't be compared, whatever their length. */
export type EmbeddingModel = {
  /** `static`, `transformers`, `openai`, `gemini`, … */
  readonly source: string
  readonly model: string
  /** As probed, never assumed. */
  readonly dimensions: number
  /** Which server it runs on, as a short hash, where that is not the usual one: names mean nothing across servers. */
  readonly host?: string
  /** Of a longer text, only so many tokens are read. Left out where no text of ours has more. */
  readonly tokensMax?: number
  /** BCP 47 tags of the languages it was made for; left out when there are many or it is not known. */
  readonly languages?: readonly string[]
}

export type EmbedderState =
  | { readonly kind: 'cold' }
  | { readonly kind: 'warming' }
  | { readonly kind: 'ready' }
  /** It may heal: the next call tries again. */
  | { readonly kind: 'failing'; readonly reason: string }

export type EmbedderReport = {
  readonly source: string
  readonly model: string
  readonly state: EmbedderState
  /** Small facts for `status`: which runtime runs, how long the warm-up took, hits of a cache. Never secrets. */
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

/**
 * Embedder: turns texts into unit vectors whose inner product says how close they are in meaning.
 *
 * The answer has one vector for each text, in order, all finite, of length one and of the same dimension; a text
 * always gets the same vector, whatever it is embedded together with (bit for bit where the model is local, as near as
 * the service allows where it is remote). A blank text gets a vector as well. Failures are AppErrors: `unavailable`
 * (may heal), `missing_part` (something to install), `invalid_input` (refused by the model), `cancelled` (by the signal).
 * An answer with the wrong number of vectors, a wrong dimension or a number that is not finite is a failure, never
 * passed on.
 *
 * Wrappers (cache, retry, batch, rate limit) have the same interface. Every implementation must pass
 * `test/conformance/models/embedder.suite.ts`.
 */
export interface Embedder {
  /** Loads what must be loaded and says what the vectors are. Answers at once when that is known. */
  describe(signal?: AbortSignal): Promise<EmbeddingModel>
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]>
  report(): EmbedderReport
  close(): Promise<void>
}
