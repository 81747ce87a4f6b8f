/** Finds, before a batch is written, what of it points at rows of others, without anybody being told. */
import type { MemoryId, OwnerId, TurnId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX, PAGE_ROWS_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Change, Row, Store, TableRow } from '../storage/store.ts'
import { derivedId, isTurnId, type Rename, renamedEntry } from './id-mapping.ts'

/** The tables whose rows are pointed at. */
type Named = 'memory' | 'turn'

type Ids = { readonly memory: Set<MemoryId>; readonly turn: Set<TurnId> }

/** Gives what puts derived ids in the place of all that belong to other owners, for the rows of this batch. */
export async function withoutIdsOfOthers(
  store: Store,
  entries: readonly TableRow[],
): Promise<(entry: TableRow) => TableRow> {
  const renames = new Map<OwnerId, Rename>()
  for (const [owner, ids] of idsByOwner(entries)) {
    const taken = new Set<string>([
      ...(await idsOfOthers(store, 'memory', owner, [...ids.memory])),
      ...(await idsOfOthers(store, 'turn', owner, [...ids.turn])),
    ])
    if (taken.size > 0) renames.set(owner, (id) => (taken.has(id) ? derivedId(owner, id) : id))
  }
  return (entry) => {
    const rename = renames.get(ownerOf(entry))
    return rename === undefined ? entry : renamedEntry(entry, rename)
  }
}

/** The rows with these ids that an owner has. */
export async function rowsAtOwner<T extends Named>(
  store: Store,
  table: T,
  owner: OwnerId,
  ids: readonly Row<T>['id'][],
): Promise<readonly Row<T>[]> {
  const found: Row<T>[] = []
  for (const part of parts(ids, PAGE_ROWS_MAX)) {
    const where = { ids: part } as never // both tables are found by their own ids
    const { rows } = await store.find(table, { owner }, { where, limit: part.length })
    found.push(...rows)
  }
  return found
}

function ownerOf(entry: TableRow): OwnerId {
  return entry.table === 'revision' ? entry.row.memory.place.owner : entry.row.place.owner
}

function idsByOwner(entries: readonly TableRow[]): ReadonlyMap<OwnerId, Ids> {
  const byOwner = new Map<OwnerId, Ids>()
  for (const entry of entries) {
    const owner = ownerOf(entry)
    const ids: Ids = byOwner.get(owner) ?? { memory: new Set(), turn: new Set() }
    byOwner.set(owner, ids)
    if (entry.table === 'memory') addIds(ids, entry.row)
    if (entry.table === 'revision') addIds(ids, entry.row.memory)
    if (entry.table === 'turn') ids.turn.add(entry.row.id)
  }
  return byOwner
}

function addIds(ids: Ids, { id, supersededBy, conflictsWith, provenance }: Memory): void {
  ids.memory.add(id)
  if (supersededBy !== null) ids.memory.add(supersededBy)
  if (conflictsWith !== null) ids.memory.add(conflictsWith)
  for (const turn of provenance.turns) if (isTurnId(turn)) ids.turn.add(turn)
}

async function idsOfOthers<T extends Named>(
  store: Store,
  table: T,
  owner: OwnerId,
  ids: readonly Row<T>['id'][],
): Promise<readonly Row<T>['id'][]> {
  const own = new Set((await rowsAtOwner(store, table, owner, ids)).map(({ id }) => id))
  const rest = ids.filter((id) => !own.has(id))
  const taken: Row<T>['id'][] = []
  for (const part of parts(rest, COMMIT_CHANGES_MAX)) {
    taken.push(...(await present(store, table, owner, part)))
  }
  return taken
}

/** Those that anybody has. Mostly there are none, so all are asked for at once, and halves only when there are some. */
async function present<T extends Named>(
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
    ...(await present(store, table, owner, ids.slice(0, middle))),
    ...(await present(store, table, owner, ids.slice(middle))),
  ]
}

function* parts<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
