/**
 * The nearest vectors, with scope and filters inside the query.
 *
 * Vectors of an owner without an index are compared one by one. An index answers about the nearest, so with one a
 * fixed number of candidates is taken from it and compared exactly. That number doesn't depend on the limit: then the
 * first hits don't either. PostgreSQL knows how many documents pass the filters, so it is left to decide whether to go
 * through the index or to begin with the documents. When fewer candidates come back than were asked for, the index may
 * have given up on the filters, and all vectors are compared after all.
 *
 * Memories and turns have indexes of their own, so where both are asked for, both are searched, at the same time.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { TEXT_HITS_MAX } from '../../../domain/limits.ts'
import type { Scope } from '../../../domain/scope.ts'
import { type DocumentKind, kindsOf } from '../../../domain/search-document.ts'
import { isZero } from '../../../lib/vector-math.ts'
import { toStorable } from '../../../text/storable-text.ts'
import {
  bySimilarity,
  refuseUnfit,
  type VectorHit,
  type VectorQuery,
  type VectorSpace,
} from '../../vector-index.ts'
import type { Statement } from '../connection/postgres-driver.ts'
import {
  BESIDES_COLUMNS,
  type BesidesColumns,
  besidesOf,
  withBesides,
} from '../search/session-neighbors.ts'
import { decoded } from '../store/row-codec.ts'
import {
  type Binder,
  createBinder,
  documentConditions,
  isNarrow,
  scopeConditions,
} from '../store/sql-filters.ts'
import { nearestPlain } from './exact-search.ts'
import { type Pgvector, similarity, toText } from './vector-format.ts'
import { heldConditions, joined, lookedUp, UNCOMPILED } from './vector-joins.ts'
import {
  INDEX_PREFIX,
  type IndexSubject,
  indexed,
  indexSuffix,
  type KeptSpace,
  keptSpace,
  ownerNumber,
  type VectorTables,
} from './vector-spaces.ts'

/** What one search returns at most. */
const HITS_MAX = TEXT_HITS_MAX

/** Candidates from an index: so many for ordinary limits, so that the first hits don't depend on them, and else the most. */
const CANDIDATES = 300
const ORDINARY_LIMIT = 100

function candidatesFor({ limit }: VectorQuery): number {
  return limit <= ORDINARY_LIMIT ? CANDIDATES : HITS_MAX
}

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

type HitColumns = BesidesColumns & { id: MemoryId; similarity: number; candidates?: number }

/** Where the vectors of an owner's documents of one kind are to be looked for in a space. */
type Located = { readonly kept: KeptSpace; readonly hasIndex: boolean }

/**
 * What was last known of each, so that a search need not ask first. It is asked with every search all the same, in the
 * same trip: a space may have been made anew, and an index may be ready or gone.
 */
export type KnownPlaces = {
  get(space: VectorSpace, subject: IndexSubject): Located | null
  set(space: VectorSpace, subject: IndexSubject, place: Located | null): void
}

const KNOWN_MAX = 10_000

export function createKnownPlaces(): KnownPlaces {
  const places = new Map<string, Located>()
  const nameOf = ({ signature, dimensions }: VectorSpace, { owner, kind }: IndexSubject) =>
    JSON.stringify([signature, dimensions, owner, kind])
  return {
    get: (space, subject) => places.get(nameOf(space, subject)) ?? null,
    set(space, subject, place) {
      if (places.size >= KNOWN_MAX) places.clear()
      if (place === null) places.delete(nameOf(space, subject))
      else places.set(nameOf(space, subject), place)
    },
  }
}

export async function nearest(
  tables: VectorTables,
  known: KnownPlaces,
  space: VectorSpace,
  scope: Scope,
  query: VectorQuery,
): Promise<readonly VectorHit[]> {
  refuseUnfit(space.dimensions, query.vector)
  const limit = Math.min(query.limit, HITS_MAX)
  if (limit <= 0 || isZero(query.vector)) return []
  const kinds = kindsOf(query.where.types)
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
  const hits = lists.flat().sort(bySimilarity).slice(0, limit)
  const memories = lists[kinds.indexOf('memory')] ?? []
  return hits.length < limit ? hits : [...hits, ...missingAmong(hits, memories, query)]
}

/** The best of the memories, as far as the hits lack them. */
function missingAmong(
  hits: readonly VectorHit[],
  memories: readonly VectorHit[],
  { memoriesMin = 0 }: VectorQuery,
): readonly VectorHit[] {
  const known = new Set(hits.map(({ id }) => id))
  return memories.slice(0, memoriesMin).filter(({ id }) => !known.has(id))
}

export type Search = {
  readonly kept: KeptSpace
  readonly scope: Scope
  readonly kind: DocumentKind
  readonly query: VectorQuery
}

async function nearestOfKind(
  tables: VectorTables,
  known: KnownPlaces,
  space: VectorSpace,
  asked: Omit<Search, 'kept'>,
): Promise<readonly VectorHit[]> {
  const { form } = tables
  const subject = { owner: asked.scope.owner, kind: asked.kind }
  let place = known.get(space, subject) ?? (await locate(tables, space, subject))
  while (place !== null) {
    const search = { ...asked, kept: place.kept }
    if (form.kind === 'plain') return nearestPlain(tables, search)
    const found = await nearestAt({ ...tables, form }, space, place, search)
    known.set(space, subject, found.place)
    if (isSame(place, found.place)) return found.hits
    place = found.place
  }
  return []
}

function isSame(one: Located, other: Located | null): boolean {
  return one.kept.number === other?.kept.number && one.hasIndex === other.hasIndex
}

async function locate(
  tables: VectorTables,
  space: VectorSpace,
  subject: IndexSubject,
): Promise<Located | null> {
  const [sql, values] = placeStatement(tables, space, subject)
  return placeFrom(tables, space, await tables.of([subject.owner]).query<PlaceColumns>(sql, values))
}

type PlaceColumns = { number: number; dimensions: number; ready: boolean | null }

/** Finds the space, and whether the owner has an index of the kind there that is ready. */
function placeStatement(
  { names, form }: VectorTables,
  space: VectorSpace,
  { owner, kind }: IndexSubject,
): Statement {
  const suffix = form.kind === 'pgvector' ? indexSuffix(form) : ''
  const sql = `SELECT number, dimensions, (SELECT indisvalid FROM pg_index WHERE indexrelid =
       to_regclass(format('%I.%I', $2::text,
         '${INDEX_PREFIX}' || number || '_' || $3::text || '_${kind}${suffix}'))) AS ready
     FROM ${names.embedding_space} WHERE signature = $1`
  return [sql, [toStorable(space.signature), names.schema, ownerNumber(owner)]]
}

function placeFrom(
  { form }: VectorTables,
  space: VectorSpace,
  [row]: readonly PlaceColumns[],
): Located | null {
  if (row === undefined) return null
  return { kept: keptSpace(form, space, row), hasIndex: row.ready === true }
}

/** What is nearest if everything is where it was taken to be, and where it is. */
async function nearestAt(
  tables: VectorTables<Pgvector>,
  space: VectorSpace,
  { hasIndex }: Located,
  search: Search,
): Promise<{ readonly place: Located | null; readonly hits: readonly VectorHit[] }> {
  const { scope, kind, query } = search
  const subject = { owner: scope.owner, kind }
  const ask = async ([settings, statement]: Asking) => {
    const [places = [], rows = []] = await tables
      .of([scope.owner])
      .readingAll(settings, [placeStatement(tables, space, subject), statement])
    return {
      place: placeFrom(tables, space, places as readonly PlaceColumns[]), // as each was asked for
      rows: rows as readonly HitColumns[],
    }
  }
  const hitsOf = (rows: readonly HitColumns[]) =>
    rows.map((row, at) => hitFrom(row, at, query.besides))
  if (hasIndex && !isNarrow(scope, query.where)) {
    const { place, rows } = await ask(byIndex(tables, search))
    // With fewer the index may have given up on the filters.
    if (rows[0]?.candidates === candidatesFor(query)) return { place, hits: hitsOf(rows) }
  }
  const { place, rows } = await ask(byComparing(tables, search))
  return { place, hits: hitsOf(rows) }
}

type Asking = readonly [settings: readonly string[], statement: Statement]

function byComparing(tables: VectorTables<Pgvector>, search: Search): Asking {
  const { form } = tables
  const { kept, scope, query } = search
  const binder = createBinder()
  const vector = binder.bind(toText(form, query.vector))
  const near = `${similarity(form, `e.${kept.column}`, vector)} AS similarity`
  const tail = `ORDER BY ${ORDER} LIMIT ${binder.bind(query.limit)}`
  if (isNarrow(scope, query.where)) {
    const statement = `SELECT ${columnsFor(query)}, ${near}
      FROM ${permittedFew(tables, search, binder)} ${tail}`
    return [[], ordered(tables, query, binder, statement)]
  }
  // Documents are read in the order of their similarity, and only until enough of them pass the filters.
  const statement = `SELECT m.*, similarity
    FROM (SELECT e.memory, ${near} FROM ${tables.names.embedding} AS e
      WHERE ${held(search, binder).join(' AND ')} ORDER BY similarity DESC) AS best
    CROSS JOIN LATERAL (SELECT ${columnsFor(query)} FROM ${tables.names.memory}
      WHERE number = best.memory AND ${visible(search, binder).join(' AND ')} LIMIT 1) AS m
    ${tail}`
  return [[UNCOMPILED], ordered(tables, query, binder, statement)]
}

function held({ kept, scope, kind }: Search, binder: Binder): readonly string[] {
  return [...heldConditions(kept, scope, kind, binder), `e.${kept.column} IS NOT NULL`]
}

function byIndex(tables: VectorTables<Pgvector>, search: Search): Asking {
  const { kept, query } = search
  const { form } = tables
  const binder = createBinder()
  const vector = binder.bind(toText(form, query.vector))
  const sought = indexed(form, kept, `${vector}::${form.extension}.vector`)
  const statement = `
    WITH candidate AS MATERIALIZED (
      SELECT ${columnsFor(query)}, e.${kept.column} AS vector FROM ${permitted(tables, search, binder)}
      ORDER BY ${indexed(form, kept, `e.${kept.column}`)} OPERATOR(${form.extension}.<#>) ${sought}
      LIMIT ${candidatesFor(query)}
    )
    SELECT ${columnsFor(query)}, ${similarity(form, 'vector', vector)} AS similarity,
      count(*) OVER () AS candidates
    FROM candidate ORDER BY ${ORDER} LIMIT ${binder.bind(query.limit)}`
  return [indexSettings(form), ordered(tables, query, binder, statement)]
}

const ORDER = 'similarity DESC, id DESC'

/** Where the surroundings are to be told as well, what they are found by. */
function columnsFor({ besides }: VectorQuery): string {
  return besides === undefined ? 'id' : BESIDES_COLUMNS.join(', ')
}

function ordered(
  { names }: VectorTables,
  { besides }: VectorQuery,
  binder: Binder,
  statement: string,
): Statement {
  const sql =
    besides === undefined
      ? statement
      : withBesides(names, binder, besides, { statement, order: ORDER })
  return [sql, binder.values]
}

/** The vectors that may be hits, with their documents. */
export function permitted(tables: VectorTables, search: Search, binder: Binder): string {
  const conditions = [...held(search, binder), ...visible(search, binder)]
  return `${joined(tables)} WHERE ${conditions.join(' AND ')}`
}

/** The same where few documents can be hits. */
export function permittedFew(tables: VectorTables, search: Search, binder: Binder): string {
  const { kept, kind } = search
  return `${lookedUp(tables, [kind], binder.bind(kept.number))} WHERE e.${kept.column} IS NOT NULL
    AND ${visible(search, binder).join(' AND ')}`
}

function visible({ scope, kind, query }: Search, binder: Binder): readonly string[] {
  return [...scopeConditions(scope, binder), ...documentConditions(query.where, binder, [kind])]
}

function hitFrom(row: HitColumns, place: number, besides: VectorQuery['besides']): VectorHit {
  const { id, similarity } = row
  return { id: decoded(id), similarity, ...besidesOf(row, place, besides) }
}
