/** Batch APIs: discounted, asynchronous embedding of many texts. */

/** `id` correlates a vector with its text: results are unordered. */
export type BatchItem = { readonly id: string; readonly text: string }

/** One line of the results. `vector` is not validated, and undefined when missing. */
export type BatchLine = { readonly id: string; readonly vector: unknown }

export type BatchState =
  | { readonly kind: 'running'; readonly done: number }
  | {
      readonly kind: 'ended'
      /** Reason for incomplete results; null when the service reports success. */
      readonly failure: string | null
      /** Streams the results line by line: together they may exceed memory. */
      readonly results: (
        take: (line: BatchLine) => Promise<void>,
        signal: AbortSignal | undefined,
      ) => Promise<void>
      /** Input and output files that the service stores. */
      readonly files: readonly string[]
    }

/**
 * A provider's batch API. A batch runs without this process and is identified by its name, so any process can poll it.
 * Failures are AppErrors, as for embedders.
 */
export interface EmbeddingBatches {
  readonly source: string
  /** Returns the name of the batch. */
  submit(items: readonly BatchItem[], signal: AbortSignal | undefined): Promise<string>
  poll(batch: string, signal: AbortSignal | undefined): Promise<BatchState>
  cancel(batch: string, signal: AbortSignal | undefined): Promise<void>
  /** Deletes the files stored at the service. */
  discard(files: readonly string[], signal: AbortSignal | undefined): Promise<void>
}
