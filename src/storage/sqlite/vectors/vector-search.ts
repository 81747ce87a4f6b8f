/**
 * The nearest memories: a scan over all of an owner's vectors in bytes gives each the most that its similarity can be,
 * and the most promising are looked up in the database and compared exactly, until no other can be closer.
 *
 * So the answer is exact among the rows that were scanned, whatever was lost by rounding to bytes, and never depends on the
 * limit. Looking up also applies the filters and shows which rows are gone.
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
import { type MemorySequences, TURN_ID_MIN } from './memory-sequences.ts'
import { type OwnerVectorSpace, readStoredVectorsBatch } from './vector-tables.ts'

/** Rows looked up at once: as many as are wanted, within what takes a millisecond or two. */
const LOOKUP_ROWS_MIN = 32
const LOOKUP_ROWS_MAX = 256

/** Rows compared at once. Not more, because those that are not at hand are read. */
const COMPARED_ROWS = 128

/** Rows compared before the closest are looked up, as long as it is not known that the filters let them pass. */
const UNSEEN_ROWS_MAX = 256

/** After this many that were not permitted, the permitted ones are read from the database before going on. */
const REFUSALS_MAX = 512

/** Memories that are asked for at once whether they are permitted. */
const PERMITTED_ROWS = 1_000

/** Ranked rows that are gone through at once when it is known which are permitted. */
const PASSING_ROWS = 1_024

/** Permitted rows, of a filter that an index answers, that are compared one by one instead of scanning all. */
const FEW_ROWS = 500

export type VectorSearchContext = {
  readonly database: CachedDatabase
  readonly owner: OwnerVectorSpace
  readonly scope: Scope
  readonly query: VectorQuery
  readonly filter: SqlCondition
  readonly timeSlice: TimeSlice
}

/** The rows of a scan, the most promising first, and how to get from them to the database. */
export type ScanResult = {
  readonly candidates: Pick<BucketQueue, 'maxRemaining' | 'popMany'>
  sequenceOf(row: number): number
  /** A row that the database no longer has. */
  markDeleted(row: number): void
  /**
   * How near a row is to the query if its vector is at hand: exactly, or, where that is below `least`, at most so near.
   */
  findSimilarity(row: number, least: number): number | null
  /** Has a vector that was read at hand for the next search. */
  cacheVector(row: number, vector: Float32Array): void
  /** Tells which sequences are those of memories, where that is known without reading them. */
  memories?(): Promise<Pick<MemorySequences, 'has'>>
  /** Whether rows that are likely not near were left out. */
  readonly isPartial?: boolean
}

/** Of scans whose rows don't stay. */
export const NO_CACHED_VECTORS: Pick<ScanResult, 'findSimilarity' | 'cacheVector'> = {
  findSimilarity: () => null,
  cacheVector: () => {},
}

/** Null where a scan was partial and too few of its rows are permitted: then all are to be scanned. */
export type CollectHits = (scanned: ScanResult) => Promise<readonly VectorHit[] | null>

/** Scans an owner's rows (only those of a place, unless it is 0) and gives them to `collect` while they last. */
export type VectorScanner = (
  search: VectorSearchContext,
  place: number,
  collect: CollectHits,
) => Promise<readonly VectorHit[] | null>

type ComparedRow = { readonly row: number; readonly similarity: number }

/** The memory was looked up, and is there and permitted. */
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
  const breather = new TimeSlice()
  const search: VectorSearchContext = {
    database,
    owner,
    scope,
    query,
    filter: permitted,
    timeSlice: breather,
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

/** Compares the permitted rows, or gives null when they are many. */
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
 * Compares rows from the most promising on, and looks up the closest, until no other can be among the hits. When others
 * had the thread in the meantime, the hits are looked up once more at the end, so that all of them are there at one and
 * the same moment.
 */
async function collectHits(
  search: VectorSearchContext,
  scanned: ScanResult,
): Promise<readonly VectorHit[] | null> {
  const { limit, memoriesMin = 0, where } = search.query
  const { timeSlice: breather } = search
  const behind = new PendingRows()
  let found: PermittedHit[] = []
  let memories: PermittedHit[] = []
  for (;;) {
    const pauses = breather.yields
    const deeper = await verifyCandidates(search, scanned, found, behind)
    if (deeper === null) return null
    found = deeper
    if (memoriesMin > 0 && found.length >= limit && areBothAsked(where)) {
      memories = await memoriesBehind(search, scanned, found, behind)
    }
    const hits = [...found.slice(0, limit), ...memories]
    if (pauses === breather.yields) return hits.map(toHit)
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

/** Those of the best memories that are not among the hits, which turns fill. The ranking is gone through from where it stands. */
async function memoriesBehind(
  search: VectorSearchContext,
  scanned: ScanResult,
  found: readonly PermittedHit[],
  behind: PendingRows,
): Promise<PermittedHit[]> {
  const { limit, memoriesMin = 0 } = search.query
  const ofMemories = (hits: readonly PermittedHit[]) => hits.filter(({ id }) => !isTurnId(id))
  const missing = memoriesMin - ofMemories(found.slice(0, limit)).length
  if (missing <= 0 || scanned.memories === undefined || scanned.isPartial === true) return []
  const memories = await scanned.memories()
  const query = { ...search.query, limit: memoriesMin }
  const best = await verifyCandidates(
    { ...search, query },
    scanned,
    ofMemories(found),
    behind,
    memories,
  )
  return (best ?? []).slice(memoriesMin - missing, memoriesMin)
}

/**
 * Everything that was looked up, closest first. Looking up takes longer than comparing, so it waits until there are
 * enough that would do if all were permitted, and nothing else can be closer than they are. `behind` gets those that
 * were compared and not looked up; they are needed when others turn out to be refused. With `memories`, all others go
 * there as well. Null as in `Collect`.
 */
async function verifyCandidates(
  search: VectorSearchContext,
  scanned: ScanResult,
  known: readonly PermittedHit[],
  behind: PendingRows,
  memories: Pick<MemorySequences, 'has'> | null = null,
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
  const isWanted = (row: number) => memories === null || memories.has(sequenceOf(row))
  const enough = () =>
    Math.max(
      found[limit - 1]?.similarity ?? Number.NEGATIVE_INFINITY,
      similarityAt(wanted - 1, found, open),
    )
  const consider = (rows: readonly number[]) => {
    compared += rows.length
    const least = enough()
    compare(search, scanned, rows, least, (row, similarity) => {
      if (similarity < least) behind.add(row, similarity)
      else open.push({ row, similarity })
    })
    open.sort((a, b) => b.similarity - a.similarity)
    const last = enough()
    const kept = open.findLastIndex(({ similarity }) => similarity >= last) + 1
    for (const { row, similarity } of open.splice(kept)) behind.add(row, similarity)
  }
  for (;;) {
    if (search.timeSlice.isExpired) await search.timeSlice.yieldThread()
    const { maxRemaining: bound } = ranking
    const mayCompare = open.length === 0 || allPassed || compared < UNSEEN_ROWS_MAX
    if (bound !== null && bound >= enough() && mayCompare) {
      const isEveryWanted = permitted === null && memories === null
      const rows = ranking.popMany(isEveryWanted ? COMPARED_ROWS : PASSING_ROWS)
      for (const row of rows) if (!isWanted(row)) behind.add(row, bound)
      consider(rows.filter((row) => isWanted(row) && mayPass(row)))
      continue
    }
    if (open.length === 0) {
      const rows = behind.takeAbove(enough(), isWanted)
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

/** What stands at this position of both lists together, each of which is sorted. */
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

/** Rows that are not as near as others, and how near each is at most. Numbers only: there may be thousands. */
class PendingRows {
  readonly #rows: number[] = []
  readonly #most: number[] = []

  add(row: number, most: number): void {
    this.#rows.push(row)
    this.#most.push(most)
  }

  /** Takes those of the wanted out that may be as near as this. */
  takeAbove(least: number, isWanted: (row: number) => boolean): readonly number[] {
    const taken: number[] = []
    let kept = 0
    for (let at = 0; at < this.#rows.length; at++) {
      const row = this.#rows[at] ?? 0
      const most = this.#most[at] ?? 0
      if (most >= least && isWanted(row)) {
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

/** All rows of the owner that the filters permit, for filters that let few pass. */
async function permittedSequences({
  database,
  owner,
  query,
  filter: permitted,
  timeSlice: breather,
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
    if (breather.isExpired) await breather.yieldThread()
  }
}

/** Ids of turns stand behind those of memories. What can't be permitted is not gone through. */
const [ID_MIN, ID_MAX] = ['', '\u{10ffff}']

function idsOf({ types }: DocumentFilter): readonly [after: string, before: string] {
  if (types === undefined || !types.includes('turn')) return [ID_MIN, TURN_ID_MIN]
  return types.every((type) => type === 'turn') ? [TURN_ID_MIN, ID_MAX] : [ID_MIN, ID_MAX]
}

/**
 * Compares the vectors as they are kept; of those below `least` it is enough to tell that they are. Zero vectors are near
 * to nothing, and left out. Where many vectors are alike, these are thousands: nothing is made for a row but what is told.
 */
function compare(
  { database, owner, query }: VectorSearchContext,
  {
    findSimilarity: similarityOf,
    sequenceOf,
    cacheVector: keep,
    markDeleted: noteGone,
  }: ScanResult,
  rows: readonly number[],
  least: number,
  tell: (row: number, similarity: number) => void,
): void {
  const unread = new Map<number, number>()
  for (const row of rows) {
    const similarity = similarityOf(row, least)
    if (similarity === null) unread.set(sequenceOf(row), row)
    else tell(row, similarity)
  }
  if (unread.size === 0) return
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
    tell(row, innerProduct(query.vector, vector))
    keep(row, vector)
  }
  for (const row of unread.values()) noteGone(row)
}

/** Those whose memories are there and permitted. */
function lookUpHits(
  search: VectorSearchContext,
  { sequenceOf, markDeleted: noteGone }: ScanResult,
  compared: readonly ComparedRow[],
): readonly PermittedHit[] {
  if (compared.length === 0) return []
  const wanted = compared.map(({ row }) => sequenceOf(row))
  const idOf = permittedAmong(search, wanted)
  const found: PermittedHit[] = []
  for (const [index, { row, similarity }] of compared.entries()) {
    const id = idOf(wanted[index] ?? 0)
    if (id === undefined) noteGone(row)
    else if (id !== null) found.push({ row, similarity, id })
  }
  return found
}

/** For each of these sequences: the id of its memory, null when that is not permitted, undefined when there is no vector. */
function permittedAmong(
  { database, owner, scope, query, filter: permitted }: VectorSearchContext,
  wanted: readonly number[],
): (sequence: number) => MemoryId | null | undefined {
  const resident = database.ownerCache.get(owner.ownerNumber)
  if (resident !== null) return resident.filterBySequence(owner.space, scope, query.where)
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
