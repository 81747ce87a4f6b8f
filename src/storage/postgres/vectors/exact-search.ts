/**
 * Nearest-neighbor search without pgvector: PostgreSQL applies scope and filters and returns the
 * vectors page by page, and this process compares them. An SQL function would do so at several
 * times the cost.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { innerProduct } from '../../../lib/vector-math.ts'
import { compareBySimilarity, type VectorHit } from '../../vector-index.ts'
import { DOCUMENT_NUMBER_MIN } from '../store/document-kinds.ts'
import { decodeText } from '../store/row-codec.ts'
import { createParameterBinder, isSelective } from '../store/sql-filters.ts'
import { decodeVector, toReadExpression } from './vector-format.ts'
import { HASH_JOIN_SETTINGS } from './vector-joins.ts'
import {
  toFilteredVectors,
  toSelectiveFilteredVectors,
  type VectorSearchContext,
} from './vector-search.ts'
import type { VectorStorage } from './vector-spaces.ts'

/** Vectors held in memory at once. */
const PAGE_ROWS = 5_000

type Columns = { memory: number; id: MemoryId; vector: string }

export async function searchExact(
  tables: VectorStorage,
  search: VectorSearchContext,
): Promise<readonly VectorHit[]> {
  const { limit } = search.query
  let best: readonly VectorHit[] = []
  for (let last = DOCUMENT_NUMBER_MIN; ; ) {
    const rows = await page(tables, search, last)
    best = [...best, ...rows.map((row) => hitFrom(tables, search, row))]
      .sort(compareBySimilarity)
      .slice(0, limit)
    last = rows.at(-1)?.memory ?? last
    if (rows.length < PAGE_ROWS) return best
  }
}

async function page(
  tables: VectorStorage,
  search: VectorSearchContext,
  after: number,
): Promise<readonly Columns[]> {
  const { runnerFor: of, format: form } = tables
  const { space: kept, scope } = search
  const binder = createParameterBinder()
  const [settings, from] = isSelective(scope, search.query.where)
    ? [[], toSelectiveFilteredVectors(tables, search, binder)]
    : [HASH_JOIN_SETTINGS, toFilteredVectors(tables, search, binder)]
  return of([scope.owner]).readWithSettings<Columns>(
    settings,
    `SELECT e.memory, id, ${toReadExpression(form, `e.${kept.column}`)} AS vector FROM ${from}
       AND e.memory > ${binder.bind(after)} ORDER BY e.memory LIMIT ${PAGE_ROWS}`,
    binder.values,
  )
}

function hitFrom(
  { format: form }: VectorStorage,
  { query }: VectorSearchContext,
  { id, vector }: Columns,
): VectorHit {
  const product = innerProduct(decodeVector(form, vector), query.vector)
  return { id: decodeText(id), similarity: Math.min(1, Math.max(-1, product)) }
}
