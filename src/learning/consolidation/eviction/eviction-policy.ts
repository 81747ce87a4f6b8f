/** What has faded or outlived its time, and goes into the bin; each with its reason, in words for a person. */

import type { Memory } from '../../../domain/memory.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import { addMs, DAY_MS, type Instant } from '../../../lib/time.ts'
import {
  computeEffectiveSalience,
  countIdleDays,
  type DecayInput,
  isExemptFromDecay,
} from '../../../memory/salience-decay.ts'

/** However little salience is left, nothing goes that was of use more recently. */
export const IDLE_DAYS_MIN = 30

export type EvictionDecision = {
  /** `expire`: not used for longer than `retention.unusedDays`. */
  readonly kind: 'evict' | 'expire' | 'delete-episode'
  /** In words for a person. */
  readonly reason: string
}

export type EvictionCandidate = DecayInput & Pick<Memory, 'trust' | 'status'>

/** Why a memory goes into the bin, or null. What waits for somebody's approval doesn't fade. */
export function decideEviction(
  memory: EvictionCandidate,
  now: Instant,
  settings: Pick<Settings, 'retention.minSalience' | 'retention.unusedDays'>,
): EvictionDecision | null {
  if (memory.status !== 'active' || isExemptFromDecay(memory)) return null
  const idle = countIdleDays(memory, now)
  const { 'retention.minSalience': salienceFloor, 'retention.unusedDays': retentionDays } = settings
  if (retentionDays > 0 && idle >= retentionDays) {
    const because = `It was not used for ${formatDays(idle)}, and is kept for ${formatDays(retentionDays)}.`
    return { kind: 'expire', reason: because }
  }
  const left = computeEffectiveSalience(memory, now)
  const isFact = memory.category !== 'episode' && memory.trust !== 'suspect'
  if (!isFact || idle < IDLE_DAYS_MIN || left >= salienceFloor) return null
  const faded = `Its salience of ${memory.salience.toFixed(2)} has faded to ${left.toFixed(2)}`
  const because = `${faded}, below ${salienceFloor}: it was not used for ${formatDays(idle)}.`
  return { kind: 'evict', reason: because }
}

/**
 * Rows from before this instant are past their retention; null when they are kept forever. The age of an episode counts
 * from its creation, so the digest of an old conversation that was imported today is new. The age of a turn counts from
 * when it was said.
 */
export function computeRetentionCutoff(now: Instant, retentionDays: number): Instant | null {
  return retentionDays === 0 ? null : addMs(now, -retentionDays * DAY_MS)
}

export function formatDays(count: number): string {
  const whole = Math.floor(count)
  return whole === 1 ? '1 day' : `${whole} days`
}
