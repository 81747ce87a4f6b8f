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
import { type Pgvector, similarity, toText } from './vectors-forms.ts'
import { nearestPlain } from './vectors-plain.ts'
import { heldConditions, JOINING, joined, lookedUp, UNCOMPILED } from './vectors-rows.ts'
import {
  INDEX_PREFIX,
  indexed,
  indexSuffix,
  type KeptSpace,
  keptSpace,
  ownerNumber,
  type VectorTables,
} from './vectors-spaces.ts'

/** As many as one search returns at most. */
const CANDIDATES = TEXT_HITS_MAX
/** How thoroughly the index is searched for each candidate: well above its default of 40, and still fast. */
const SEARCH_BREADTH = 200
/** The most that it can be. Without iterative scans it is also how many candidates there are at most. */
const SEARCH_BREADTH_MAX = 1_000

function indexSettings({ iterates }: Pgvector): readonly string[] {
  if (!iterates) return [UNCOMPILED, `hnsw.ef_search = ${SEARCH_BREADTH_MAX}`]
  return [
    UNCOMPILED,
    // The order within the candidates doesn't matter, since all of them are compared again.
    'hnsw.iterative_scan = relaxed_order',
    `hnsw.ef_search = ${SEARCH_BREADTH}`,
  ]
}

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
  const { form } = tables
  if (form.kind === 'plain') return nearestPlain(tables, search)
  const own = { ...tables, form }
  if (place.hasIndex && !isNarrow(scope, query.where)) {
    const hits = await nearestByIndex(own, search)
    if (hits !== null) return hits
  }
  return nearestOfAll(own, search)
}

export type Search = {
  readonly kept: KeptSpace
  readonly scope: Scope
  readonly query: VectorQuery
}

/** Finds the space, and whether the owner has an index there that is ready. */
async function locate(
  { of, names, form }: VectorTables,
  space: VectorSpace,
  scope: Scope,
): Promise<{ readonly kept: KeptSpace; readonly hasIndex: boolean } | null> {
  const suffix = form.kind === 'pgvector' ? indexSuffix(form) : ''
  const [row] = await of([scope.owner]).query<{
    number: number
    dimensions: number
    ready: boolean | null
  }>(
    `SELECT number, dimensions, (SELECT indisvalid FROM pg_index WHERE indexrelid =
       to_regclass(format('%I.%I', $2::text,
         '${INDEX_PREFIX}' || number || '_' || $3::text || '${suffix}'))) AS ready
     FROM ${names.embedding_space} WHERE signature = $1`,
    [toStorable(space.signature), names.schema, ownerNumber(scope.owner)],
  )
  if (row === undefined) return null
  return { kept: keptSpace(form, space, row), hasIndex: row.ready === true }
}

async function nearestOfAll(
  tables: VectorTables<Pgvector>,
  search: Search,
): Promise<readonly VectorHit[]> {
  const { form, of } = tables
  const { kept, scope, query } = search
  const binder = createBinder()
  const vector = binder.bind(toText(form, query.vector))
  const statement = (from: string) =>
    `SELECT id, ${similarity(form, `e.${kept.column}`, vector)} AS similarity FROM ${from}
     ORDER BY similarity DESC, id DESC LIMIT ${binder.bind(query.limit)}`
  if (isNarrow(scope, query.where)) {
    const from = permittedFew(tables, search, binder)
    const rows = await of([scope.owner]).query<HitColumns>(statement(from), binder.values)
    return rows.map(hitFrom)
  }
  const sql = statement(permitted(tables, search, binder))
  const rows = await of([scope.owner]).reading<HitColumns>(JOINING, sql, binder.values)
  return rows.map(hitFrom)
}

/** Null when the index gave fewer candidates than there may be. */
async function nearestByIndex(
  tables: VectorTables<Pgvector>,
  search: Search,
): Promise<readonly VectorHit[] | null> {
  const { kept, scope, query } = search
  const { form } = tables
  const binder = createBinder()
  const vector = binder.bind(toText(form, query.vector))
  const sought = indexed(form, kept, `${vector}::${form.extension}.vector`)
  const statement = `
    WITH candidate AS MATERIALIZED (
      SELECT id, e.${kept.column} AS vector FROM ${permitted(tables, search, binder)}
      ORDER BY ${indexed(form, kept, `e.${kept.column}`)} OPERATOR(${form.extension}.<#>) ${sought}
      LIMIT ${CANDIDATES}
    )
    SELECT id, ${similarity(form, 'vector', vector)} AS similarity,
      count(*) OVER () AS candidates
    FROM candidate ORDER BY similarity DESC, id DESC LIMIT ${binder.bind(query.limit)}`
  const rows = await tables
    .of([scope.owner])
    .reading<CandidateColumns>(indexSettings(form), statement, binder.values)
  const isFull = rows[0]?.candidates === CANDIDATES
  return isFull ? rows.map(hitFrom) : null
}

/** The vectors that may be hits, with their memories. */
export function permitted(tables: VectorTables, search: Search, binder: Binder): string {
  const { kept, scope } = search
  const conditions = [
    ...heldConditions(kept, scope, binder),
    `e.${kept.column} IS NOT NULL`,
    ...visible(search, binder),
  ]
  return `${joined(tables)} WHERE ${conditions.join(' AND ')}`
}

/** The same where few memories can be hits. */
export function permittedFew(tables: VectorTables, search: Search, binder: Binder): string {
  const { kept } = search
  return `${lookedUp(tables, kept, binder)} WHERE e.${kept.column} IS NOT NULL
    AND ${visible(search, binder).join(' AND ')}`
}

function visible({ scope, query }: Search, binder: Binder): readonly string[] {
  return [...scopeConditions(scope, binder), ...CONDITIONS.memory(query.where, binder)]
}

function hitFrom({ id, similarity }: HitColumns): VectorHit {
  return { id: decoded(id), similarity }
}
