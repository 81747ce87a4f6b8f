/**
 * What becomes of two memories that were kept beside each other because rules could not tell, once somebody else has said
 * what they are to each other. Bound by what binds rules: nothing that a person pinned, newer or better trusted gives way.
 */

import { hasEnded, type Memory, TRUST_LEVELS } from '../../../domain/memory.ts'
import type { Verdict } from '../../../domain/verdict.ts'
import type { Instant } from '../../../lib/time.ts'
import { inheritIdentity, isAutoPinned } from '../../../memory/pins.ts'
import { isExemptFromDecay } from '../../../memory/salience-decay.ts'
import {
  buildAbsorbed,
  buildSurvivor,
  type ChangeStamp,
  decidePairMerge,
} from '../merging/merge-decision.ts'

export type VerdictSettlement = {
  readonly kind: 'duplicate' | 'update' | 'conflict'
  readonly replaced: readonly { readonly before: Memory; readonly after: Memory }[]
}

/** Null when both stay as they are. */
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

/** What lasts is left to people, unless it lasts because it was learned; and what waits for approval or is over is not compared. */
export function canAdjudicate(memory: Memory, now: Instant): boolean {
  return (
    memory.status === 'active' &&
    (!isExemptFromDecay(memory) || isAutoPinned(memory)) &&
    memory.category !== 'episode' &&
    memory.trust !== 'suspect' &&
    !hasEnded(memory, now)
  )
}

/** When what a memory says was said, as far as is known. */
export function getStatedAt({ validFrom, createdAt }: Memory): Instant {
  return validFrom ?? createdAt
}

function settleAsDuplicate(
  older: Memory,
  newer: Memory,
  stamp: ChangeStamp,
): VerdictSettlement | null {
  const merge = decidePairMerge(older, newer, stamp.now)
  const [goes] = merge?.absorbed ?? []
  if (merge === null || goes === undefined) return null
  const { survivor } = merge
  return {
    kind: 'duplicate',
    replaced: [
      { before: goes, after: buildAbsorbed(goes, survivor.id, stamp) },
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
  const gone = {
    ...buildAbsorbed(older, newer.id, stamp),
    validUntil: from !== null && from > since ? from : since,
  }
  // Whoever looks the key up wants what holds now.
  const key = newer.key ?? older.key
  const isHeir = key !== newer.key || isAutoPinned(older)
  const heir = { ...inheritIdentity(older, stampMemory(newer, stamp)), key }
  return {
    kind: 'update',
    replaced: [{ before: older, after: gone }, ...(isHeir ? [{ before: newer, after: heir }] : [])],
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

/** As it is after a change, before that is filled in. */
export function stampMemory(memory: Memory, { change, now }: ChangeStamp): Memory {
  return { ...memory, version: memory.version + 1, change, updatedAt: now }
}
