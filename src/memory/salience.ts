/**
 * How much of a memory's salience is left. The stored value is never lowered by time: what is in force is computed from
 * it and from the time since the memory was last of use, so looking more often changes nothing.
 */

import type { Memory } from '../domain/memory.ts'
import { DAY_MS, exponentialDecay, type Instant } from '../lib/time.ts'

export const SALIENCE_HALF_LIFE_DAYS = 30

export type DecayInput = Pick<
  Memory,
  'salience' | 'pinned' | 'category' | 'lastUsedAt' | 'updatedAt'
>

export function computeEffectiveSalience(memory: DecayInput, now: Instant): number {
  if (isExemptFromDecay(memory)) return memory.salience
  return memory.salience * exponentialDecay(now - getLastActivity(memory), SALIENCE_HALF_LIFE_DAYS)
}

/** Whether time and automatic changes leave it alone. */
export function isExemptFromDecay({
  pinned,
  category,
}: Pick<Memory, 'pinned' | 'category'>): boolean {
  return pinned || category === 'identity'
}

/** When it was last used or, if that is later, said again or changed. */
export function getLastActivity({
  lastUsedAt,
  updatedAt,
}: Pick<Memory, 'lastUsedAt' | 'updatedAt'>): Instant {
  return lastUsedAt !== null && lastUsedAt > updatedAt ? lastUsedAt : updatedAt
}

/** 0 for what was used later than now: the clock has been set back, and nobody knows how long ago that was. */
export function countIdleDays(
  memory: Pick<Memory, 'lastUsedAt' | 'updatedAt'>,
  now: Instant,
): number {
  return Math.max(0, now - getLastActivity(memory)) / DAY_MS
}
