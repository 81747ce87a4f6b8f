/** Decides which memories are moved to the trash: faded ones and those past their retention. */

import type { Memory } from '../../../domain/memory.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import { addMs, DAY_MS, type Instant } from '../../../lib/time.ts'
import {
  computeEffectiveSalience,
  countIdleDays,
  type DecayInput,
  isExemptFromDecay,
} from '../../../memory/salience-decay.ts'

/** Memories that were used more recently are never evicted. */
export const IDLE_DAYS_MIN = 30

export type EvictionDecision = {
  /** `expire`: not used for longer than `retention.unusedDays`. */
  readonly kind: 'evict' | 'expire' | 'delete-episode'
  /** A sentence for the report. */
  readonly reason: string
}

export type EvictionCandidate = DecayInput &
  Pick<Memory, 'trust' | 'status'> & { readonly isProtected: boolean }

/** Memories of at least this importance are never evicted. */
const PROTECTED_IMPORTANCE_MIN = 7

/**
 * Only what the system itself extracted fades away. Statements that a person or a program wrote or imported stay until
 * somebody forgets them, and so do pinned and important memories. Only callers without an extractor write keys.
 */
export function isProtectedFromEviction({
  provenance,
  trust,
  pinned,
  importance,
}: Pick<Memory, 'provenance' | 'trust' | 'pinned' | 'importance'>): boolean {
  const isMachineMade = provenance.extractor !== null && trust !== 'import'
  return !isMachineMade || pinned || importance >= PROTECTED_IMPORTANCE_MIN
}

/** Null when the memory stays. Suspect memories await review and do not fade. */
export function decideEviction(
  memory: EvictionCandidate,
  now: Instant,
  settings: Pick<Settings, 'retention.minSalience' | 'retention.unusedDays'>,
): EvictionDecision | null {
  if (memory.status !== 'active' || memory.isProtected || isExemptFromDecay(memory)) return null
  const idle = countIdleDays(memory, now)
  const { 'retention.minSalience': salienceFloor, 'retention.unusedDays': retentionDays } = settings
  if (retentionDays > 0 && idle >= retentionDays) {
    const reason = `It was not used for ${formatDays(idle)}, and is kept for ${formatDays(retentionDays)}.`
    return { kind: 'expire', reason }
  }
  const left = computeEffectiveSalience(memory, now)
  const isFact = memory.category !== 'episode' && memory.trust !== 'suspect'
  if (!isFact || idle < IDLE_DAYS_MIN || left >= salienceFloor) return null
  const faded = `Its salience of ${memory.salience.toFixed(2)} has faded to ${left.toFixed(2)}`
  const reason = `${faded}, below ${salienceFloor}: it was not used for ${formatDays(idle)}.`
  return { kind: 'evict', reason }
}

/**
 * Rows from before this instant are past their retention; null without a limit. Episodes age from their creation, so
 * the episode of an old conversation that was imported today is new. Turns age from when they were said.
 */
export function computeRetentionCutoff(now: Instant, retentionDays: number): Instant | null {
  return retentionDays === 0 ? null : addMs(now, -retentionDays * DAY_MS)
}

export function formatDays(count: number): string {
  const whole = Math.floor(count)
  return whole === 1 ? '1 day' : `${whole} days`
}
