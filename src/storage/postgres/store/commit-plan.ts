/**
 * Plans a commit in memory from the stored state of the rows it touches: either the first
 * conflicting change, or everything to write. Nothing is written before the plan is complete, so a
 * conflict needs no rollback, and two thousand changes take as few statements as one.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { isKeyHolder, type Memory } from '../../../domain/memory.ts'
import { isWithinScope, type Place, type Scope } from '../../../domain/scope.ts'
import type { Instant } from '../../../lib/time.ts'
import { checkExpectation } from '../../row-expectation.ts'
import { type Change, type CommitOutcome, mapTables, type Row, type Table } from '../../store.ts'

/** What a commit needs of a stored row. */
export type RowHead = { readonly id: string; readonly place: Place; readonly version: number }

export type MemoryRowHead = RowHead & Pick<Memory, 'key' | 'status'>

type HeadOf<T extends Table> = T extends 'memory' ? MemoryRowHead : RowHead

export type RowHeads = { readonly [T in Table]: ReadonlyMap<string, HeadOf<T>> }

export type UsageIncrement = {
  readonly id: MemoryId
  readonly uses: number
  readonly usedAt: Instant
}

export type CommitPlan = {
  readonly kind: 'writes'
  readonly puts: { readonly [T in Table]: readonly Row<T>[] }
  /** Runs before the puts: a removed row may be put again under another owner or user. */
  readonly removes: { readonly [T in Table]: readonly string[] }
  readonly usageIncrements: readonly UsageIncrement[]
  /**
   * Stored memories whose key another memory takes over: the key must be free before that one is
   * written.
   */
  readonly releasedKeys: readonly string[]
}

export type CommitConflict = Extract<CommitOutcome, { kind: 'conflict' }>

/** The state of a row within the commit so far. */
type RowSlot<T extends Table> = {
  readonly place: Place
  readonly version: number
  /** The new row, or null while the stored one is unchanged. */
  readonly row: Row<T> | null
}

type RowSlots = { readonly [T in Table]: Map<string, RowSlot<T>> }

type PlanDraft = {
  readonly slots: RowSlots
  /** The memory that holds a key, by `keyName`. */
  readonly holders: Map<string, string>
  /** The inverse: keys by memory. */
  readonly heldBy: Map<string, string>
  readonly counts: Map<string, UsageIncrement>
  /** Includes removed rows that were put again: they start over, counters included. */
  readonly removed: { readonly [T in Table]: Set<string> }
}

export function planCommit(
  changes: readonly Change[],
  heads: RowHeads,
): CommitPlan | CommitConflict {
  const draft = createDraft(heads)
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
    removes: mapTables((table) => [...draft.removed[table]].filter((id) => heads[table].has(id))),
    usageIncrements: [...draft.counts.values()],
    releasedKeys: [...heads.memory.values()]
      .filter((head) => slots.memory.has(head.id) && isKeyReleased(head, draft.holders))
      .map((head) => head.id),
  }
}

function createDraft(heads: RowHeads): PlanDraft {
  const slotsFrom = (stored: ReadonlyMap<string, RowHead>) =>
    new Map([...stored].map(([id, { place, version }]) => [id, { place, version, row: null }]))
  const draft: PlanDraft = {
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
    removed: mapTables(() => new Set()),
  }
  for (const head of heads.memory.values()) assignKey(draft, head)
  return draft
}

function apply(draft: PlanDraft, change: Exclude<Change, { op: 'count' }>): CommitConflict | null {
  const id = change.op === 'put' ? change.row.id : change.id
  const scope = change.op === 'put' ? homeOf(change.row) : change.scope
  const existing = draft.slots[change.table].get(id)
  const isVisible = existing !== undefined && isWithinScope(scope, existing.place)
  const because = checkExpectation(
    change.expect,
    existing === undefined ? null : { version: existing.version, isCovered: isVisible },
  )
  if (because !== null) return { kind: 'conflict', table: change.table, id, because }
  if (change.op === 'remove' && isVisible) {
    draft.slots[change.table].delete(id)
    draft.removed[change.table].add(id)
    if (change.table === 'memory') {
      releaseKey(draft, id)
      draft.counts.delete(id)
    }
  }
  return change.op === 'put' ? put(draft, change) : null
}

function put(draft: PlanDraft, change: Extract<Change, { op: 'put' }>): CommitConflict | null {
  const { row, table } = change
  const id: string = row.id
  const slot = { place: placeOf(row), version: versionOf(row), row }
  if (table === 'memory') {
    const holder = isKeyHolder(row) ? draft.holders.get(keyName(row)) : id
    const isTaken = holder !== undefined && holder !== id
    if (isTaken) return { kind: 'conflict', table, id, because: 'key' }
    releaseKey(draft, id)
    assignKey(draft, row)
    const earlier = draft.slots.memory.get(id)?.row
    if (earlier != null) slot.row = mergeUsage(row, earlier)
  }
  // `Change` pairs the table with its row type; separate lookups lose that relation.
  const slots = draft.slots[table] as Map<string, RowSlot<Table>>
  slots.set(id, slot)
  return null
}

function count(draft: PlanDraft, change: Extract<Change, { op: 'count' }>): null {
  const { id, scope, uses, usedAt } = change
  const slot = draft.slots.memory.get(id)
  if (slot === undefined || !isWithinScope(scope, slot.place)) return null
  if (slot.row === null) {
    const known = draft.counts.get(id)
    draft.counts.set(id, {
      id,
      uses: (known?.uses ?? 0) + uses,
      usedAt: maxInstant(known?.usedAt ?? null, usedAt),
    })
  } else {
    const { useCount, lastUsedAt } = slot.row
    const row = {
      ...slot.row,
      useCount: useCount + uses,
      lastUsedAt: maxInstant(lastUsedAt, usedAt),
    }
    draft.slots.memory.set(id, { ...slot, row })
  }
  return null
}

/** The fields that the domain rule reads, so that it applies to stored memories as well. */
type KeyedRow = Pick<Memory, 'place' | 'key' | 'status'>

function assignKey(draft: PlanDraft, memory: KeyedRow & { readonly id: string }): void {
  if (!isKeyHolder(memory)) return
  draft.holders.set(keyName(memory), memory.id)
  draft.heldBy.set(memory.id, keyName(memory))
}

/** The key of a replaced or removed row is free. */
function releaseKey(draft: PlanDraft, id: string): void {
  const key = draft.heldBy.get(id)
  if (key !== undefined) draft.holders.delete(key)
  draft.heldBy.delete(id)
}

/** Within one commit as between commits: a put never lowers the counters. */
function mergeUsage(row: Memory, earlier: Memory): Memory {
  return {
    ...row,
    useCount: Math.max(row.useCount, earlier.useCount),
    lastUsedAt:
      earlier.lastUsedAt === null ? row.lastUsedAt : maxInstant(row.lastUsedAt, earlier.lastUsedAt),
  }
}

function isKeyReleased(head: MemoryRowHead, holders: ReadonlyMap<string, string>): boolean {
  if (!isKeyHolder(head)) return false
  const holder = holders.get(keyName(head))
  return holder !== undefined && holder !== head.id
}

function keyName({ place, key }: KeyedRow): string {
  return JSON.stringify([place.owner, place.user, key])
}

function newRows<T extends Table>(slots: ReadonlyMap<string, RowSlot<T>>): readonly Row<T>[] {
  return [...slots.values()].flatMap((slot) => (slot.row === null ? [] : [slot.row]))
}

/** A row keeps its owner and user; the session only records where it was learned. */
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

function maxInstant(a: Instant | null, b: Instant): Instant {
  return a === null || a < b ? b : a
}
