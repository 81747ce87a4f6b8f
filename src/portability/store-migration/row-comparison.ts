/** Row access and row-by-row comparison of two stores. */
import type { OwnerId } from '../../domain/ids.ts'
import { compareText } from '../../lib/compare.ts'
import { sha256 } from '../../lib/hash.ts'
import { canonicalJson } from '../../lib/json.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { ChangedRow } from '../../storage/migration-source.ts'
import {
  type Change,
  type Row,
  type Store,
  TABLES,
  type Table,
  type TableRow,
} from '../../storage/store.ts'
import { MARKER_ID } from './migration-marker.ts'

export const PAGE_ROWS = 500

/** Smaller, because turns may be very long and a page is held in memory twice. */
const PAGE_TURNS = 100

export function getPageSize(table: Table): number {
  return table === 'turn' ? PAGE_TURNS : PAGE_ROWS
}

/** Whether a row belongs to the store itself and is not migrated. */
export function isStoreInternal(table: Table, id: string): boolean {
  return table === 'entry' && id === MARKER_ID
}

/** Independent of the store that the row was read from. */
export function hashRow(row: Row<Table>): string {
  return sha256(canonicalJson(row))
}

export function getRowOwner({ table, row }: TableRow): OwnerId {
  return table === 'revision' ? row.memory.place.owner : row.place.owner
}

export function buildPut({ table, row }: TableRow): Change {
  return { op: 'put', table, row, expect: 'any' } as Change // table and row belong together
}

export function buildRemoval({ table, owner, id }: ChangedRow): Change {
  return { op: 'remove', table, scope: { owner }, id, expect: 'any' } as Change // the id belongs to the table
}

export async function readRow(
  store: Store,
  { table, owner, id }: ChangedRow,
): Promise<TableRow | null> {
  const row = await store.get(table, { owner }, id as never) // the id belongs to this table
  return row === null ? null : ({ table, row } as TableRow) // table and row belong together
}

/** The owners of all stores in a stable order. */
export async function listAllOwners(...stores: readonly Store[]): Promise<readonly OwnerId[]> {
  const names = new Set<string>()
  for (const store of stores) for (const { owner } of await store.listPlaces()) names.add(owner)
  return ([...names] as OwnerId[]).sort(compareText) // validated when stored
}

/** The ids and digests of an owner's rows, oldest first. */
async function* hashRows(
  store: Store,
  table: Table,
  owner: OwnerId,
): AsyncGenerator<{ readonly id: string; readonly digest: string }> {
  const query = { where: {}, order: 'oldest' as const, limit: getPageSize(table) }
  for await (const page of pages(store, table, { owner }, query)) {
    for (const row of page)
      if (!isStoreInternal(table, row.id)) yield { id: row.id, digest: hashRow(row) }
  }
}

export type RowDifference = {
  readonly table: Table
  readonly isDifferent: boolean
  readonly row: ChangedRow
}

/** Merges the sorted rows of an owner in both stores and reports for each whether they differ. */
export async function* compareRows(
  source: Store,
  target: Store,
  owner: OwnerId,
): AsyncGenerator<RowDifference> {
  for (const table of TABLES) {
    const [sourceRows, targetRows] = [
      hashRows(source, table, owner),
      hashRows(target, table, owner),
    ]
    let [a, b] = [await sourceRows.next(), await targetRows.next()]
    while (a.done !== true || b.done !== true) {
      const order = a.done ? 1 : b.done ? -1 : compareText(a.value.id, b.value.id)
      const first = order <= 0 ? a : b
      if (first.done) break
      const isDifferent = order !== 0 || (!a.done && !b.done && a.value.digest !== b.value.digest)
      const row = { table, owner, id: first.value.id } as ChangedRow // the id belongs to this table
      yield { table, isDifferent, row }
      if (order <= 0) a = await sourceRows.next()
      if (order >= 0) b = await targetRows.next()
    }
  }
}
