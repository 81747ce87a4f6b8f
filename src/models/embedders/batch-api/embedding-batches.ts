/** Embedding many texts at once at a service that takes its time for it, and less money. */

/** `id` comes back with the vector: answers have no order. */
export type BatchItem = { readonly id: string; readonly text: string }

/** One line of an answer. The vector is unchecked, and undefined where there is none. */
export type BatchLine = { readonly id: string; readonly vector: unknown }

export type BatchState =
  | { readonly kind: 'running'; readonly done: number }
  | {
      readonly kind: 'ended'
      /** Why it did not do all that it should; null when it says that it did. */
      readonly failure: string | null
      /** Reads what it made, line by line: all of it may be more than memory holds. */
      readonly results: (
        take: (line: BatchLine) => Promise<void>,
        signal: AbortSignal | undefined,
      ) => Promise<void>
      /** What the service keeps of it: texts and vectors. */
      readonly files: readonly string[]
    }

/**
 * A service's way of embedding in batches. A batch goes on without us, and is known by its name: whoever has that can ask
 * for it in another process. Failures are AppErrors, as for embedders.
 */
export interface EmbeddingBatches {
  readonly source: string
  /** The name of the batch. */
  submit(items: readonly BatchItem[], signal: AbortSignal | undefined): Promise<string>
  poll(batch: string, signal: AbortSignal | undefined): Promise<BatchState>
  cancel(batch: string, signal: AbortSignal | undefined): Promise<void>
  /** Has the service remove what it keeps. */
  discard(files: readonly string[], signal: AbortSignal | undefined): Promise<void>
}
