/**
 * The nearest vectors, with scope and filters inside the query.
 *
 * Vectors of an owner without an index are compared one by one. An index answers about the nearest, so with one a
 * fixed number of candidates is taken from it and compared exactly. That number doesn't depend on the limit: then the
 * first hits don't either. PostgreSQL knows how many memories pass the filters, so it is left to decide whether to go
 * through the index or to begin with the memories. When fewer candidates come back than were asked for, the index may
 * have given up on the filters, and all vectors are compared after all.
 */
import type { MemoryId, Scope } from '../../core/ids.ts'
import { TEXT_HITS_MAX } from '../../core/limits.ts'
import { toStorable } from '../../core/storable-text.ts'
import { isZero, refuseUnfit } from '../../core/vectors.ts'
import type { VectorHit, VectorQuery, VectorSpace } from '../../ports/vector-index.ts'
import { type Binder, CONDITIONS, createBinder, isNarrow, scopeConditions } from './filters.ts'
import { decoded } from './rows.ts'
import { heldConditions, joined, joining, lookedUp, readingWith } from './vectors-rows.ts'
import {
  INDEX_PREFIX,
  indexed,
  type KeptSpace,
  keptSpace,
  ownerNumber,
  similarity,
  type VectorTables,
} from './vectors-spaces.ts'

/** As many as one search returns at most. */
const CANDIDATES = TEXT_HITS_MAX
/** How thoroughly the index is searched for each candidate: well above its default of 40, and still fast. */
const SEARCH_BREADTH = 200
const INDEX_SETTINGS = [
  // The order within the candidates doesn't matter, since all of them are compared again.
  'hnsw.iterative_scan = relaxed_order',
  `hnsw.ef_search = ${SEARCH_BREADTH}`,
]

type HitColumns = { id: MemoryId; similarity: number }
type CandidateColumns = HitColumns & { candidates: number }

export async function nearest(
  tables: VectorTables,
  space: VectorSpace,
  scope: Scope,
  query: VectorQuery,
): Promise<readonly VectorHit[]> {
  refuseUnfit(space.dimensions, query.vector)
  const limit = Math.min(query.limit, CANDIDATES)
  if (limit <= 0 || isZero(query.vector)) return []
  const place = await locate(tables, space, scope)
  if (place === null) return []
  const search = { kept: place.kept, scope, query: { ...query, limit } }
  if (place.hasIndex && !isNarrow(scope, query.where)) {
    const hits = await nearestByIndex(tables, search)
    if (hits !== null) return hits
  }
  return nearestOfAll(tables, search)
}

type Search = { readonly kept: KeptSpace; readonly scope: Scope; readonly query: VectorQuery }

/** Finds the space, and whether the owner has an index there that is ready. */
async function locate(
  { database, names }: VectorTables,
  space: VectorSpace,
  scope: Scope,
): Promise<{ readonly kept: KeptSpace; readonly hasIndex: boolean } | null> {
  const [row] = await database.query<{ number: number; dimensions: number; ready: boolean | null }>(
    `SELECT number, dimensions, (SELECT indisvalid FROM pg_index WHERE indexrelid =
       to_regclass(format('%I.%I', $2::text, '${INDEX_PREFIX}' || number || '_' || $3::text))) AS ready
     FROM ${names.embedding_space} WHERE signature = $1`,
    [toStorable(space.signature), names.schema, ownerNumber(scope.owner)],
  )
  if (row === undefined) return null
  return { kept: keptSpace(space, row), hasIndex: row.ready === true }
}

async function nearestOfAll(tables: VectorTables, search: Search): Promise<readonly VectorHit[]> {
  const { kept, scope, query } = search
  const binder = createBinder()
  const vector = binder.bind(vectorText(query.vector))
  const statement = (from: string) =>
    `SELECT id, ${similarity(tables, `e.${kept.column}`, vector)} AS similarity FROM ${from}
     ORDER BY similarity DESC, id DESC LIMIT ${binder.bind(query.limit)}`
  if (isNarrow(scope, query.where)) {
    const from = `${lookedUp(tables, kept, binder)} WHERE e.${kept.column} IS NOT NULL
      AND ${visible(search, binder).join(' AND ')}`
    const rows = await tables.database.query<HitColumns>(statement(from), binder.values)
    return rows.map(hitFrom)
  }
  const sql = statement(permitted(tables, search, binder))
  const rows = await joining(tables, (run) => run<HitColumns>(sql, binder.values))
  return rows.map(hitFrom)
}

/** Null when the index gave fewer candidates than there may be. */
async function nearestByIndex(
  tables: VectorTables,
  search: Search,
): Promise<readonly VectorHit[] | null> {
  const { kept, query } = search
  const { extension } = tables
  const binder = createBinder()
  const vector = binder.bind(vectorText(query.vector))
  const sought = indexed(tables, kept, `${vector}::${extension}.vector`)
  const statement = `
    WITH candidate AS MATERIALIZED (
      SELECT id, e.${kept.column} AS vector FROM ${permitted(tables, search, binder)}
      ORDER BY ${indexed(tables, kept, `e.${kept.column}`)} OPERATOR(${extension}.<#>) ${sought}
      LIMIT ${CANDIDATES}
    )
    SELECT id, ${similarity(tables, 'vector', vector)} AS similarity,
      count(*) OVER () AS candidates
    FROM candidate ORDER BY similarity DESC, id DESC LIMIT ${binder.bind(query.limit)}`
  const rows = await readingWith(tables, INDEX_SETTINGS, (run) =>
    run<CandidateColumns>(statement, binder.values),
  )
  const isFull = rows[0]?.candidates === CANDIDATES
  return isFull ? rows.map(hitFrom) : null
}

/** The vectors that may be hits, with their memories. */
function permitted(tables: VectorTables, search: Search, binder: Binder): string {
  const { kept, scope } = search
  const conditions = [
    ...heldConditions(kept, scope, binder),
    `e.${kept.column} IS NOT NULL`,
    ...visible(search, binder),
  ]
  return `${joined(tables)} WHERE ${conditions.join(' AND ')}`
}

function visible({ scope, query }: Search, binder: Binder): readonly string[] {
  return [...scopeConditions(scope, binder), ...CONDITIONS.memory(query.where, binder)]
}

function hitFrom({ id, similarity }: HitColumns): VectorHit {
  return { id: decoded(id), similarity }
}

/** A vector as pgvector reads it. Single precision survives the way through text unchanged. */
export function vectorText(vector: Float32Array): string {
  return `[${vector.join(',')}]`
}
