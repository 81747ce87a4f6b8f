/**
 * Reranker: reads question and text together and says how well they fit, which is slower and better than comparing
 * vectors. Scores are comparable within one answer only. Failures are AppErrors; the caller keeps its own order then.
 */
export interface Reranker {
  readonly name: string
  /** Whose service it is; left out where that is not known, or it runs on this machine. */
  readonly provider?: string
  /** Why it can't be asked before somebody does something about it, as giving its key. Then nobody asks it. */
  readonly unavailableReason?: string
  /** For each text that it has an opinion on, by position. */
  rerank(
    question: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly { readonly index: number; readonly score: number }[]>
  close(): Promise<void>
}
