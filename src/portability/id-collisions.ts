/** Remaps the ids of a batch that belong to rows of other owners, without revealing that such rows exist. */
import type { MemoryId, OwnerId, TurnId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX, PAGE_ROWS_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Change, Row, Store, TableRow } from '../storage/store.ts'
import { deriveId, isTurnIdText, type MapId, mapRowIds } from './id-mapping.ts'

/** The tables whose rows are referenced by id. */
type ReferencedTable = 'memory' | 'turn'

type IdsByOwner = { readonly memory: Set<MemoryId>; readonly turn: Set<TurnId> }

/** Returns a function that replaces the foreign ids in a row of this batch by derived ones. */
export async function createIdRemapper(
  store: Store,
  entries: readonly TableRow[],
): Promise<(entry: TableRow) => TableRow> {
  const renames = new Map<OwnerId, MapId>()
  for (const [owner, ids] of groupIdsByOwner(entries)) {
    const taken = new Set<string>([
      ...(await findForeignIds(store, 'memory', owner, [...ids.memory])),
      ...(await findForeignIds(store, 'turn', owner, [...ids.turn])),
    ])
    if (taken.size > 0) renames.set(owner, (id) => (taken.has(id) ? deriveId(owner, id) : id))
  }
  return (entry) => {
    const rename = renames.get(getOwner(entry))
    return rename === undefined ? entry : mapRowIds(entry, rename)
  }
}

/** Loads the rows of an owner with these ids. */
export async function loadOwnerRows<T extends ReferencedTable>(
  store: Store,
  table: T,
  owner: OwnerId,
  ids: readonly Row<T>['id'][],
): Promise<readonly Row<T>[]> {
  const rows: Row<T>[] = []
  for (const part of splitIntoBatches(ids, PAGE_ROWS_MAX)) {
    const where = { ids: part } as never // the ids belong to this table
    const page = await store.find(table, { owner }, { where, limit: part.length })
    rows.push(...page.rows)
  }
  return rows
}

function getOwner(entry: TableRow): OwnerId {
  return entry.table === 'revision' ? entry.row.memory.place.owner : entry.row.place.owner
}

function groupIdsByOwner(entries: readonly TableRow[]): ReadonlyMap<OwnerId, IdsByOwner> {
  const byOwner = new Map<OwnerId, IdsByOwner>()
  for (const entry of entries) {
    const owner = getOwner(entry)
    const ids: IdsByOwner = byOwner.get(owner) ?? { memory: new Set(), turn: new Set() }
    byOwner.set(owner, ids)
    if (entry.table === 'memory') addIds(ids, entry.row)
    if (entry.table === 'revision') addIds(ids, entry.row.memory)
    if (entry.table === 'turn') ids.turn.add(entry.row.id)
  }
  return byOwner
}

function addIds(ids: IdsByOwner, { id, supersededBy, conflictsWith, provenance }: Memory): void {
  ids.memory.add(id)
  if (supersededBy !== null) ids.memory.add(supersededBy)
  if (conflictsWith !== null) ids.memory.add(conflictsWith)
  for (const turn of provenance.turns) if (isTurnIdText(turn)) ids.turn.add(turn)
}

async function findForeignIds<T extends ReferencedTable>(
  store: Store,
  table: T,
  owner: OwnerId,
  ids: readonly Row<T>['id'][],
): Promise<readonly Row<T>['id'][]> {
  const own = new Set((await loadOwnerRows(store, table, owner, ids)).map(({ id }) => id))
  const rest = ids.filter((id) => !own.has(id))
  const taken: Row<T>['id'][] = []
  for (const part of splitIntoBatches(rest, COMMIT_CHANGES_MAX)) {
    taken.push(...(await findExistingIds(store, table, owner, part)))
  }
  return taken
}

/** The ids that exist under any owner. Usually none do, so one check covers all, and only conflicts bisect them. */
async function findExistingIds<T extends ReferencedTable>(
  store: Store,
  table: T,
  owner: OwnerId,
  ids: readonly Row<T>['id'][],
): Promise<readonly Row<T>['id'][]> {
  if (ids.length === 0) return []
  const outcome = await store.commit(
    ids.map((id) => ({ op: 'check', table, scope: { owner }, id, expect: 'absent' }) as Change), // the id belongs to this table
  )
  if (outcome.kind === 'committed') return []
  if (ids.length === 1) return ids
  const middle = Math.ceil(ids.length / 2)
  return [
    ...(await findExistingIds(store, table, owner, ids.slice(0, middle))),
    ...(await findExistingIds(store, table, owner, ids.slice(middle))),
  ]
}

function* splitIntoBatches<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
