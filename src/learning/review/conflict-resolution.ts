/**
 * What becomes of two memories once a person has said which of them holds. Unlike what rules and models say, it binds:
 * what is pinned, newer or better trusted gives way as well.
 */

import { PROVENANCE_TURNS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import { heldByPerson } from '../../memory/pins.ts'
import { changed, saidAt } from '../consolidation/adjudication/verdict-settlement.ts'
import { absorbedBy, type Stamp } from '../consolidation/merging/merge-decision.ts'

export type Choice = {
  readonly keep: Memory
  readonly drop: Memory
  /** What the one that stays says from now on, when it takes words of both. */
  readonly content: string | null
}

export type Replaced = { readonly before: Memory; readonly after: Memory }

/** The one that goes comes first, so that its key is free for the one that stays. */
export function choose({ keep, drop, content }: Choice, stamp: Stamp): readonly Replaced[] {
  const since = saidAt(keep)
  const from = drop.validFrom
  const gone: Memory = {
    ...absorbedBy(drop, keep.id, stamp),
    // What was never true has held for no time.
    validUntil: from !== null && from > since ? from : since,
  }
  const stays: Memory = {
    ...heldByPerson(changed(keep, stamp)),
    // Whoever looks the key up wants what holds now.
    key: keep.key ?? drop.key,
    conflictsWith: conflictLeft(keep, drop),
    ...(content === null ? {} : { content, ...withSourcesOf(keep, drop) }),
  }
  return [
    { before: drop, after: gone },
    { before: keep, after: stays },
  ]
}

/** Whatever else the one that goes was in conflict with, the one that stays is now. */
function conflictLeft(keep: Memory, drop: Memory): Memory['conflictsWith'] {
  if (keep.conflictsWith !== null && keep.conflictsWith !== drop.id) return keep.conflictsWith
  return drop.conflictsWith === keep.id ? null : drop.conflictsWith
}

function withSourcesOf(keep: Memory, drop: Memory): Pick<Memory, 'provenance' | 'sourceCount'> {
  const turns = new Set([...keep.provenance.turns, ...drop.provenance.turns])
  return {
    sourceCount: keep.sourceCount + drop.sourceCount,
    provenance: { ...keep.provenance, turns: [...turns].slice(0, PROVENANCE_TURNS_MAX) },
  }
}

/** One that was in conflict with the memory that went is in conflict with the one that took its place. */
export function inConflictWith(memory: Memory, other: Memory, stamp: Stamp): Replaced {
  return { before: memory, after: { ...changed(memory, stamp), conflictsWith: other.id } }
}

/** Both hold. */
export function withoutConflict(memory: Memory, stamp: Stamp): Replaced {
  return { before: memory, after: { ...changed(memory, stamp), conflictsWith: null } }
}
