/**
 * The nearest vectors on a server without pgvector: PostgreSQL applies scope and filters and hands the vectors out page by
 * page, and they are compared here. A function in SQL would do it there, at several times the cost.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { innerProduct } from '../../../lib/vector-math.ts'
import { bySimilarity, type VectorHit } from '../../vector-index.ts'
import { BEFORE_ALL_NUMBERS } from '../store/document-kinds.ts'
import { decoded } from '../store/row-codec.ts'
import { createBinder, isNarrow } from '../store/sql-filters.ts'
import { fromText, told } from './vector-format.ts'
import { JOINING } from './vector-joins.ts'
import { permitted, permittedFew, type Search } from './vector-search.ts'
import type { VectorTables } from './vector-spaces.ts'

/** Vectors that are held in memory at once. */
const PAGE_ROWS = 5_000

type Columns = { memory: number; id: MemoryId; vector: string }

export async function nearestPlain(
  tables: VectorTables,
  search: Search,
): Promise<readonly VectorHit[]> {
  const { limit } = search.query
  let best: readonly VectorHit[] = []
  for (let last = BEFORE_ALL_NUMBERS; ; ) {
    const rows = await page(tables, search, last)
    best = [...best, ...rows.map((row) => hitFrom(tables, search, row))]
      .sort(bySimilarity)
      .slice(0, limit)
    last = rows.at(-1)?.memory ?? last
    if (rows.length < PAGE_ROWS) return best
  }
}

async function page(
  tables: VectorTables,
  search: Search,
  after: number,
): Promise<readonly Columns[]> {
  const { of, form } = tables
  const { kept, scope } = search
  const binder = createBinder()
  const [settings, from] = isNarrow(scope, search.query.where)
    ? [[], permittedFew(tables, search, binder)]
    : [JOINING, permitted(tables, search, binder)]
  return of([scope.owner]).reading<Columns>(
    settings,
    `SELECT e.memory, id, ${told(form, `e.${kept.column}`)} AS vector FROM ${from}
       AND e.memory > ${binder.bind(after)} ORDER BY e.memory LIMIT ${PAGE_ROWS}`,
    binder.values,
  )
}

function hitFrom({ form }: VectorTables, { query }: Search, { id, vector }: Columns): VectorHit {
  const product = innerProduct(fromText(form, vector), query.vector)
  return { id: decoded(id), similarity: Math.min(1, Math.max(-1, product)) }
}
