/**
 * Applies a verdict to a pair of memories. The limits of rules hold: memories that a person pinned, newer ones and more
 * trusted ones are never superseded.
 */

import { hasEnded, type Memory, TRUST_LEVELS } from '../../../domain/memory.ts'
import type { Verdict } from '../../../domain/verdict.ts'
import type { Instant } from '../../../lib/time.ts'
import { type ChangeStamp, stampMemory } from '../../../memory/memory-changes.ts'
import { inheritIdentity, isAutoPinned } from '../../../memory/pins.ts'
import { isExemptFromDecay } from '../../../memory/salience-decay.ts'
import { buildAbsorbed, buildSurvivor, decidePairMerge } from '../merging/merge-decision.ts'

export type VerdictSettlement = {
  readonly kind: 'duplicate' | 'update' | 'conflict'
  readonly replaced: readonly { readonly before: Memory; readonly after: Memory }[]
}

/** Null when both stay unchanged. */
export function applyVerdict(
  older: Memory,
  newer: Memory,
  verdict: Verdict,
  stamp: ChangeStamp,
): VerdictSettlement | null {
  if (!canAdjudicate(older, stamp.now) || !canAdjudicate(newer, stamp.now)) return null
  switch (verdict) {
    case 'duplicate':
      return settleAsDuplicate(older, newer, stamp)
    case 'update':
      return canReplace(older, newer)
        ? settleAsUpdate(older, newer, stamp)
        : settleAsConflict(older, newer, stamp)
    case 'conflict':
      return settleAsConflict(older, newer, stamp)
    default:
      return null
  }
}

/** Excludes memories that a person pinned, episodes, suspect and ended memories. */
export function canAdjudicate(memory: Memory, now: Instant): boolean {
  return (
    memory.status === 'active' &&
    (!isExemptFromDecay(memory) || isAutoPinned(memory)) &&
    memory.category !== 'episode' &&
    memory.trust !== 'suspect' &&
    !hasEnded(memory, now)
  )
}

/** When the statement was made, as far as known. */
export function getStatedAt({ validFrom, createdAt }: Memory): Instant {
  return validFrom ?? createdAt
}

function settleAsDuplicate(
  older: Memory,
  newer: Memory,
  stamp: ChangeStamp,
): VerdictSettlement | null {
  const merge = decidePairMerge(older, newer, stamp.now)
  const [absorbed] = merge?.absorbed ?? []
  if (merge === null || absorbed === undefined) return null
  const { survivor } = merge
  return {
    kind: 'duplicate',
    replaced: [
      { before: absorbed, after: buildAbsorbed(absorbed, survivor.id, stamp) },
      { before: survivor, after: buildSurvivor(merge, stamp) },
    ],
  }
}

function canReplace(older: Memory, newer: Memory): boolean {
  const isLessTrusted = TRUST_LEVELS.indexOf(newer.trust) > TRUST_LEVELS.indexOf(older.trust)
  return getStatedAt(newer) >= getStatedAt(older) && !isLessTrusted
}

function settleAsUpdate(older: Memory, newer: Memory, stamp: ChangeStamp): VerdictSettlement {
  const since = getStatedAt(newer)
  const from = older.validFrom
  const superseded = {
    ...buildAbsorbed(older, newer.id, stamp),
    validUntil: from !== null && from > since ? from : since,
  }
  // Lookups by key must return the current statement.
  const key = newer.key ?? older.key
  const isInheriting = key !== newer.key || isAutoPinned(older)
  const successor = { ...inheritIdentity(older, stampMemory(newer, stamp)), key }
  return {
    kind: 'update',
    replaced: [
      { before: older, after: superseded },
      ...(isInheriting ? [{ before: newer, after: successor }] : []),
    ],
  }
}

function settleAsConflict(
  older: Memory,
  newer: Memory,
  stamp: ChangeStamp,
): VerdictSettlement | null {
  if (newer.conflictsWith !== null || older.conflictsWith === newer.id) return null
  const after = { ...stampMemory(newer, stamp), conflictsWith: older.id }
  return { kind: 'conflict', replaced: [{ before: newer, after }] }
}
