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

export type Rename = <Id extends MemoryId | RevisionId | TurnId | ChangeId>(id: Id) => Id

/** What ids are written with. */
export const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Of an id, after its prefix: the time and the counter, by which it sorts, and then what is drawn. */
const SORTED_CHARACTERS = 14
const DRAWN_CHARACTERS = 8

/** The same for the same owner and id. It sorts among others as the old one did. */
export function derivedId<Id extends string>(owner: OwnerId, id: Id): Id {
  const start = id.indexOf('_') + 1
  const sorted = id.slice(start, start + SORTED_CHARACTERS)
  const wholeLength = SORTED_CHARACTERS + DRAWN_CHARACTERS
  // What is longer is numbered at its end, as the earlier wordings of one memory are.
  const numbered = id.slice(0, start + wholeLength)
  const hash = hashedCharacters([owner, numbered], wholeLength - sorted.length)
  return `${id.slice(0, start)}${sorted}${hash}${id.slice(numbered.length)}` as Id // of the same form
}

/** Text in the form of ids that is the same for the same parts, and for nothing else. */
export function hashedCharacters(parts: readonly (string | null)[], characters: number): string {
  const hex = sha256(JSON.stringify(parts))
  return [...(hex.match(/../g) ?? [])]
    .slice(0, characters)
    .map((byte) => ID_ALPHABET[Number.parseInt(byte, 16) & 31])
    .join('')
}

export function renamedMemory(memory: Memory, rename: Rename): Memory {
  const { supersededBy, conflictsWith, provenance } = memory
  return {
    ...memory,
    id: rename(memory.id),
    supersededBy: supersededBy === null ? null : rename(supersededBy),
    conflictsWith: conflictsWith === null ? null : rename(conflictsWith),
    provenance: {
      ...provenance,
      turns: provenance.turns.map((turn) => (isTurnId(turn) ? rename(turn) : turn)),
    },
    change: rename(memory.change),
  }
}

export function renamedRevision(revision: Revision, rename: Rename): Revision {
  return {
    ...revision,
    id: rename(revision.id),
    memory: renamedMemory(revision.memory, rename),
    replacedBy: rename(revision.replacedBy),
  }
}

export function renamedTurn(turn: Turn, rename: Rename): Turn {
  return { ...turn, id: rename(turn.id) }
}

/** The other tables hold nothing that is drawn or that points at what is. */
export function renamedEntry(entry: TableRow, rename: Rename): TableRow {
  if (entry.table === 'memory') return { ...entry, row: renamedMemory(entry.row, rename) }
  if (entry.table === 'revision') return { ...entry, row: renamedRevision(entry.row, rename) }
  if (entry.table === 'turn') return { ...entry, row: renamedTurn(entry.row, rename) }
  return entry
}

/** Evidence may also be what another system calls its messages; that stays as it is. */
export function isTurnId(evidence: string): boolean {
  return /^turn_[0-9A-Za-z_]{1,60}$/.test(evidence)
}
