/**
 * Reranker: scores question and text together, slower and better than comparing vectors. Scores are comparable within one
 * call only. Failures are AppErrors; the caller then keeps its order.
 */
export interface Reranker {
  readonly name: string
  /** Provider; absent for local and unknown rerankers. */
  readonly provider?: string
  /** Why it is unusable until reconfigured, for example without its key. It is then never called. */
  readonly unavailableReason?: string
  /** Scores by position; texts without a score are left out. */
  rerank(
    question: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly { readonly index: number; readonly score: number }[]>
  close(): Promise<void>
}
