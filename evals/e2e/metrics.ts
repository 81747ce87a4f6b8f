/** Averages over the questions of a set. */
import type { Measurement, QuestionOutcome, UnrelatedKind } from './measure.ts'

export type EvidenceScores = {
  /** Questions with gold turns. */
  readonly questions: number
  readonly any: number
  readonly all: number
  /** The same without passages that other turns contain, too. */
  readonly ownAny: number
  readonly ownAll: number
  /** Questions whose evidence is in the block only as learned memories. */
  readonly memoryOnly: number
  /** The mean over the blocks of all questions. */
  readonly tokens: number
}

export type Share = { readonly count: number; readonly of: number }

export function scoreEvidence(outcomes: readonly QuestionOutcome[]): EvidenceScores {
  const counted = outcomes.filter(({ evidence }) => evidence.length > 0)
  const mean = (value: (outcome: QuestionOutcome) => number) =>
    counted.reduce((sum, outcome) => sum + value(outcome), 0) / Math.max(1, counted.length)
  return {
    questions: counted.length,
    any: mean(({ evidence }) => Number(evidence.some(({ source }) => source !== null))),
    all: mean(({ evidence }) => Number(evidence.every(({ source }) => source !== null))),
    ownAny: mean(({ evidence }) => Number(evidence.some(({ isOwn }) => isOwn))),
    ownAll: mean(({ evidence }) => Number(evidence.every(({ isOwn }) => isOwn))),
    memoryOnly: counted.filter(isMemoryOnly).length,
    tokens: mean(({ context }) => context.tokens),
  }
}

function isMemoryOnly({ evidence }: QuestionOutcome): boolean {
  return (
    evidence.some(({ source }) => source === 'memory') &&
    evidence.every(({ source }) => source !== 'passage')
  )
}

export function scoreNewestFirst(outcomes: readonly QuestionOutcome[]): Share {
  const counted = outcomes.filter(({ newestFirst }) => newestFirst !== null)
  return {
    count: counted.filter(({ newestFirst }) => newestFirst === true).length,
    of: counted.length,
  }
}

/** The number of unrelated questions with a block of more than identity memories. */
export function scoreUnrelated(
  { unrelated }: Pick<Measurement, 'unrelated'>,
  kinds: readonly UnrelatedKind[],
): Share {
  const selected = unrelated.filter(({ kind }) => kinds.includes(kind))
  return { count: selected.filter(({ context }) => context.items > 0).length, of: selected.length }
}

export function ratio({ count, of }: Share): number {
  return of === 0 ? 0 : count / of
}
