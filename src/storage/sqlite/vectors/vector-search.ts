/**
 * Nearest-neighbor search: a scan over all quantized vectors of an owner gives an upper bound of each similarity. The rows
 * with the highest bounds are compared exactly and looked up in the database, until no other row can be closer.
 *
 * The result is exact among the scanned rows, whatever quantization lost, and never depends on the limit. Looking up also
 * applies the filters and detects deleted rows.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import type { Scope } from '../../../domain/scope.ts'
import { isTurnId } from '../../../domain/search-document.ts'
import { compareText } from '../../../lib/compare.ts'
import { TimeSlice } from '../../../lib/event-loop.ts'
import { innerProduct, isZeroVector } from '../../../lib/vector-math.ts'
import type { DocumentFilter } from '../../store.ts'
import type { VectorHit, VectorQuery } from '../../vector-index.ts'
import type { CachedDatabase } from '../cache/cached-database.ts'
import {
  joinConditions,
  type SqlCondition,
  toDocumentConditions,
  toScopeConditions,
} from '../store/sql-filters.ts'
import type { BucketQueue } from './bucket-queue.ts'
import { TURN_ID_MIN } from './memory-sequences.ts'
import { type OwnerVectorSpace, readStoredVectorsBatch } from './vector-tables.ts'

/** Rows that are looked up at once, which takes a millisecond or two. */
const LOOKUP_ROWS_MIN = 32
const LOOKUP_ROWS_MAX = 256

/** Rows that are compared at once. Vectors that are not cached are read from the database. */
const COMPARED_ROWS = 128

/** Rows that are compared before the closest are looked up, while it is unknown whether the filters permit them. */
const UNSEEN_ROWS_MAX = 256

/** After so many rows that the filters exclude, all permitted rows are read from the database first. */
const REFUSALS_MAX = 512

/** Documents that are filtered in one statement. */
const PERMITTED_ROWS = 1_000

/** Ranked rows that are examined at once when the permitted rows are known. */
const PASSING_ROWS = 1_024

/** Up to so many rows that an index of the database finds are compared without a scan. */
const FEW_ROWS = 500

export type VectorSearchContext = {
  readonly database: CachedDatabase
  readonly owner: OwnerVectorSpace
  readonly scope: Scope
  readonly query: VectorQuery
  readonly filter: SqlCondition
  readonly timeSlice: TimeSlice
}

/** Rows by the most that their similarity can be, highest first. */
type RankedRows = Pick<BucketQueue, 'maxRemaining' | 'popMany'>

/** The rows of a scan by their upper bounds, and access to their vectors and documents. */
export type ScanResult = {
  readonly candidates: RankedRows
  sequenceOf(row: number): number
  /** A row that the database no longer has. */
  markDeleted(row: number): void
  /**
   * The similarity of a row whose vector is cached: exact, or, where it is below `least`, an upper bound.
   */
  findSimilarity(row: number, least: number): number | null
  /** Caches a vector for the next search. */
  cacheVector(row: number, vector: Float32Array): void
  /** The rows of memories alone, none of them taken yet, where they are known without reading the documents. */
  rankMemories?(): Promise<RankedRows>
  /** Whether rows that are unlikely to be near were skipped. */
  readonly isPartial?: boolean
}

/** For scans whose rows are not kept in memory. */
export const NO_CACHED_VECTORS: Pick<ScanResult, 'findSimilarity' | 'cacheVector'> = {
  findSimilarity: () => null,
  cacheVector: () => {},
}

/** Null when a scan was partial and too few of its rows are permitted, so that all rows must be scanned. */
export type CollectHits = (scanned: ScanResult) => Promise<readonly VectorHit[] | null>

/** Scans the rows of an owner, or of one place unless it is 0, and passes them to `collect`. */
export type VectorScanner = (
  search: VectorSearchContext,
  place: number,
  collect: CollectHits,
) => Promise<readonly VectorHit[] | null>

type ComparedRow = { readonly row: number; readonly similarity: number }

/** A row whose document exists and matches the filters. */
type PermittedHit = ComparedRow & VectorHit

export async function searchVectors(
  database: CachedDatabase,
  owner: OwnerVectorSpace,
  scope: Scope,
  query: VectorQuery,
  withScan: VectorScanner,
): Promise<readonly VectorHit[]> {
  const filters = toDocumentConditions(query.where)
  const permitted = joinConditions([
    ...toScopeConditions('memory', scope, database, filters),
    ...filters,
  ])
  const timeSlice = new TimeSlice()
  const search: VectorSearchContext = {
    database,
    owner,
    scope,
    query,
    filter: permitted,
    timeSlice,
  }
  const few = isFoundByIndex(query.where) ? searchFewPermitted(search) : null
  if (few !== null) return few
  const place = scope.user === undefined ? 0 : database.findPlaceNumber(scope)
  if (place === null) return []
  return (await withScan(search, place, (scanned) => collectHits(search, scanned))) ?? []
}

function isFoundByIndex({ ids, key, fingerprint, change }: DocumentFilter): boolean {
  return [ids, key, fingerprint, change].some((value) => value !== undefined)
}

/** Compares the permitted rows; null when there are many. */
function searchFewPermitted({
  database,
  owner,
  query,
  filter: permitted,
}: VectorSearchContext): readonly VectorHit[] | null {
  const rows = readStoredVectorsBatch(
    database,
    owner.dimensions,
    `memory CROSS JOIN vector ON vector.memory = memory.number AND vector.space = ?
     LEFT JOIN vector_exact ON vector_exact.number = vector.exact
     WHERE ${permitted.sql} LIMIT ${FEW_ROWS + 1}`,
    [owner.space, ...permitted.values],
  )
  if (rows.length > FEW_ROWS) return null
  return rows
    .flatMap(({ id, vector }) =>
      id === null || isZeroVector(vector)
        ? []
        : [{ id, similarity: innerProduct(query.vector, vector) }],
    )
    .sort(compareHits)
    .slice(0, query.limit)
}

/**
 * Verifies candidates until no other row can be among the hits. If the search yielded meanwhile, the hits are looked up once
 * more, so that all of them exist at the same moment.
 */
async function collectHits(
  search: VectorSearchContext,
  scanned: ScanResult,
): Promise<readonly VectorHit[] | null> {
  const { limit, memoriesMin = 0, where } = search.query
  const { timeSlice } = search
  const pending = new PendingRows()
  let found: PermittedHit[] = []
  let memories: PermittedHit[] = []
  for (;;) {
    const pauses = timeSlice.yields
    const deeper = await verifyCandidates(search, scanned, found, pending)
    if (deeper === null) return null
    found = deeper
    if (memoriesMin > 0 && found.length >= limit && areBothAsked(where)) {
      memories = await findFurtherMemories(search, scanned, found)
    }
    const hits = [...found.slice(0, limit), ...memories]
    if (pauses === timeSlice.yields) return hits.map(toHit)
    const there = new Set(lookUpHits(search, scanned, hits).map(({ row }) => row))
    if (hits.every(({ row }) => there.has(row))) return hits.map(toHit)
    const gone = new Set(hits.filter(({ row }) => !there.has(row)))
    found = [...new Set([...found, ...memories])].filter((hit) => !gone.has(hit))
    memories = []
  }
}

function toHit({ id, similarity }: PermittedHit): VectorHit {
  return { id, similarity }
}

function areBothAsked({ types }: DocumentFilter): boolean {
  return types?.includes('turn') === true && types.some((type) => type !== 'turn')
}

/** The best memories that are not among the hits, which turns fill. They are ranked apart, because thousands of turns may rank above them. */
async function findFurtherMemories(
  search: VectorSearchContext,
  scanned: ScanResult,
  found: readonly PermittedHit[],
): Promise<PermittedHit[]> {
  const { limit, memoriesMin = 0 } = search.query
  const isMemory = ({ id }: PermittedHit) => !isTurnId(id)
  const missing = memoriesMin - found.slice(0, limit).filter(isMemory).length
  if (missing <= 0 || scanned.rankMemories === undefined || scanned.isPartial === true) return []
  const candidates = await scanned.rankMemories()
  const best = await verifyCandidates(
    { ...search, query: { ...search.query, limit: memoriesMin } },
    { ...scanned, candidates },
    [],
    new PendingRows(),
  )
  return (best ?? []).filter(isMemory).slice(memoriesMin - missing, memoriesMin)
}

/**
 * Everything that was looked up, closest first. Looking up takes longer than comparing, so it waits until there are
 * enough that would do if all were permitted, and nothing else can be closer than they are. `pending` gets those that
 * were compared and not looked up; they are needed when others turn out to be refused. Null as in `CollectHits`.
 */
async function verifyCandidates(
  search: VectorSearchContext,
  scanned: ScanResult,
  known: readonly PermittedHit[],
  pending: PendingRows,
): Promise<PermittedHit[] | null> {
  const { candidates: ranking, sequenceOf, isPartial = false } = scanned
  const { limit } = search.query
  const found = [...known].sort(compareHits)
  let open: ComparedRow[] = []
  let wanted = Math.max(LOOKUP_ROWS_MIN, limit)
  let refusals = 0
  let permitted: ReadonlySet<number> | null = null
  /** Since rows were last looked up, and whether those all passed. */
  let compared = 0
  let allPassed = false
  const mayPass = (row: number) => permitted === null || permitted.has(sequenceOf(row))
  const enough = () =>
    Math.max(
      found[limit - 1]?.similarity ?? Number.NEGATIVE_INFINITY,
      similarityAt(wanted - 1, found, open),
    )
  const consider = (rows: readonly number[]) => {
    compared += rows.length
    const least = enough()
    compare(search, scanned, rows, least, (row, similarity) => {
      if (similarity < least) pending.add(row, similarity)
      else open.push({ row, similarity })
    })
    open.sort((a, b) => b.similarity - a.similarity)
    const last = enough()
    const kept = open.findLastIndex(({ similarity }) => similarity >= last) + 1
    for (const { row, similarity } of open.splice(kept)) pending.add(row, similarity)
  }
  for (;;) {
    if (search.timeSlice.isExpired) await search.timeSlice.yieldThread()
    const { maxRemaining: bound } = ranking
    const mayCompare = open.length === 0 || allPassed || compared < UNSEEN_ROWS_MAX
    if (bound !== null && bound >= enough() && mayCompare) {
      consider(
        permitted === null
          ? ranking.popMany(COMPARED_ROWS)
          : ranking.popMany(PASSING_ROWS).filter(mayPass),
      )
      continue
    }
    if (open.length === 0) {
      const rows = pending.takeAbove(enough())
      if (rows.length === 0) return isPartial && found.length < limit ? null : found
      consider(rows.filter(mayPass))
      continue
    }
    const closest = open.slice(0, LOOKUP_ROWS_MAX)
    open = open.slice(LOOKUP_ROWS_MAX)
    const hits = lookUpHits(search, scanned, closest)
    found.push(...hits)
    found.sort(compareHits)
    refusals += closest.length - hits.length
    compared = 0
    allPassed = hits.length === closest.length
    if (!allPassed) wanted = Math.min(wanted * 2, LOOKUP_ROWS_MAX + limit)
    if (permitted === null && refusals > REFUSALS_MAX) {
      if (isPartial) return null
      permitted = await permittedSequences(search)
      open = open.filter(({ row }) => mayPass(row))
    }
  }
}

/** The similarity at a position of the merged lists, both of which are sorted. */
function similarityAt(
  position: number,
  found: readonly ComparedRow[],
  open: readonly ComparedRow[],
): number {
  if (found.length + open.length <= position) return Number.NEGATIVE_INFINITY
  let [ofFound, ofOpen] = [0, 0]
  for (;;) {
    const a = found[ofFound]?.similarity ?? Number.NEGATIVE_INFINITY
    const b = open[ofOpen]?.similarity ?? Number.NEGATIVE_INFINITY
    if (ofFound + ofOpen === position) return Math.max(a, b)
    if (a >= b) ofFound++
    else ofOpen++
  }
}

/** Rows that were not looked up, with upper bounds of their similarities. Numbers only: there may be thousands. */
class PendingRows {
  readonly #rows: number[] = []
  readonly #most: number[] = []

  add(row: number, most: number): void {
    this.#rows.push(row)
    this.#most.push(most)
  }

  /** Removes and returns the rows whose similarity may be as high as `least`. */
  takeAbove(least: number): readonly number[] {
    const taken: number[] = []
    let kept = 0
    for (let at = 0; at < this.#rows.length; at++) {
      const row = this.#rows[at] ?? 0
      const most = this.#most[at] ?? 0
      if (most >= least) {
        taken.push(row)
        continue
      }
      this.#rows[kept] = row
      this.#most[kept++] = most
    }
    this.#rows.length = kept
    this.#most.length = kept
    return taken
  }
}

/** All rows of the owner that the filters permit, for selective filters. */
async function permittedSequences({
  database,
  owner,
  query,
  filter: permitted,
  timeSlice,
}: VectorSearchContext): Promise<ReadonlySet<number>> {
  const sequences = new Set<number>()
  const [first, end] = idsOf(query.where)
  for (let after = first; ; ) {
    const [page] = database.all(
      `SELECT max(id) AS last FROM
         (SELECT id FROM memory WHERE owner_number = ? AND id > ? AND id < ? ORDER BY id LIMIT ?)`,
      [owner.ownerNumber, after, end, PERMITTED_ROWS],
    )
    if (typeof page?.last !== 'string') return sequences
    const [row] = database.all(
      `SELECT json_group_array(vector.sequence) AS sequences
       FROM memory CROSS JOIN vector ON vector.memory = memory.number AND vector.space = ?
       WHERE ${permitted.sql} AND memory.id > ? AND memory.id <= ?`,
      [owner.space, ...permitted.values, after, page.last],
    )
    for (const sequence of JSON.parse(String(row?.sequences))) sequences.add(Number(sequence))
    after = page.last
    if (timeSlice.isExpired) await timeSlice.yieldThread()
  }
}

/** Ids of turns sort after those of memories, so a filter by type narrows the range of ids. */
const [ID_MIN, ID_MAX] = ['', '\u{10ffff}']

function idsOf({ types }: DocumentFilter): readonly [after: string, before: string] {
  if (types === undefined || !types.includes('turn')) return [ID_MIN, TURN_ID_MIN]
  return types.every((type) => type === 'turn') ? [TURN_ID_MIN, ID_MAX] : [ID_MIN, ID_MAX]
}

/**
 * Compares stored vectors; for rows below `least`, an upper bound suffices. Zero vectors never match. Allocates nothing per
 * row, because there may be thousands where many vectors are alike.
 */
function compare(
  { database, owner, query }: VectorSearchContext,
  { findSimilarity, sequenceOf, cacheVector, markDeleted }: ScanResult,
  rows: readonly number[],
  least: number,
  report: (row: number, similarity: number) => void,
): void {
  let unread: Map<number, number> | null = null
  for (const row of rows) {
    const similarity = findSimilarity(row, least)
    if (similarity !== null) report(row, similarity)
    else {
      unread ??= new Map()
      unread.set(sequenceOf(row), row)
    }
  }
  if (unread === null) return
  const read = readStoredVectorsBatch(
    database,
    owner.dimensions,
    `json_each(?) AS candidate
     CROSS JOIN vector ON vector.space = ? AND vector.owner_number = ?
       AND vector.sequence = candidate.value
     LEFT JOIN vector_exact ON vector_exact.number = vector.exact`,
    [JSON.stringify([...unread.keys()]), owner.space, owner.ownerNumber],
    'NULL',
  )
  for (const { sequence, vector } of read) {
    const row = unread.get(sequence)
    unread.delete(sequence)
    if (row === undefined || isZeroVector(vector)) continue
    report(row, innerProduct(query.vector, vector))
    cacheVector(row, vector)
  }
  for (const row of unread.values()) markDeleted(row)
}

/** The compared rows whose documents exist and match the filters. */
function lookUpHits(
  search: VectorSearchContext,
  { sequenceOf, markDeleted }: ScanResult,
  compared: readonly ComparedRow[],
): readonly PermittedHit[] {
  if (compared.length === 0) return []
  const wanted = compared.map(({ row }) => sequenceOf(row))
  const idOf = permittedAmong(search, wanted)
  const found: PermittedHit[] = []
  for (const [index, { row, similarity }] of compared.entries()) {
    const id = idOf(wanted[index] ?? 0)
    if (id === undefined) markDeleted(row)
    else if (id !== null) found.push({ row, similarity, id })
  }
  return found
}

/** Maps a sequence to the id of its document: null when the filters exclude it, undefined without a vector. */
function permittedAmong(
  { database, owner, scope, query, filter: permitted }: VectorSearchContext,
  wanted: readonly number[],
): (sequence: number) => MemoryId | null | undefined {
  const cachedOwner = database.ownerCache.get(owner.ownerNumber)
  if (cachedOwner !== null) return cachedOwner.filterBySequence(owner.space, scope, query.where)
  const [row] = database.all(
    `SELECT json_group_array(vector.sequence) AS sequences, json_group_array(memory.id) AS ids
     FROM json_each(?) AS candidate
     CROSS JOIN vector ON vector.space = ? AND vector.owner_number = ?
       AND vector.sequence = candidate.value
     LEFT JOIN memory ON memory.number = vector.memory AND ${permitted.sql}`,
    [JSON.stringify(wanted), owner.space, owner.ownerNumber, ...permitted.values],
  )
  const sequences: readonly number[] = JSON.parse(String(row?.sequences))
  const ids: readonly (MemoryId | null)[] = JSON.parse(String(row?.ids))
  const idOf = new Map(sequences.map((sequence, index) => [sequence, ids[index] ?? null]))
  return (sequence) => idOf.get(sequence)
}

function compareHits(a: VectorHit, b: VectorHit): number {
  return b.similarity - a.similarity || compareText(b.id, a.id)
}
