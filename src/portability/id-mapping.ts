/**
 * New ids for what comes to another owner. An id belongs to one row of the whole store, so a copy needs ids of its own. They
 * are made from the owner and the old id: importing again finds what is already here, and what points at a row of the same
 * file still does.
 */
import type { ChangeId, MemoryId, OwnerId, RevisionId, TurnId } from '../domain/ids.ts'
import type { Memory, Revision } from '../domain/memory.ts'
import type { Turn } from '../domain/turn.ts'
import { sha256 } from '../lib/hash.ts'
import type { TableRow } from '../storage/store.ts'

export type MapId = <Id extends MemoryId | RevisionId | TurnId | ChangeId>(id: Id) => Id

/** What ids are written with. */
export const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Of an id, after its prefix: the time and the counter, by which it sorts, and then what is drawn. */
const SORTED_CHARACTERS = 14
const DRAWN_CHARACTERS = 8

/** The same for the same owner and id. It sorts among others as the old one did. */
export function deriveId<Id extends string>(owner: OwnerId, id: Id): Id {
  const start = id.indexOf('_') + 1
  const sorted = id.slice(start, start + SORTED_CHARACTERS)
  const wholeLength = SORTED_CHARACTERS + DRAWN_CHARACTERS
  // What is longer is numbered at its end, as the earlier wordings of one memory are.
  const numbered = id.slice(0, start + wholeLength)
  const hash = hashToAlphabet([owner, numbered], wholeLength - sorted.length)
  return `${id.slice(0, start)}${sorted}${hash}${id.slice(numbered.length)}` as Id // of the same form
}

/** Text in the form of ids that is the same for the same parts, and for nothing else. */
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

/** The other tables hold nothing that is drawn or that points at what is. */
export function mapRowIds(entry: TableRow, rename: MapId): TableRow {
  if (entry.table === 'memory') return { ...entry, row: mapMemoryIds(entry.row, rename) }
  if (entry.table === 'revision') return { ...entry, row: mapRevisionIds(entry.row, rename) }
  if (entry.table === 'turn') return { ...entry, row: mapTurnIds(entry.row, rename) }
  return entry
}

/** Evidence may also be what another system calls its messages; that stays as it is. */
export function isTurnIdText(evidence: string): boolean {
  return /^turn_[0-9A-Za-z_]{1,60}$/.test(evidence)
}
