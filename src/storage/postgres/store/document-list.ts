/** Lists search documents page by page. */
import type { Scope } from '../../../domain/scope.ts'
import { type SearchDocument, selectKinds } from '../../../domain/search-document.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import { parseOrdering, toPageRange } from '../../page-cursor.ts'
import type { DocumentQuery, Page } from '../../store.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'
import { unionKinds } from './document-kinds.ts'
import { type MemoryColumns, ROW_CODECS, toDocument } from './row-codec.ts'
import { createParameterBinder, toDocumentConditions, toScopeConditions } from './sql-filters.ts'

export async function listDocuments(
  query: QueryFunction,
  names: SqlIdentifiers,
  scope: Scope,
  asked: DocumentQuery,
): Promise<Page<SearchDocument>> {
  const kinds = selectKinds(asked.where.types)
  if (kinds.length === 0) return { rows: [], next: null }
  const { limit } = toPageRange({ ...asked, where: {} })
  const { isForward } = parseOrdering({ ...asked, where: {} })
  const binder = createParameterBinder()
  const [beyond, direction] = isForward ? ['>', 'ASC'] : ['<', 'DESC']
  const conditions = [
    ...toScopeConditions(scope, binder),
    ...(asked.after === undefined ? [] : [`id ${beyond} ${binder.bind(asked.after)}`]),
  ]
  const columns = ROW_CODECS.memory.columns.map(quoteIdentifier).join(', ')
  // One row more than requested shows whether there is another page.
  const sql = unionKinds(
    kinds,
    `ORDER BY id ${direction} LIMIT ${binder.bind(limit + 1)}`,
    (kind) => {
      const ofKind = [...conditions, ...toDocumentConditions(asked.where, binder, [kind])]
      return `SELECT ${columns} FROM ${names.memory} WHERE ${ofKind.join(' AND ')}`
    },
  )
  const found = await query<MemoryColumns>(sql, binder.values)
  const rows = found.slice(0, limit).map(toDocument)
  return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
}
