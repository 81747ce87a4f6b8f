/** Derives the rank and score of each result after each stage from its trail. */
import type { PreviewResult } from './queries.ts'

const STAGES = [
  'keyword',
  'vector',
  'fusion',
  'question-match',
  'boost',
  'rerank',
  'diversity',
  'threshold',
  'fit',
  'recent',
] as const
export type Stage = (typeof STAGES)[number]

export type StageResult = {
  readonly stage: Stage
  /** Null if a retriever did not return the result. */
  readonly rank: number | null
  readonly score: number | null
  /** The number of ranks gained in this stage, negative for lost ones. Null if there is no previous rank. */
  readonly rankChange: number | null
  /** Whether the trail of the result has a step of this stage. */
  readonly hasStep: boolean
  readonly note: string | null
}

export type RankingTrail = {
  readonly stages: readonly Stage[]
  /** For each result in order, one entry per stage. */
  readonly stageResults: readonly (readonly StageResult[])[]
}

/** Retrievers run in parallel, so their ranks are not compared with each other. */
const RETRIEVER_STAGES: ReadonlySet<Stage> = new Set(['keyword', 'vector'])
/** These stages filter results but do not reorder them. */
const ORDER_PRESERVING_STAGES: ReadonlySet<Stage> = new Set([
  'diversity',
  'threshold',
  'fit',
  'recent',
])

export function buildTrail(results: readonly PreviewResult[]): RankingTrail {
  const stages = STAGES.filter(
    (stage) =>
      (stage === 'fit' && results.length > 0) ||
      results.some(({ trail }) => trail.some((step) => step.stage === stage)),
  )
  const ranksByStage = stages.map((stage) => ranksAfter(results, stage))
  const stageResults = results.map((memory, index) =>
    stages.map((stage, at): StageResult => {
      const step = memory.trail.find((each) => each.stage === stage)
      const rank = ranksByStage[at]?.[index] ?? null
      return {
        stage,
        rank,
        score: step?.score ?? (RETRIEVER_STAGES.has(stage) ? null : scoreUntil(memory, stage)),
        rankChange: rankChange(stages, ranksByStage, at, index, rank),
        hasStep: step !== undefined || stage === 'fit',
        note: step?.note ?? null,
      }
    }),
  )
  return { stages, stageResults }
}

/** The rank of each result after a stage. */
function ranksAfter(results: readonly PreviewResult[], stage: Stage): readonly (number | null)[] {
  if (ORDER_PRESERVING_STAGES.has(stage)) return results.map((_, index) => index + 1)
  const scored = results.map((memory, index) => ({ index, ...stageScore(memory, stage) }))
  const order = scored
    .filter(({ score }) => score !== null)
    .sort(
      (a, b) =>
        Number(b.isRanked) - Number(a.isRanked) ||
        (b.score ?? 0) - (a.score ?? 0) ||
        a.index - b.index,
    )
  const ranks = new Map(order.map(({ index }, position) => [index, position + 1]))
  return results.map((_, index) => ranks.get(index) ?? null)
}

/** Reranked results precede the others, regardless of their scores. */
function stageScore(memory: PreviewResult, stage: Stage) {
  const step = memory.trail.find((each) => each.stage === stage)
  if (RETRIEVER_STAGES.has(stage)) return { score: step?.score ?? null, isRanked: true }
  return {
    score: scoreUntil(memory, stage),
    isRanked: stage !== 'rerank' || step !== undefined,
  }
}

function scoreUntil({ trail, score }: PreviewResult, stage: Stage): number | null {
  const until = STAGES.indexOf(stage)
  const before = trail.filter((step) => {
    const at = STAGES.indexOf(step.stage as Stage) // unknown stages have the index -1 and are excluded
    return at >= STAGES.indexOf('fusion') && at <= until
  })
  return before.at(-1)?.score ?? (trail.length === 0 ? score : null)
}

function rankChange(
  stages: readonly Stage[],
  ranksByStage: readonly (readonly (number | null)[])[],
  at: number,
  index: number,
  rank: number | null,
): number | null {
  const stage = stages[at]
  const before = stages[at - 1]
  if (
    stage === undefined ||
    before === undefined ||
    RETRIEVER_STAGES.has(stage) ||
    RETRIEVER_STAGES.has(before)
  )
    return null
  const was = ranksByStage[at - 1]?.[index] ?? null
  return was === null || rank === null ? null : was - rank
}
