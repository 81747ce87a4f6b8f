import type { SearchDocument } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Evidence, TrailStep } from './ranking/candidate.ts'

export type RecalledMemory = {
  /** Of type `turn` where it is a turn of a conversation. */
  readonly memory: SearchDocument
  readonly score: number
  /** 0 … 1: how much of the question's words the memory holds. */
  readonly coverage: number
  readonly evidence: Evidence
  readonly tokens: number
  /** How it got here, step by step. */
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
  /** Something was found, but nothing that was near enough. */
  readonly abstained: boolean
  /** How near the nearest memory is, on the scale of the settings `answerFloor` and `memberFloor`; null without vectors. */
  readonly topSimilarity: number | null
  /** The time that the question names, in its words. */
  readonly timeExpression: string | null
  readonly tokens: number
}

/** What a leg did, in words: `searched`, `not asked`, or why there is nothing from it. */
export type RetrieverReport = {
  readonly state: 'searched' | 'skipped' | 'failed'
  readonly hits: number
  readonly reason: string | null
  /** Of meaning: how many memories are known to have no vector yet. */
  readonly withoutVector?: number
}
