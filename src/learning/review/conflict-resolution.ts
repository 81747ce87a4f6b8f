/**
 * What becomes of two memories once a person has said which of them holds. Unlike what rules and models say, it binds:
 * what is pinned, newer or better trusted gives way as well.
 */

import { PROVENANCE_TURNS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import { confirmPin } from '../../memory/pins.ts'
import { getStatedAt, stampMemory } from '../consolidation/adjudication/verdict-settlement.ts'
import { buildAbsorbed, type ChangeStamp } from '../consolidation/merging/merge-decision.ts'

export type ConflictChoice = {
  readonly keep: Memory
  readonly drop: Memory
  /** What the one that stays says from now on, when it takes words of both. */
  readonly content: string | null
}

export type MemoryReplacement = { readonly before: Memory; readonly after: Memory }

/** The one that goes comes first, so that its key is free for the one that stays. */
export function buildConflictResolution(
  { keep, drop, content }: ConflictChoice,
  stamp: ChangeStamp,
): readonly MemoryReplacement[] {
  const since = getStatedAt(keep)
  const from = drop.validFrom
  const gone: Memory = {
    ...buildAbsorbed(drop, keep.id, stamp),
    // What was never true has held for no time.
    validUntil: from !== null && from > since ? from : since,
  }
  const stays: Memory = {
    ...confirmPin(stampMemory(keep, stamp)),
    // Whoever looks the key up wants what holds now.
    key: keep.key ?? drop.key,
    conflictsWith: getRemainingConflict(keep, drop),
    ...(content === null ? {} : { content, ...mergeSources(keep, drop) }),
  }
  return [
    { before: drop, after: gone },
    { before: keep, after: stays },
  ]
}

/** Whatever else the one that goes was in conflict with, the one that stays is now. */
function getRemainingConflict(keep: Memory, drop: Memory): Memory['conflictsWith'] {
  if (keep.conflictsWith !== null && keep.conflictsWith !== drop.id) return keep.conflictsWith
  return drop.conflictsWith === keep.id ? null : drop.conflictsWith
}

function mergeSources(keep: Memory, drop: Memory): Pick<Memory, 'provenance' | 'sourceCount'> {
  const turns = new Set([...keep.provenance.turns, ...drop.provenance.turns])
  return {
    sourceCount: keep.sourceCount + drop.sourceCount,
    provenance: { ...keep.provenance, turns: [...turns].slice(0, PROVENANCE_TURNS_MAX) },
  }
}

/** One that was in conflict with the memory that went is in conflict with the one that took its place. */
export function redirectConflict(
  memory: Memory,
  other: Memory,
  stamp: ChangeStamp,
): MemoryReplacement {
  return { before: memory, after: { ...stampMemory(memory, stamp), conflictsWith: other.id } }
}

/** Both hold. */
export function clearConflict(memory: Memory, stamp: ChangeStamp): MemoryReplacement {
  return { before: memory, after: { ...stampMemory(memory, stamp), conflictsWith: null } }
}
