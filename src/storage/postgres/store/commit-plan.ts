/**
 * Decides a commit in memory, from what is stored about the rows it touches: either the first change that cannot
 * apply, or everything that is to be written. Nothing is written before this is known, so a conflict has nothing
 * to undo, and two thousand changes take as few statements as one.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { holdsKey, type Memory } from '../../../domain/memory.ts'
import { covers, type Place, type Scope } from '../../../domain/scope.ts'
import type { Instant } from '../../../lib/time.ts'
import { refusalOf } from '../../row-expectation.ts'
import { type Change, type CommitOutcome, forEachTable, type Row, type Table } from '../../store.ts'

/** What a commit must know of a row that is stored. */
export type Head = { readonly id: string; readonly place: Place; readonly version: number }

export type MemoryHead = Head & Pick<Memory, 'key' | 'status'>

type HeadOf<T extends Table> = T extends 'memory' ? MemoryHead : Head

export type Heads = { readonly [T in Table]: ReadonlyMap<string, HeadOf<T>> }

export type Count = { readonly id: MemoryId; readonly uses: number; readonly usedAt: Instant }

export type Writes = {
  readonly kind: 'writes'
  readonly puts: { readonly [T in Table]: readonly Row<T>[] }
  /** To be done before the puts: a row that was removed may come back under another owner or user. */
  readonly removes: { readonly [T in Table]: readonly string[] }
  readonly counts: readonly Count[]
  /** Stored memories whose key another memory takes over: it must be free before that one is written. */
  readonly releases: readonly string[]
}

export type Conflict = Extract<CommitOutcome, { kind: 'conflict' }>

/** A row as the commit has left it so far. */
type Slot<T extends Table> = {
  readonly place: Place
  readonly version: number
  /** The new row, or null while the stored one stands. */
  readonly row: Row<T> | null
}

type Slots = { readonly [T in Table]: Map<string, Slot<T>> }

type Draft = {
  readonly slots: Slots
  /** Which memory holds a key, by `keyName`. */
  readonly holders: Map<string, string>
  /** The same the other way round. */
  readonly heldBy: Map<string, string>
  readonly counts: Map<string, Count>
  /** Also those that were put again afterwards: they begin anew, counters and all. */
  readonly removed: { readonly [T in Table]: Set<string> }
}

export function planCommit(changes: readonly Change[], heads: Heads): Writes | Conflict {
  const draft = draftOf(heads)
  for (const change of changes) {
    const conflict = change.op === 'count' ? count(draft, change) : apply(draft, change)
    if (conflict !== null) return conflict
  }
  const { slots } = draft
  return {
    kind: 'writes',
    puts: {
      memory: newRows(slots.memory),
      revision: newRows(slots.revision),
      tombstone: newRows(slots.tombstone),
      entry: newRows(slots.entry),
      turn: newRows(slots.turn),
    },
    removes: forEachTable((table) =>
      [...draft.removed[table]].filter((id) => heads[table].has(id)),
    ),
    counts: [...draft.counts.values()],
    releases: [...heads.memory.values()]
      .filter((head) => slots.memory.has(head.id) && losesKey(head, draft.holders))
      .map((head) => head.id),
  }
}

function draftOf(heads: Heads): Draft {
  const slotsFrom = (stored: ReadonlyMap<string, Head>) =>
    new Map([...stored].map(([id, { place, version }]) => [id, { place, version, row: null }]))
  const draft: Draft = {
    slots: {
      memory: slotsFrom(heads.memory),
      revision: slotsFrom(heads.revision),
      tombstone: slotsFrom(heads.tombstone),
      entry: slotsFrom(heads.entry),
      turn: slotsFrom(heads.turn),
    },
    holders: new Map(),
    heldBy: new Map(),
    counts: new Map(),
    removed: forEachTable(() => new Set()),
  }
  for (const head of heads.memory.values()) hold(draft, head)
  return draft
}

function apply(draft: Draft, change: Exclude<Change, { op: 'count' }>): Conflict | null {
  const id = change.op === 'put' ? change.row.id : change.id
  const scope = change.op === 'put' ? homeOf(change.row) : change.scope
  const existing = draft.slots[change.table].get(id)
  const isVisible = existing !== undefined && covers(scope, existing.place)
  const because = refusalOf(
    change.expect,
    existing === undefined ? null : { version: existing.version, isCovered: isVisible },
  )
  if (because !== null) return { kind: 'conflict', table: change.table, id, because }
  if (change.op === 'remove' && isVisible) {
    draft.slots[change.table].delete(id)
    draft.removed[change.table].add(id)
    if (change.table === 'memory') {
      letGo(draft, id)
      draft.counts.delete(id)
    }
  }
  return change.op === 'put' ? put(draft, change) : null
}

function put(draft: Draft, change: Extract<Change, { op: 'put' }>): Conflict | null {
  const { row, table } = change
  const id: string = row.id
  const slot = { place: placeOf(row), version: versionOf(row), row }
  if (table === 'memory') {
    const holder = holdsKey(row) ? draft.holders.get(keyName(row)) : id
    const isTaken = holder !== undefined && holder !== id
    if (isTaken) return { kind: 'conflict', table, id, because: 'key' }
    letGo(draft, id)
    hold(draft, row)
    const earlier = draft.slots.memory.get(id)?.row
    if (earlier != null) slot.row = keepingUses(row, earlier)
  }
  // The table and the row's type belong together in `Change`; looking both up apart loses that.
  const slots = draft.slots[table] as Map<string, Slot<Table>>
  slots.set(id, slot)
  return null
}

function count(draft: Draft, change: Extract<Change, { op: 'count' }>): null {
  const { id, scope, uses, usedAt } = change
  const slot = draft.slots.memory.get(id)
  if (slot === undefined || !covers(scope, slot.place)) return null
  if (slot.row === null) {
    const known = draft.counts.get(id)
    draft.counts.set(id, {
      id,
      uses: (known?.uses ?? 0) + uses,
      usedAt: later(known?.usedAt ?? null, usedAt),
    })
  } else {
    const { useCount, lastUsedAt } = slot.row
    const row = { ...slot.row, useCount: useCount + uses, lastUsedAt: later(lastUsedAt, usedAt) }
    draft.slots.memory.set(id, { ...slot, row })
  }
  return null
}

/** What the core's rule reads of a memory, so that it can be asked about stored ones as well. */
type Keyed = Pick<Memory, 'place' | 'key' | 'status'>

function hold(draft: Draft, memory: Keyed & { readonly id: string }): void {
  if (!holdsKey(memory)) return
  draft.holders.set(keyName(memory), memory.id)
  draft.heldBy.set(memory.id, keyName(memory))
}

/** The key of a row that is replaced or removed is free. */
function letGo(draft: Draft, id: string): void {
  const key = draft.heldBy.get(id)
  if (key !== undefined) draft.holders.delete(key)
  draft.heldBy.delete(id)
}

/** Within one commit as between commits: a put never lowers the counters. */
function keepingUses(row: Memory, earlier: Memory): Memory {
  return {
    ...row,
    useCount: Math.max(row.useCount, earlier.useCount),
    lastUsedAt:
      earlier.lastUsedAt === null ? row.lastUsedAt : later(row.lastUsedAt, earlier.lastUsedAt),
  }
}

function losesKey(head: MemoryHead, holders: ReadonlyMap<string, string>): boolean {
  if (!holdsKey(head)) return false
  const holder = holders.get(keyName(head))
  return holder !== undefined && holder !== head.id
}

function keyName({ place, key }: Keyed): string {
  return JSON.stringify([place.owner, place.user, key])
}

function newRows<T extends Table>(slots: ReadonlyMap<string, Slot<T>>): readonly Row<T>[] {
  return [...slots.values()].flatMap((slot) => (slot.row === null ? [] : [slot.row]))
}

/** A row stays with its owner and user; the session is only where it was learned. */
function homeOf(row: Row<Table>): Scope {
  const { owner, user } = placeOf(row)
  return { owner, user }
}

function placeOf(row: Row<Table>): Place {
  return 'memory' in row ? row.memory.place : row.place
}

function versionOf(row: Row<Table>): number {
  return 'version' in row ? row.version : 1
}

function later(a: Instant | null, b: Instant): Instant {
  return a === null || a < b ? b : a
}
