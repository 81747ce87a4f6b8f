/** Boosts by importance, effective salience and recency, which decide between equally relevant memories. */

import { getEventTime } from '../../domain/memory.ts'
import type { SearchDocument } from '../../domain/search-document.ts'
import { exponentialDecay, type Instant } from '../../lib/time.ts'
import { computeEffectiveSalience } from '../../memory/salience-decay.ts'
import { addTrailStep, compareByScore, type LoadedCandidate } from './candidate.ts'

export type BoostOptions = {
  /** The half-life of freshness; 0 ignores age. */
  readonly halfLifeDays: number
  /** 0 … 1: the share of a score that depends on freshness. */
  readonly recencyWeight: number
  /** 0 … 1: how much importance and salience can raise or lower a score. */
  readonly importanceWeight: number
}

export function applyBoosts(
  candidates: readonly LoadedCandidate[],
  now: Instant,
  options: BoostOptions,
): readonly LoadedCandidate[] {
  return candidates
    .map((candidate) => {
      const { memory } = candidate
      const fresh = computeFreshness(memory, now, options.halfLifeDays)
      const salience = computeEffectiveSalience(memory, now)
      const worth = (memory.importance - 5.5) / 4.5 / 2 + (salience - 0.5)
      const factor =
        (1 - options.recencyWeight * (1 - fresh)) * (1 + (options.importanceWeight * worth) / 2)
      if (factor === 1) return candidate
      const note = () =>
        `importance ${memory.importance}, salience ${salience.toFixed(2)}, freshness ${fresh.toFixed(2)}`
      return addTrailStep(candidate, 'boost', candidate.score * factor, note)
    })
    .sort(compareByScore)
}

/** 1 for new and pinned memories, halving with every half-life since the last use. */
export function computeFreshness(
  memory: SearchDocument,
  now: Instant,
  halfLifeDays: number,
): number {
  if (memory.pinned || halfLifeDays === 0) return 1
  const last = Math.max(getEventTime(memory), memory.lastUsedAt ?? Number.NEGATIVE_INFINITY)
  return exponentialDecay(now - last, halfLifeDays)
}
