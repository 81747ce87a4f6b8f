/**
 * A view of a store with pending changes applied, so that several decisions can share one commit. It covers the reads of
 * recording: rows by id, and the last turn of a session.
 */
import type { Entry } from '../../domain/entries/entry.ts'
import type { Job } from '../../domain/job-row.ts'
import { isWithinScope, type Scope } from '../../domain/scope.ts'
import type { Turn } from '../../domain/turn.ts'
import type { Change, FindQuery, Page, Row, Store, Table, Tables } from '../store.ts'

/** `changes` are in commit order, and may grow while the view is used. */
export function overlayChanges(store: Store, changes: readonly Change[]): Store {
  return {
    ...store,
    get: async (table, scope, id) => {
      const pending = listPendingRows(table, changes).get(id)
      if (pending === undefined) return store.get(table, scope, id)
      return isVisible(scope, pending) ? pending : null
    },
    find: async (table, scope, query) => {
      const page = await store.find(table, scope, query)
      const pending = listPendingRows(table, changes)
      return pending.size === 0 ? page : mergeRows(page, pending, scope, query)
    },
  }
}

/** The pending version of each changed row; null where it is removed. */
function listPendingRows<T extends Table>(
  table: T,
  changes: readonly Change[],
): ReadonlyMap<Tables[T]['id'], Row<T> | null> {
  const rows = new Map<Tables[T]['id'], Row<T> | null>()
  for (const change of changes) {
    if (change.op === 'count' || change.table !== table) continue
    if (change.op === 'put')
      rows.set(change.row.id, change.row as Row<T>) // of this table
    else if (change.op === 'remove') rows.set(change.id, null)
  }
  return rows
}

function isVisible<T extends Table>(scope: Scope, row: Row<T> | null): row is Row<T> {
  return row !== null && 'place' in row && isWithinScope(scope, row.place)
}

function mergeRows<T extends Table>(
  page: Page<Row<T>>,
  pending: ReadonlyMap<Tables[T]['id'], Row<T> | null>,
  scope: Scope,
  { where, order, limit }: FindQuery<T>,
): Page<Row<T>> {
  const stored = page.rows.filter(({ id }) => !pending.has(id))
  const ids: readonly string[] | undefined = 'ids' in where ? where.ids : undefined
  const isMatch = (row: Row<T>) =>
    (ids === undefined || ids.includes(row.id)) &&
    (!('kinds' in where) || where.kinds === undefined || hasKind(row, where.kinds))
  const added = [...pending.values()].filter((row) => isVisible(scope, row)).filter(isMatch)
  const rows = [...stored, ...added]
  const sorted = order === 'lastSaid' ? rows.sort(compareLastSaid) : rows
  return { ...page, rows: sorted.slice(0, limit) }
}

function hasKind(row: object, kinds: readonly string[]): boolean {
  return kinds.includes((row as Entry | Job).kind) // only these are filtered by kind
}

function compareLastSaid(a: object, b: object): number {
  const [one, other] = [a as Turn, b as Turn] // only turns have this order
  return other.saidAt - one.saidAt || other.position - one.position
}
