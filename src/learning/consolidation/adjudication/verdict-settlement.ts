/**
 * What becomes of two memories that were kept beside each other because rules could not tell, once somebody else has said
 * what they are to each other. Bound by what binds rules: nothing that a person pinned, newer or better trusted gives way.
 */

import { hasEnded, type Memory, TRUST_LEVELS } from '../../../domain/memory.ts'
import type { Verdict } from '../../../domain/verdict.ts'
import type { Instant } from '../../../lib/time.ts'
import { inPlaceOf, isPinnedByMachine } from '../../../memory/pins.ts'
import { isLasting } from '../../../memory/salience.ts'
import { absorbedBy, mergeOfSame, type Stamp, survivorOf } from '../merging/merge-decision.ts'

export type Settlement = {
  readonly kind: 'duplicate' | 'update' | 'conflict'
  readonly replaced: readonly { readonly before: Memory; readonly after: Memory }[]
}

/** Null when both stay as they are. */
export function settle(
  older: Memory,
  newer: Memory,
  verdict: Verdict,
  stamp: Stamp,
): Settlement | null {
  if (!canSettle(older, stamp.now) || !canSettle(newer, stamp.now)) return null
  switch (verdict) {
    case 'duplicate':
      return merged(older, newer, stamp)
    case 'update':
      return mayReplace(older, newer)
        ? superseded(older, newer, stamp)
        : conflicting(older, newer, stamp)
    case 'conflict':
      return conflicting(older, newer, stamp)
    default:
      return null
  }
}

/** What lasts is left to people, unless it lasts because it was learned; and what waits for approval or is over is not compared. */
export function canSettle(memory: Memory, now: Instant): boolean {
  return (
    memory.status === 'active' &&
    (!isLasting(memory) || isPinnedByMachine(memory)) &&
    memory.category !== 'episode' &&
    memory.trust !== 'suspect' &&
    !hasEnded(memory, now)
  )
}

/** When what a memory says was said, as far as is known. */
export function saidAt({ validFrom, createdAt }: Memory): Instant {
  return validFrom ?? createdAt
}

function merged(older: Memory, newer: Memory, stamp: Stamp): Settlement | null {
  const merge = mergeOfSame(older, newer, stamp.now)
  const [goes] = merge?.absorbed ?? []
  if (merge === null || goes === undefined) return null
  const { survivor } = merge
  return {
    kind: 'duplicate',
    replaced: [
      { before: goes, after: absorbedBy(goes, survivor.id, stamp) },
      { before: survivor, after: survivorOf(merge, stamp) },
    ],
  }
}

function mayReplace(older: Memory, newer: Memory): boolean {
  const isLessTrusted = TRUST_LEVELS.indexOf(newer.trust) > TRUST_LEVELS.indexOf(older.trust)
  return saidAt(newer) >= saidAt(older) && !isLessTrusted
}

function superseded(older: Memory, newer: Memory, stamp: Stamp): Settlement {
  const since = saidAt(newer)
  const from = older.validFrom
  const gone = {
    ...absorbedBy(older, newer.id, stamp),
    validUntil: from !== null && from > since ? from : since,
  }
  // Whoever looks the key up wants what holds now.
  const key = newer.key ?? older.key
  const isHeir = key !== newer.key || isPinnedByMachine(older)
  const heir = { ...inPlaceOf(older, changed(newer, stamp)), key }
  return {
    kind: 'update',
    replaced: [{ before: older, after: gone }, ...(isHeir ? [{ before: newer, after: heir }] : [])],
  }
}

function conflicting(older: Memory, newer: Memory, stamp: Stamp): Settlement | null {
  if (newer.conflictsWith !== null || older.conflictsWith === newer.id) return null
  const after = { ...changed(newer, stamp), conflictsWith: older.id }
  return { kind: 'conflict', replaced: [{ before: newer, after }] }
}

/** As it is after a change, before that is filled in. */
export function changed(memory: Memory, { change, now }: Stamp): Memory {
  return { ...memory, version: memory.version + 1, change, updatedAt: now }
}
