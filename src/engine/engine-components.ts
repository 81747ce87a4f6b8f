/** What the engine tells of the parts that it works with. */

import type { CircuitBreaker } from '../lib/circuit-breaker.ts'
import type { Embedder, EmbedderReport } from '../models/embedder.ts'
import type { IndexStatus } from '../recall/indexing/indexer.ts'
import type { VectorIndex } from '../storage/vector-index.ts'
import type { VectorReplicaStatus } from '../storage/vector-replication.ts'
import type { EngineDependencies } from './engine-dependencies.ts'

export type IndexReport = IndexStatus & {
  readonly embedder: EmbedderReport
  /** How vectors are kept, and what searching them takes. */
  readonly facts: ReturnType<VectorIndex['report']>
}

export type EngineComponents = {
  readonly embedder: EmbedderReport | null
  /** What finds vectors: the store that keeps them, a mirror, or `none`. */
  readonly vectors: 'store' | 'none' | Exclude<VectorReplicaStatus['servedBy'], 'primary'>
  readonly reranker: { readonly name: string; readonly provider: string | null } | null
}

/** A model that hangs doesn't know it; whoever has waited for it does. */
export function buildEmbedderReport(embedder: Embedder, guard: CircuitBreaker): EmbedderReport {
  const report = embedder.report()
  const reason = guard.openReason
  return reason === null ? report : { ...report, state: { kind: 'failing', reason } }
}

export function describeReranker(
  reranker: EngineDependencies['reranker'],
): EngineComponents['reranker'] {
  return reranker === undefined
    ? null
    : { name: reranker.name, provider: reranker.provider ?? null }
}

export function describeVectorSource({
  servedBy: answering,
}: VectorReplicaStatus): EngineComponents['vectors'] {
  return answering === 'primary' ? 'store' : answering
}
