/** Finds, before a batch is written, what of it points at rows of others, without anybody being told. */
import type { MemoryId, OwnerId, TurnId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX, PAGE_ROWS_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Change, Row, Store, TableRow } from '../storage/store.ts'
import { deriveId, isTurnIdText, type MapId, mapRowIds } from './id-mapping.ts'

/** The tables whose rows are pointed at. */
type NamedTable = 'memory' | 'turn'

type IdsByOwner = { readonly memory: Set<MemoryId>; readonly turn: Set<TurnId> }

/** Gives what puts derived ids in the place of all that belong to other owners, for the rows of this batch. */
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

/** The rows with these ids that an owner has. */
export async function loadOwnerRows<T extends NamedTable>(
  store: Store,
  table: T,
  owner: OwnerId,
  ids: readonly Row<T>['id'][],
): Promise<readonly Row<T>[]> {
  const found: Row<T>[] = []
  for (const part of splitIntoParts(ids, PAGE_ROWS_MAX)) {
    const where = { ids: part } as never // both tables are found by their own ids
    const { rows } = await store.find(table, { owner }, { where, limit: part.length })
    found.push(...rows)
  }
  return found
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

async function findForeignIds<T extends NamedTable>(
  store: Store,
  table: T,
  owner: OwnerId,
  ids: readonly Row<T>['id'][],
): Promise<readonly Row<T>['id'][]> {
  const own = new Set((await loadOwnerRows(store, table, owner, ids)).map(({ id }) => id))
  const rest = ids.filter((id) => !own.has(id))
  const taken: Row<T>['id'][] = []
  for (const part of splitIntoParts(rest, COMMIT_CHANGES_MAX)) {
    taken.push(...(await loadPresentIds(store, table, owner, part)))
  }
  return taken
}

/** Those that anybody has. Mostly there are none, so all are asked for at once, and halves only when there are some. */
async function loadPresentIds<T extends NamedTable>(
  store: Store,
  table: T,
  owner: OwnerId,
  ids: readonly Row<T>['id'][],
): Promise<readonly Row<T>['id'][]> {
  if (ids.length === 0) return []
  const outcome = await store.commit(
    ids.map((id) => ({ op: 'check', table, scope: { owner }, id, expect: 'absent' }) as Change), // its own table's id
  )
  if (outcome.kind === 'committed') return []
  if (ids.length === 1) return ids
  const middle = Math.ceil(ids.length / 2)
  return [
    ...(await loadPresentIds(store, table, owner, ids.slice(0, middle))),
    ...(await loadPresentIds(store, table, owner, ids.slice(middle))),
  ]
}

function* splitIntoParts<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
