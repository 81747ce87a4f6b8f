import type { SearchDocument } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Evidence, TrailStep } from './ranking/candidate.ts'

export type RecalledMemory = {
  /** A memory, or a conversation turn (type `turn`). */
  readonly memory: SearchDocument
  readonly score: number
  /** 0 … 1: the share of the question's terms in the memory. */
  readonly coverage: number
  readonly evidence: Evidence
  readonly tokens: number
  /** The ranking stages that produced the score. */
  readonly trail: readonly TrailStep[]
}

export type RecallResult = {
  readonly memories: readonly RecalledMemory[]
  readonly strategy: Settings['recall.strategy']
  readonly retrievers: {
    readonly keyword: RetrieverReport
    readonly vector: RetrieverReport
    readonly rerank: RetrieverReport
  }
  /** Whether candidates were found, but all were below the similarity threshold. */
  readonly abstained: boolean
  /** The calibrated similarity of the closest memory, on the scale of `recall.minTopSimilarity`; null without vectors. */
  readonly topSimilarity: number | null
  /** The time expression in the question. */
  readonly timeExpression: string | null
  readonly tokens: number
}

/** What a retriever did, and why it returned nothing. */
export type RetrieverReport = {
  readonly state: 'searched' | 'skipped' | 'failed'
  readonly hits: number
  readonly reason: string | null
  /** For vector search: documents known to have no vector yet. */
  readonly withoutVector?: number
}
