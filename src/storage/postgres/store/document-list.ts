/** Reads search documents page by page. */
import type { Scope } from '../../../domain/scope.ts'
import { kindsOf, type SearchDocument } from '../../../domain/search-document.ts'
import { quoted } from '../../../lib/sql.ts'
import { orderingOf, partOf } from '../../page-cursor.ts'
import type { DocumentQuery, Page } from '../../store.ts'
import type { Query } from '../connection/postgres-driver.ts'
import type { Names } from '../schema/identifiers.ts'
import { firstOfKinds } from './document-kinds.ts'
import { documentFromColumns, type MemoryColumns, SHAPES } from './row-codec.ts'
import { createBinder, documentConditions, scopeConditions } from './sql-filters.ts'

export async function findDocuments(
  query: Query,
  names: Names,
  scope: Scope,
  asked: DocumentQuery,
): Promise<Page<SearchDocument>> {
  const kinds = kindsOf(asked.where.types)
  if (kinds.length === 0) return { rows: [], next: null }
  const { limit } = partOf({ ...asked, where: {} })
  const { isForward } = orderingOf({ ...asked, where: {} })
  const binder = createBinder()
  const [beyond, direction] = isForward ? ['>', 'ASC'] : ['<', 'DESC']
  const conditions = [
    ...scopeConditions(scope, binder),
    ...(asked.after === undefined ? [] : [`id ${beyond} ${binder.bind(asked.after)}`]),
  ]
  const columns = SHAPES.memory.columns.map(quoted).join(', ')
  // One more than asked for tells whether there is another page.
  const sql = firstOfKinds(
    kinds,
    `ORDER BY id ${direction} LIMIT ${binder.bind(limit + 1)}`,
    (kind) => {
      const ofKind = [...conditions, ...documentConditions(asked.where, binder, [kind])]
      return `SELECT ${columns} FROM ${names.memory} WHERE ${ofKind.join(' AND ')}`
    },
  )
  const found = await query<MemoryColumns>(sql, binder.values)
  const rows = found.slice(0, limit).map(documentFromColumns)
  return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
}
