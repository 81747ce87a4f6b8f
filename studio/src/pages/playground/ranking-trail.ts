/** How results got their places: after each stage, the score of each and its rank among those that are shown. */
import type { Found } from './queries.ts'

export const STAGES = [
  'keyword',
  'meaning',
  'fuse',
  'match',
  'weigh',
  'rerank',
  'diversify',
  'floor',
  'fit',
  'recent',
] as const
export type Stage = (typeof STAGES)[number]

export type Standing = {
  readonly stage: Stage
  /** Null where a leg did not find it. */
  readonly rank: number | null
  readonly score: number | null
  /** How many places it went up by this stage; less than 0 for down. Null where there is nothing to compare. */
  readonly moved: number | null
  /** Whether the stage had something to say about it. */
  readonly spoke: boolean
  readonly note: string | null
}

export type Course = {
  readonly stages: readonly Stage[]
  /** For each result in its order, one standing for each stage. */
  readonly standings: readonly (readonly Standing[])[]
}

/** The legs look at the same time: neither comes before the other. */
const LEGS: ReadonlySet<Stage> = new Set(['keyword', 'meaning'])
/** From here on the order is that of the results; what follows only leaves out. */
const SETTLED: ReadonlySet<Stage> = new Set(['diversify', 'floor', 'fit', 'recent'])

export function courseOf(found: readonly Found[]): Course {
  const stages = STAGES.filter(
    (stage) =>
      (stage === 'fit' && found.length > 0) ||
      found.some(({ trail }) => trail.some((step) => step.stage === stage)),
  )
  const columns = stages.map((stage) => column(found, stage))
  const standings = found.map((memory, index) =>
    stages.map((stage, at): Standing => {
      const step = memory.trail.find((each) => each.stage === stage)
      const rank = columns[at]?.[index] ?? null
      return {
        stage,
        rank,
        score: step?.score ?? (LEGS.has(stage) ? null : scoreUntil(memory, stage)),
        moved: moved(stages, columns, at, index, rank),
        spoke: step !== undefined || stage === 'fit',
        note: step?.note ?? null,
      }
    }),
  )
  return { stages, standings }
}

/** The rank of each result after a stage. */
function column(found: readonly Found[], stage: Stage): readonly (number | null)[] {
  if (SETTLED.has(stage)) return found.map((_, index) => index + 1)
  const scored = found.map((memory, index) => ({ index, ...worth(memory, stage) }))
  const order = scored
    .filter(({ score }) => score !== null)
    .sort(
      (a, b) =>
        Number(b.isJudged) - Number(a.isJudged) ||
        (b.score ?? 0) - (a.score ?? 0) ||
        a.index - b.index,
    )
  const ranks = new Map(order.map(({ index }, position) => [index, position + 1]))
  return found.map((_, index) => ranks.get(index) ?? null)
}

/** Those that a reranker has read stand before the others, whatever their scores. */
function worth(memory: Found, stage: Stage) {
  const step = memory.trail.find((each) => each.stage === stage)
  if (LEGS.has(stage)) return { score: step?.score ?? null, isJudged: true }
  return {
    score: scoreUntil(memory, stage),
    isJudged: stage !== 'rerank' || step !== undefined,
  }
}

function scoreUntil({ trail, score }: Found, stage: Stage): number | null {
  const until = STAGES.indexOf(stage)
  const before = trail.filter((step) => {
    const at = STAGES.indexOf(step.stage as Stage) // one that is not known is at -1, and left out
    return at >= STAGES.indexOf('fuse') && at <= until
  })
  return before.at(-1)?.score ?? (trail.length === 0 ? score : null)
}

function moved(
  stages: readonly Stage[],
  columns: readonly (readonly (number | null)[])[],
  at: number,
  index: number,
  rank: number | null,
): number | null {
  const stage = stages[at]
  const before = stages[at - 1]
  if (stage === undefined || before === undefined || LEGS.has(stage) || LEGS.has(before))
    return null
  const was = columns[at - 1]?.[index] ?? null
  return was === null || rank === null ? null : was - rank
}
