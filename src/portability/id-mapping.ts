/**
 * Derived ids for rows that are copied to another owner, because ids are unique in the whole store. They depend only on
 * the owner and the old id, so importing again finds the copies, and references within a file stay intact.
 */ import type { ChangeId, MemoryId, OwnerId, RevisionId, TurnId } from '../domain/ids.ts'
import type { Memory, Revision } from '../domain/memory.ts'
import type { Turn } from '../domain/turn.ts'
import { sha256 } from '../lib/hash.ts'
import type { TableRow } from '../storage/store.ts'

export type MapId = <Id extends MemoryId | RevisionId | TurnId | ChangeId>(id: Id) => Id

/** The alphabet of ids (Crockford base 32, lower case). */
export const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** After the prefix an id has a sortable part (time and counter) and a random part. */
const SORTED_CHARACTERS = 14
const RANDOM_CHARACTERS = 8

/** Deterministic, and sorts like the old id. */
export function deriveId<Id extends string>(owner: OwnerId, id: Id): Id {
  const start = id.indexOf('_') + 1
  const sorted = id.slice(start, start + SORTED_CHARACTERS)
  const wholeLength = SORTED_CHARACTERS + RANDOM_CHARACTERS
  // Longer ids end with a number, as those of revisions do.
  const numbered = id.slice(0, start + wholeLength)
  const hash = hashToAlphabet([owner, numbered], wholeLength - sorted.length)
  return `${id.slice(0, start)}${sorted}${hash}${id.slice(numbered.length)}` as Id // has the same form
}

/** Hashes the parts into the alphabet of ids. */
export function hashToAlphabet(parts: readonly (string | null)[], characters: number): string {
  const hex = sha256(JSON.stringify(parts))
  return [...(hex.match(/../g) ?? [])]
    .slice(0, characters)
    .map((byte) => ID_ALPHABET[Number.parseInt(byte, 16) & 31])
    .join('')
}

export function mapMemoryIds(memory: Memory, rename: MapId): Memory {
  const { supersededBy, conflictsWith, provenance } = memory
  return {
    ...memory,
    id: rename(memory.id),
    supersededBy: supersededBy === null ? null : rename(supersededBy),
    conflictsWith: conflictsWith === null ? null : rename(conflictsWith),
    provenance: {
      ...provenance,
      turns: provenance.turns.map((turn) => (isTurnIdText(turn) ? rename(turn) : turn)),
    },
    change: rename(memory.change),
  }
}

export function mapRevisionIds(revision: Revision, rename: MapId): Revision {
  return {
    ...revision,
    id: rename(revision.id),
    memory: mapMemoryIds(revision.memory, rename),
    replacedBy: rename(revision.replacedBy),
  }
}

export function mapTurnIds(turn: Turn, rename: MapId): Turn {
  return { ...turn, id: rename(turn.id) }
}

/** Rows of the other tables have no random ids and no references. */
export function mapRowIds(entry: TableRow, rename: MapId): TableRow {
  if (entry.table === 'memory') return { ...entry, row: mapMemoryIds(entry.row, rename) }
  if (entry.table === 'revision') return { ...entry, row: mapRevisionIds(entry.row, rename) }
  if (entry.table === 'turn') return { ...entry, row: mapTurnIds(entry.row, rename) }
  return entry
}

/** Provenance may also name messages of another system, which stay as they are. */
export function isTurnIdText(evidence: string): boolean {
  return /^turn_[0-9A-Za-z_]{1,60}$/.test(evidence)
}
