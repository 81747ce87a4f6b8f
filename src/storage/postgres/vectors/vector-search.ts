/**
 * Nearest-neighbor search with scope and filters inside the query. The vectors of an owner without
 * an index are compared exactly. With an index, a fixed number of candidates is taken from it and
 * rescored exactly. That number does not depend on the limit, so neither do the first hits.
 * PostgreSQL knows how many documents pass the filters, so its planner decides whether to start
 * from the index or from the documents. When fewer candidates come back than requested, the index
 * may have run out before the filters were satisfied, and all vectors are compared. Memories and
 * turns have separate indexes; a search for both runs on both concurrently.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { TEXT_HITS_MAX } from '../../../domain/limits.ts'
import type { Scope } from '../../../domain/scope.ts'
import { type DocumentKind, selectKinds } from '../../../domain/search-document.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { innerProduct, isZeroVector } from '../../../lib/vector-math.ts'
import { toStorable } from '../../../text/storable-text.ts'
import {
  assertVectorFits,
  compareBySimilarity,
  type VectorHit,
  type VectorQuery,
  type VectorSpace,
} from '../../vector-index.ts'
import type { SqlStatement } from '../connection/postgres-driver.ts'
import {
  appendNeighbors,
  NEIGHBOR_KEY_COLUMNS,
  type NeighborColumns,
  readNeighbors,
} from '../search/session-neighbors.ts'
import { DOCUMENT_NUMBER_MIN } from '../store/document-kinds.ts'
import { decodeText } from '../store/row-codec.ts'
import {
  createParameterBinder,
  isSelective,
  type ParameterBinder,
  toDocumentConditions,
  toScopeConditions,
} from '../store/sql-filters.ts'
import {
  decodeVector,
  encodeVector,
  type PgvectorFormat,
  toReadExpression,
  toSimilarityExpression,
} from './vector-format.ts'
import {
  HASH_JOIN_SETTINGS,
  JIT_OFF,
  toHashJoin,
  toLateralJoin,
  toVectorConditions,
} from './vector-joins.ts'
import {
  getIndexSuffix,
  INDEX_PREFIX,
  type IndexTarget,
  type StoredSpace,
  toIndexedExpression,
  toOwnerHashText,
  toStoredSpace,
  type VectorStorage,
} from './vector-spaces.ts'

/** The most hits of one search. */
const HITS_MAX = TEXT_HITS_MAX

/**
 * Index candidates: a fixed number for ordinary limits, so that the first hits do not depend on
 * them; else the maximum.
 */
const CANDIDATES = 300
const ORDINARY_LIMIT = 100

function candidatesFor({ limit }: VectorQuery): number {
  return limit <= ORDINARY_LIMIT ? CANDIDATES : HITS_MAX
}

/** `hnsw.ef_search` per candidate: well above the default of 40, and still fast. */
const SEARCH_BREADTH = 200

/**
 * The maximum of `hnsw.ef_search`. Without iterative scans it also caps the number of candidates.
 */
const SEARCH_BREADTH_MAX = 1_000

function indexSettings({ hasIterativeScan: iterates }: PgvectorFormat): readonly string[] {
  if (!iterates) return [JIT_OFF, `hnsw.ef_search = ${SEARCH_BREADTH_MAX}`]
  return [
    JIT_OFF,
    // The order of candidates does not matter, since all of them are rescored.
    'hnsw.iterative_scan = relaxed_order',
    `hnsw.ef_search = ${SEARCH_BREADTH}`,
  ]
}

type HitColumns = NeighborColumns & { id: MemoryId; similarity: number; candidates?: number }

/** Identifies the vectors of one owner's documents of one kind in a space. */
type SpaceLocation = { readonly kept: StoredSpace; readonly hasIndex: boolean }

/**
 * The last known state of each space, which saves a lookup before the search. The search itself
 * verifies it in the same round trip: a space may have been recreated, and an index may have become
 * ready or been dropped.
 */
export type SpaceLocationCache = {
  get(space: VectorSpace, subject: IndexTarget): SpaceLocation | null
  set(space: VectorSpace, subject: IndexTarget, place: SpaceLocation | null): void
}

const KNOWN_MAX = 10_000

export function createSpaceLocationCache(): SpaceLocationCache {
  const places = new LruCache<string, SpaceLocation>({ entriesMax: KNOWN_MAX })
  const nameOf = ({ signature, dimensions }: VectorSpace, { owner, kind }: IndexTarget) =>
    JSON.stringify([signature, dimensions, owner, kind])
  return {
    get: (space, subject) => places.get(nameOf(space, subject)) ?? null,
    set(space, subject, place) {
      if (place === null) places.delete(nameOf(space, subject))
      else places.set(nameOf(space, subject), place)
    },
  }
}

export async function searchNearest(
  tables: VectorStorage,
  known: SpaceLocationCache,
  space: VectorSpace,
  scope: Scope,
  query: VectorQuery,
): Promise<readonly VectorHit[]> {
  assertVectorFits(space.dimensions, query.vector)
  const limit = Math.min(query.limit, HITS_MAX)
  if (limit <= 0 || isZeroVector(query.vector)) return []
  const kinds = selectKinds(query.where.types)
  const lists = await Promise.all(
    kinds.map((kind) => {
      const most = kind === 'memory' ? Math.max(limit, query.memoriesMin ?? 0) : limit
      return nearestOfKind(tables, known, space, {
        ...{ scope, kind },
        query: { ...query, limit: Math.min(most, HITS_MAX) },
      })
    }),
  )
  const [only = []] = lists
  if (lists.length === 1) return only.slice(0, limit)
  const hits = lists.flat().sort(compareBySimilarity).slice(0, limit)
  const memories = lists[kinds.indexOf('memory')] ?? []
  return hits.length < limit ? hits : [...hits, ...missingAmong(hits, memories, query)]
}

/** The best memories, as far as the hits do not include them. */
function missingAmong(
  hits: readonly VectorHit[],
  memories: readonly VectorHit[],
  { memoriesMin = 0 }: VectorQuery,
): readonly VectorHit[] {
  const known = new Set(hits.map(({ id }) => id))
  return memories.slice(0, memoriesMin).filter(({ id }) => !known.has(id))
}

export type VectorSearchContext = {
  readonly space: StoredSpace
  readonly scope: Scope
  readonly kind: DocumentKind
  readonly query: VectorQuery
}

async function nearestOfKind(
  tables: VectorStorage,
  known: SpaceLocationCache,
  space: VectorSpace,
  asked: Omit<VectorSearchContext, 'space'>,
): Promise<readonly VectorHit[]> {
  const { format: form } = tables
  const subject = { owner: asked.scope.owner, kind: asked.kind }
  let place = known.get(space, subject) ?? (await findLocation(tables, space, subject))
  while (place !== null) {
    const search = { ...asked, space: place.kept }
    if (form.kind === 'plain') return searchExact(tables, search)
    const found = await nearestAt({ ...tables, format: form }, space, place, search)
    known.set(space, subject, found.place)
    if (isSame(place, found.place)) return found.hits
    place = found.place
  }
  return []
}

function isSame(one: SpaceLocation, other: SpaceLocation | null): boolean {
  return one.kept.number === other?.kept.number && one.hasIndex === other.hasIndex
}

async function findLocation(
  tables: VectorStorage,
  space: VectorSpace,
  subject: IndexTarget,
): Promise<SpaceLocation | null> {
  const [sql, values] = placeStatement(tables, space, subject)
  return placeFrom(
    tables,
    space,
    await tables.runnerFor([subject.owner]).query<PlaceColumns>(sql, values),
  )
}

type PlaceColumns = { number: number; dimensions: number; ready: boolean | null }

/** Looks up the space, and whether the owner has a ready index of the kind. */
function placeStatement(
  { names, format: form }: VectorStorage,
  space: VectorSpace,
  { owner, kind }: IndexTarget,
): SqlStatement {
  const suffix = form.kind === 'pgvector' ? getIndexSuffix(form) : ''
  const sql = `SELECT number, dimensions, (SELECT indisvalid FROM pg_index WHERE indexrelid =
       to_regclass(format('%I.%I', $2::text,
         '${INDEX_PREFIX}' || number || '_' || $3::text || '_${kind}${suffix}'))) AS ready
     FROM ${names.embedding_space} WHERE signature = $1`
  return [sql, [toStorable(space.signature), names.schema, toOwnerHashText(owner)]]
}

function placeFrom(
  { format: form }: VectorStorage,
  space: VectorSpace,
  [row]: readonly PlaceColumns[],
): SpaceLocation | null {
  if (row === undefined) return null
  return { kept: toStoredSpace(form, space, row), hasIndex: row.ready === true }
}

/** The nearest vectors under the assumed state, together with the actual state. */
async function nearestAt(
  tables: VectorStorage<PgvectorFormat>,
  space: VectorSpace,
  { hasIndex }: SpaceLocation,
  search: VectorSearchContext,
): Promise<{ readonly place: SpaceLocation | null; readonly hits: readonly VectorHit[] }> {
  const { scope, kind, query } = search
  const subject = { owner: scope.owner, kind }
  const ask = async ([settings, statement]: SearchRequest) => {
    const [places = [], rows = []] = await tables
      .runnerFor([scope.owner])
      .readAllWithSettings(settings, [placeStatement(tables, space, subject), statement])
    return {
      place: placeFrom(tables, space, places as readonly PlaceColumns[]), // the row types of the two statements
      rows: rows as readonly HitColumns[],
    }
  }
  const hitsOf = (rows: readonly HitColumns[]) =>
    rows.map((row, at) => hitFrom(row, at, query.besides))
  if (hasIndex && !isSelective(scope, query.where)) {
    const { place, rows } = await ask(searchByIndex(tables, search))
    // Fewer candidates: the index may have run out before the filters were satisfied.
    if (rows[0]?.candidates === candidatesFor(query)) return { place, hits: hitsOf(rows) }
  }
  const { place, rows } = await ask(searchByComparison(tables, search))
  return { place, hits: hitsOf(rows) }
}

type SearchRequest = readonly [settings: readonly string[], statement: SqlStatement]

function searchByComparison(
  tables: VectorStorage<PgvectorFormat>,
  search: VectorSearchContext,
): SearchRequest {
  const { format: form } = tables
  const { space: kept, scope, query } = search
  const binder = createParameterBinder()
  const vector = binder.bind(encodeVector(form, query.vector))
  const near = `${toSimilarityExpression(form, `e.${kept.column}`, vector)} AS similarity`
  const tail = `ORDER BY ${ORDER} LIMIT ${binder.bind(query.limit)}`
  if (isSelective(scope, query.where)) {
    const statement = `SELECT ${columnsFor(query)}, ${near}
      FROM ${toSelectiveFilteredVectors(tables, search, binder)} ${tail}`
    return [[], ordered(tables, query, binder, statement)]
  }
  // Reads documents in order of similarity, only until enough of them pass the filters.
  const statement = `SELECT m.*, similarity
    FROM (SELECT e.memory, ${near} FROM ${tables.names.embedding} AS e
      WHERE ${held(search, binder).join(' AND ')} ORDER BY similarity DESC) AS best
    CROSS JOIN LATERAL (SELECT ${columnsFor(query)} FROM ${tables.names.memory}
      WHERE number = best.memory AND ${toVisibleHits(search, binder).join(' AND ')} LIMIT 1) AS m
    ${tail}`
  return [[JIT_OFF], ordered(tables, query, binder, statement)]
}

function held(
  { space: kept, scope, kind }: VectorSearchContext,
  binder: ParameterBinder,
): readonly string[] {
  return [...toVectorConditions(kept, scope, kind, binder), `e.${kept.column} IS NOT NULL`]
}

function searchByIndex(
  tables: VectorStorage<PgvectorFormat>,
  search: VectorSearchContext,
): SearchRequest {
  const { space: kept, query } = search
  const { format: form } = tables
  const binder = createParameterBinder()
  const vector = binder.bind(encodeVector(form, query.vector))
  const sought = toIndexedExpression(form, kept, `${vector}::${form.extensionSchema}.vector`)
  const statement = `
    WITH candidate AS MATERIALIZED (
      SELECT ${columnsFor(query)}, e.${kept.column} AS vector FROM ${toFilteredVectors(tables, search, binder)}
      ORDER BY ${toIndexedExpression(form, kept, `e.${kept.column}`)} OPERATOR(${form.extensionSchema}.<#>) ${sought}
      LIMIT ${candidatesFor(query)}
    )
    SELECT ${columnsFor(query)}, ${toSimilarityExpression(form, 'vector', vector)} AS similarity,
      count(*) OVER () AS candidates
    FROM candidate ORDER BY ${ORDER} LIMIT ${binder.bind(query.limit)}`
  return [indexSettings(form), ordered(tables, query, binder, statement)]
}

const ORDER = 'similarity DESC, id DESC'

/** The columns that neighbors are looked up by, where they are requested. */
function columnsFor({ besides }: VectorQuery): string {
  return besides === undefined ? 'id' : NEIGHBOR_KEY_COLUMNS.join(', ')
}

function ordered(
  { names }: VectorStorage,
  { besides }: VectorQuery,
  binder: ParameterBinder,
  statement: string,
): SqlStatement {
  const sql =
    besides === undefined
      ? statement
      : appendNeighbors(names, binder, besides, { statement, order: ORDER })
  return [sql, binder.values]
}

/** The candidate vectors, joined with their documents. */
export function toFilteredVectors(
  tables: VectorStorage,
  search: VectorSearchContext,
  binder: ParameterBinder,
): string {
  const conditions = [...held(search, binder), ...toVisibleHits(search, binder)]
  return `${toHashJoin(tables)} WHERE ${conditions.join(' AND ')}`
}

/** The same for selective filters. */
export function toSelectiveFilteredVectors(
  tables: VectorStorage,
  search: VectorSearchContext,
  binder: ParameterBinder,
): string {
  const { space: kept, kind } = search
  return `${toLateralJoin(tables, [kind], binder.bind(kept.number))} WHERE e.${kept.column} IS NOT NULL
    AND ${toVisibleHits(search, binder).join(' AND ')}`
}

function toVisibleHits(
  { scope, kind, query }: VectorSearchContext,
  binder: ParameterBinder,
): readonly string[] {
  return [...toScopeConditions(scope, binder), ...toDocumentConditions(query.where, binder, [kind])]
}

function hitFrom(row: HitColumns, place: number, besides: VectorQuery['besides']): VectorHit {
  const { id, similarity } = row
  return { id: decodeText(id), similarity, ...readNeighbors(row, place, besides) }
}

/** Vectors held in memory at once. */
const EXACT_PAGE_ROWS = 5_000

type ExactColumns = { memory: number; id: MemoryId; vector: string }

/**
 * Without pgvector: PostgreSQL applies scope and filters and returns the vectors page by page, and this process
 * compares them. An SQL function would do so at several times the cost.
 */
async function searchExact(
  tables: VectorStorage,
  search: VectorSearchContext,
): Promise<readonly VectorHit[]> {
  const { limit } = search.query
  let best: readonly VectorHit[] = []
  for (let last = DOCUMENT_NUMBER_MIN; ; ) {
    const rows = await readVectorPage(tables, search, last)
    best = [...best, ...rows.map((row) => toExactHit(tables, search, row))]
      .sort(compareBySimilarity)
      .slice(0, limit)
    last = rows.at(-1)?.memory ?? last
    if (rows.length < EXACT_PAGE_ROWS) return best
  }
}

async function readVectorPage(
  tables: VectorStorage,
  search: VectorSearchContext,
  after: number,
): Promise<readonly ExactColumns[]> {
  const { runnerFor: of, format: form } = tables
  const { space: kept, scope } = search
  const binder = createParameterBinder()
  const [settings, from] = isSelective(scope, search.query.where)
    ? [[], toSelectiveFilteredVectors(tables, search, binder)]
    : [HASH_JOIN_SETTINGS, toFilteredVectors(tables, search, binder)]
  return of([scope.owner]).readWithSettings<ExactColumns>(
    settings,
    `SELECT e.memory, id, ${toReadExpression(form, `e.${kept.column}`)} AS vector FROM ${from}
       AND e.memory > ${binder.bind(after)} ORDER BY e.memory LIMIT ${EXACT_PAGE_ROWS}`,
    binder.values,
  )
}

function toExactHit(
  { format: form }: VectorStorage,
  { query }: VectorSearchContext,
  { id, vector }: ExactColumns,
): VectorHit {
  const product = innerProduct(decodeVector(form, vector), query.vector)
  return { id: decodeText(id), similarity: Math.min(1, Math.max(-1, product)) }
}
