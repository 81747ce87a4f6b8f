/** Importance, what is left of salience, and age: what makes one of two equally fitting memories the better answer. */

import type { SearchDocument } from '../../domain/search-document.ts'
import { remainingShare } from '../../lib/decay.ts'
import type { Instant } from '../../lib/time.ts'
import { effectiveSalience } from '../../memory/salience.ts'
import { byScore, type Loaded, stepped } from './candidate.ts'
import { momentOf } from './question-match.ts'

export type WeighOptions = {
  /** After how many days a memory has half of its freshness; 0 leaves age out. */
  readonly halfLifeDays: number
  /** 0 … 1: how much of a score freshness decides. */
  readonly ageWeight: number
  /** 0 … 1: how much importance and salience may raise or lower a score. */
  readonly importanceWeight: number
}

export function weigh(
  candidates: readonly Loaded[],
  now: Instant,
  options: WeighOptions,
): readonly Loaded[] {
  return candidates
    .map((candidate) => {
      const { memory } = candidate
      const fresh = freshness(memory, now, options.halfLifeDays)
      const salience = effectiveSalience(memory, now)
      const worth = (memory.importance - 5.5) / 4.5 / 2 + (salience - 0.5)
      const factor =
        (1 - options.ageWeight * (1 - fresh)) * (1 + (options.importanceWeight * worth) / 2)
      if (factor === 1) return candidate
      const note = () =>
        `importance ${memory.importance}, salience ${salience.toFixed(2)}, freshness ${fresh.toFixed(2)}`
      return stepped(candidate, 'weigh', candidate.score * factor, note)
    })
    .sort(byScore)
}

/** 1 for what is new or pinned, halving with every half-life since it was last of use. */
export function freshness(memory: SearchDocument, now: Instant, halfLifeDays: number): number {
  if (memory.pinned || halfLifeDays === 0) return 1
  const last = Math.max(momentOf(memory), memory.lastUsedAt ?? Number.NEGATIVE_INFINITY)
  return remainingShare(now - last, halfLifeDays)
}
