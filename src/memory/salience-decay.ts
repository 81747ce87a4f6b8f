/**
 * Salience decay: exponential, by the time since the last use. The stored value never decays; the effective one is computed
 * on every read.
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

/** Whether decay and automatic changes do not apply. */
export function isExemptFromDecay({
  pinned,
  category,
}: Pick<Memory, 'pinned' | 'category'>): boolean {
  return pinned || category === 'identity'
}

/** The last use or, if later, the last restatement or change. */
export function getLastActivity({
  lastUsedAt,
  updatedAt,
}: Pick<Memory, 'lastUsedAt' | 'updatedAt'>): Instant {
  return lastUsedAt !== null && lastUsedAt > updatedAt ? lastUsedAt : updatedAt
}

/** 0 for a use in the future, which means that the clock was set back. */
export function countIdleDays(
  memory: Pick<Memory, 'lastUsedAt' | 'updatedAt'>,
  now: Instant,
): number {
  return Math.max(0, now - getLastActivity(memory)) / DAY_MS
}
