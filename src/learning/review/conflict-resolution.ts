/**
 * Resolution of a conflict by a person. Unlike a decision of rules or models, it also overrides pinned, newer and more
 * trusted memories.
 */

import { PROVENANCE_TURNS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import { type ChangeStamp, stampMemory } from '../../memory/memory-changes.ts'
import { confirmPin } from '../../memory/pins.ts'
import { getStatedAt } from '../consolidation/adjudication/verdict-settlement.ts'
import { buildAbsorbed } from '../consolidation/merging/merge-decision.ts'

export type ConflictChoice = {
  readonly keep: Memory
  readonly drop: Memory
  /** The new wording of the kept memory, if it combines both. */
  readonly content: string | null
}

export type MemoryReplacement = { readonly before: Memory; readonly after: Memory }

/** The dropped memory comes first, so that its key is free for the kept one. */
export function buildConflictResolution(
  { keep, drop, content }: ConflictChoice,
  stamp: ChangeStamp,
): readonly [dropped: MemoryReplacement, kept: MemoryReplacement] {
  const since = getStatedAt(keep)
  const from = drop.validFrom
  const dropped: Memory = {
    ...buildAbsorbed(drop, keep.id, stamp),
    // A statement that was never true gets an empty period.
    validUntil: from !== null && from > since ? from : since,
  }
  const kept: Memory = {
    ...confirmPin(stampMemory(keep, stamp)),
    // Lookups by key must return the current statement.
    key: keep.key ?? drop.key,
    conflictsWith: getRemainingConflict(keep, drop),
    ...(content === null ? {} : { content, ...mergeSources(keep, drop) }),
  }
  return [
    { before: drop, after: dropped },
    { before: keep, after: kept },
  ]
}

/** Several memories as one: the first keeps its id, gets the wording and all sources, and supersedes the others. */
export function buildMerge(
  [keep, ...drops]: readonly [Memory, ...Memory[]],
  content: string,
  stamp: ChangeStamp,
): readonly [MemoryReplacement, ...MemoryReplacement[]] {
  const dropped = drops.map((drop) => {
    const [replacement] = buildConflictResolution({ keep, drop, content: null }, stamp)
    return replacement
  })
  const ids = new Set(drops.map(({ id }) => id))
  const after: Memory = {
    ...confirmPin(stampMemory(keep, stamp)),
    content,
    key: keep.key ?? drops.find(({ key }) => key !== null)?.key ?? null,
    ...mergeSources(keep, ...drops),
    conflictsWith:
      keep.conflictsWith !== null && ids.has(keep.conflictsWith) ? null : keep.conflictsWith,
  }
  return [{ before: keep, after }, ...dropped]
}

/** The kept memory inherits the other conflict of the dropped one. */
function getRemainingConflict(keep: Memory, drop: Memory): Memory['conflictsWith'] {
  if (keep.conflictsWith !== null && keep.conflictsWith !== drop.id) return keep.conflictsWith
  return drop.conflictsWith === keep.id ? null : drop.conflictsWith
}

function mergeSources(
  keep: Memory,
  ...drops: readonly Memory[]
): Pick<Memory, 'provenance' | 'sourceCount'> {
  const all = [keep, ...drops]
  const turns = new Set(all.flatMap(({ provenance }) => provenance.turns))
  return {
    sourceCount: all.reduce((sum, { sourceCount }) => sum + sourceCount, 0),
    provenance: { ...keep.provenance, turns: [...turns].slice(0, PROVENANCE_TURNS_MAX) },
  }
}

/** Points a conflict with the dropped memory to the kept one. */
export function redirectConflict(
  memory: Memory,
  other: Memory,
  stamp: ChangeStamp,
): MemoryReplacement {
  return { before: memory, after: { ...stampMemory(memory, stamp), conflictsWith: other.id } }
}

/** Both statements hold. */
export function clearConflict(memory: Memory, stamp: ChangeStamp): MemoryReplacement {
  return { before: memory, after: { ...stampMemory(memory, stamp), conflictsWith: null } }
}
