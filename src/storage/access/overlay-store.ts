/**
 * A store as it will be once some changes are committed, so that several decisions can share one commit. It covers what
 * recording reads: rows by id, and the last turn of a session.
 */
import type { Entry } from '../../domain/entries/entry.ts'
import { isWithinScope, type Scope } from '../../domain/scope.ts'
import type { Turn } from '../../domain/turn.ts'
import type { Change, FindQuery, Page, Row, Store, Table, Tables } from '../store.ts'

/** `changes` may grow while the store is used; in the order in which they will be committed. */
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

/** What becomes of each row that the changes are about; null where it is removed. */
function listPendingRows<T extends Table>(
  table: T,
  changes: readonly Change[],
): ReadonlyMap<Tables[T]['id'], Row<T> | null> {
  const rows = new Map<Tables[T]['id'], Row<T> | null>()
  for (const change of changes) {
    if (change.op === 'count' || change.table !== table) continue
    // The table of a change tells the type of its row and id.
    if (change.op === 'put') rows.set(change.row.id, change.row as Row<T>)
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
  const isMeant = (row: Row<T>) =>
    (ids === undefined || ids.includes(row.id)) &&
    (!('kinds' in where) || where.kinds === undefined || isEntryOfKind(row, where.kinds))
  const added = [...pending.values()].filter((row) => isVisible(scope, row)).filter(isMeant)
  const rows = [...stored, ...added]
  const sorted = order === 'lastSaid' ? rows.sort(compareLastSaid) : rows
  return { ...page, rows: sorted.slice(0, limit) }
}

function isEntryOfKind(row: object, kinds: readonly string[]): boolean {
  return kinds.includes((row as Entry).kind) // only entries are asked for by kind
}

function compareLastSaid(a: object, b: object): number {
  const [one, other] = [a as Turn, b as Turn] // only turns are asked for in this order
  return other.saidAt - one.saidAt || other.position - one.position
}
