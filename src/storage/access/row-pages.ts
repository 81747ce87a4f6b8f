import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import type { Scope } from '../../domain/scope.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import type { FindQuery, Row, Store, Table } from '../store.ts'

/** All matching rows, page by page. Yields to the event loop between pages. */
export async function* pages<T extends Table>(
  store: Store,
  table: T,
  scope: Scope,
  query: Pick<FindQuery<T>, 'where' | 'order' | 'after'> & { readonly limit?: number },
): AsyncGenerator<readonly Row<T>[]> {
  let after: string | null = query.after ?? null
  do {
    const page: { readonly rows: readonly Row<T>[]; readonly next: string | null } =
      await store.find(table, scope, {
        limit: PAGE_ROWS_MAX,
        ...query,
        ...(after === null ? {} : { after }),
      })
    if (page.rows.length > 0) yield page.rows
    await yieldToEventLoop()
    after = page.next
  } while (after !== null)
}
