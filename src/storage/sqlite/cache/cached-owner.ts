/**
 * The documents of one owner, memories and turns, in memory. Queries over tens of thousands of rows take many times as
 * long in SQL, and nearly every query is about an owner of that size.
 */
import type { MemoryId, SessionId } from '../../../domain/ids.ts'
import { isWithinScope, type Scope } from '../../../domain/scope.ts'
import { getTurnPosition, isTurnId, type SearchDocument } from '../../../domain/search-document.ts'
import { compareText } from '../../../lib/compare.ts'
import { isMatchingDocument } from '../../document-filter.ts'
import type { Change, DocumentFilter, SessionNeighbors } from '../../store.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow } from '../connection/sqlite-driver.ts'
import {
  type LexicalCandidate,
  type LexicalMatches,
  scoreLexicalCandidate,
} from '../search/lexical-search.ts'
import { MEMORY_SELECTION, toDocument } from '../store/row-codec.ts'
import { BucketQueue } from '../vectors/bucket-queue.ts'
import { PostingLists } from './posting-lists.ts'

/** Loading one page blocks the thread for a few milliseconds. */
const ROWS_PER_PAGE = 300

/** Hits that are ranked together, best first. */
const HITS_PER_STEP = 64

/** Empty slots cost as much as others. */
const EMPTY_SLOTS_MAX = 1_000

/** A use of a memory. */
export type UsageCount = Pick<Extract<Change, { op: 'count' }>, 'scope' | 'id' | 'uses' | 'usedAt'>

/** A document with what search needs, not all of its columns: there are tens of thousands of rows. */
class CachedRow {
  readonly id: MemoryId
  readonly number: number
  /** Separated by spaces. */
  readonly terms: string
  /** The number of terms. */
  readonly length: number
  /** Identifies the memories, or the turns, of its session; null without a session. */
  readonly course: string | null
  /** The columns of a search result. */
  readonly columns: SqlRow
  #memory: SearchDocument

  constructor(row: SqlRow) {
    this.id = String(row.id) as MemoryId // the column holds nothing else
    this.number = Number(row.number)
    this.terms = String(row.terms)
    this.length = Number(row.terms_count)
    const { session, user, type } = row
    this.course = session == null ? null : JSON.stringify([user, session, type === 'turn'])
    this.columns = { id: this.id, session: session ?? null }
    this.#memory = toDocument(row)
  }

  /** Read-only: shared by all queries. */
  get memory(): SearchDocument {
    return this.#memory
  }

  /** Sorts the row within its sequence. Ends with the id. */
  get courseKey(): string {
    const position = this.#memory.type === 'turn' ? getTurnPosition(this.memory) : null
    return position === null ? this.id : `${sortable(position)} ${this.id}`
  }

  /** Counts a use as the database does. */
  noteUse({ uses, usedAt }: UsageCount): void {
    const { useCount, lastUsedAt } = this.#memory
    this.#memory = {
      ...this.#memory,
      useCount: useCount + uses,
      lastUsedAt: lastUsedAt === null || usedAt > lastUsedAt ? usedAt : lastUsedAt,
    }
  }

  /** Whether both have the same terms and the same position in the same sequence. */
  isWordedAs(other: CachedRow): boolean {
    const isSame = this.terms === other.terms && this.number === other.number
    return isSame && this.course === other.course && this.courseKey === other.courseKey
  }

  isPermitted(scope: Scope, where: DocumentFilter): boolean {
    return isWithinScope(scope, this.memory.place) && isMatchingDocument(this.memory, where)
  }
}

/** The vectors of a space: documents by sequence number, and sequence numbers by document. */
type Sequences = {
  readonly rows: Map<number, CachedRow>
  readonly byNumber: Map<number, number>
}

export class CachedOwner {
  readonly #database: SqliteDatabase
  readonly #ownerNumber: number
  readonly #slots: (CachedRow | null)[] = []
  readonly #slotOf = new Map<MemoryId, number>()
  /** Oldest first, and the slot of each. */
  readonly #ids: MemoryId[] = []
  readonly #idSlots: number[] = []
  /** Creation times by slot, so that a search by time reads no rows beyond it. */
  readonly #createdAt: number[] = []
  readonly #postings = new PostingLists()
  /** The sorted keys of each sequence. */
  readonly #courses = new Map<string, string[]>()
  readonly #spaces = new Map<number, Sequences>()
  readonly #outdated = new Set<MemoryId>()
  #lastRead = ''

  constructor(database: SqliteDatabase, ownerNumber: number) {
    this.#database = database
    this.#ownerNumber = ownerNumber
  }

  get size(): number {
    return this.#slotOf.size
  }

  get terms(): number {
    return this.#postings.termCount
  }

  get staleCount(): number {
    return this.#outdated.size
  }

  /** Whether so many rows were replaced that reloading the owner is better. */
  get isFragmented(): boolean {
    return this.#slots.length - this.size > Math.max(EMPTY_SLOTS_MAX, this.size)
  }

  /** Loads the next page. False after the last one. */
  loadNextPage(): boolean {
    const rows = this.#read('memory.id > ? ORDER BY memory.id LIMIT ?', [
      this.#lastRead,
      ROWS_PER_PAGE,
    ])
    for (const row of rows) this.#add(new CachedRow(row))
    this.#lastRead = String(rows.at(-1)?.id)
    return rows.length === ROWS_PER_PAGE
  }

  markStale(id: MemoryId): void {
    this.#outdated.add(id)
  }

  /** Ignores stale documents: rereading them includes their uses. */
  recordUse(use: UsageCount): void {
    const row = this.#outdated.has(use.id) ? null : this.#rowOf(use.id)
    if (row !== null && isWithinScope(use.scope, row.memory.place)) row.noteUse(use)
  }

  /** Rereads stale documents. */
  refresh(): void {
    if (this.#outdated.size === 0) return
    const ids = [...this.#outdated]
    this.#outdated.clear()
    const read = this.#read('memory.id IN (SELECT value FROM json_each(?))', [JSON.stringify(ids)])
    const rows = new Map(read.map((row) => [String(row.id), new CachedRow(row)]))
    for (const id of ids) {
      const row = rows.get(id)
      if (row === undefined) this.#remove(id)
      else this.#replace(row)
    }
    for (const [space, sequences] of this.#spaces) {
      this.#readSequences(space, sequences, [...rows.values()])
    }
  }

  /** The matching documents among the ids, newest first. Shared by all queries. */
  find(scope: Scope, ids: readonly MemoryId[], where: DocumentFilter): readonly SearchDocument[] {
    return [...new Set(ids)]
      .flatMap((id) => this.#rowOf(id) ?? [])
      .filter((row) => row.isPermitted(scope, where))
      .sort((a, b) => compareText(b.id, a.id))
      .map((row) => row.memory)
  }

  /** The documents that match a filter with a range of creation times, newest first. Shared by all queries. */
  findByCreation(scope: Scope, where: DocumentFilter, limit: number): readonly SearchDocument[] {
    const { createdFrom = Number.NEGATIVE_INFINITY, createdBefore = Number.POSITIVE_INFINITY } =
      where
    const found: SearchDocument[] = []
    for (let at = this.#idSlots.length - 1; at >= 0 && found.length < limit; at--) {
      const slot = this.#idSlots[at] ?? 0
      const createdAt = this.#createdAt[slot] ?? 0
      if (createdAt < createdFrom || createdAt >= createdBefore) continue
      const row = this.#slots[slot]
      if (row?.isPermitted(scope, where)) found.push(row.memory)
    }
    return found
  }

  /**
   * The lexical search of `searchTerms` in memory. Returns at least the best `limit` documents, and where turns crowd out
   * memories, at least the best `memoriesMin` memories.
   */
  search(
    scope: Scope,
    where: DocumentFilter,
    terms: readonly string[],
    { limit, memoriesMin }: { readonly limit: number; readonly memoriesMin: number },
  ): LexicalMatches {
    const { size } = this
    const averageLength = size === 0 ? 0 : this.terms / size
    const { slots, scores, idfs } = this.#postings.score(terms, size)
    const candidates: LexicalCandidate[] = []
    const best = new TopCandidates(scores)
    const consider = (position: number, isWanted: (row: CachedRow) => boolean) => {
      const slot = slots[position] ?? 0
      const row = this.#slots[slot]
      if (row == null || !isWanted(row) || !row.isPermitted(scope, where)) return
      const counts = this.#postings.countTerms(terms, slot)
      candidates.push(scoreLexicalCandidate(row.columns, counts, row.length, idfs, averageLength))
    }
    while (best.isWorthMore(limit - candidates.length)) consider(best.next(), () => true)
    if (candidates.length >= limit && memoriesMin > 0) {
      const wanted =
        candidates.length + memoriesMin - candidates.filter(({ row }) => isMemory(row)).length
      while (best.isWorthMore(wanted - candidates.length)) {
        consider(best.next(), ({ columns }) => isMemory(columns))
      }
    }
    return {
      terms: terms.map((text, position) => ({ text, rarity: idfs[position] ?? 0 })),
      averageLength,
      candidates,
    }
  }

  findNeighbors(
    scope: Scope,
    ids: readonly MemoryId[],
    reach: number,
  ): ReadonlyMap<MemoryId, SessionNeighbors> {
    const found = new Map<MemoryId, SessionNeighbors>()
    for (const id of ids) {
      const row = this.#rowOf(id)
      const course = this.#courses.get(row?.course ?? '')
      if (row === null || course === undefined || !isWithinScope(scope, row.memory.place)) continue
      const at = placeIn(course, row.courseKey)
      found.set(id, {
        session: row.memory.place.session as SessionId, // it has a course
        before: course
          .slice(Math.max(0, at - reach), at)
          .reverse()
          .map(idOfKey),
        after: course.slice(at + 1, at + 1 + reach).map(idOfKey),
      })
    }
    return found
  }

  /** Maps a sequence number of a space to its document: null when the filters exclude it, undefined without a vector. */
  filterBySequence(
    space: number,
    scope: Scope,
    where: DocumentFilter,
  ): (sequence: number) => MemoryId | null | undefined {
    const { rows } = this.#sequencesIn(space)
    return (sequence) => {
      const row = rows.get(sequence)
      if (row === undefined) return undefined
      return row.isPermitted(scope, where) ? row.id : null
    }
  }

  /** The sequence numbers of the vectors of documents in the scope. */
  findSequences(
    space: number,
    scope: Scope,
    ids: readonly MemoryId[],
  ): ReadonlyMap<number, MemoryId> {
    const { byNumber } = this.#sequencesIn(space)
    const found = new Map<number, MemoryId>()
    for (const id of ids) {
      const row = this.#rowOf(id)
      const sequence = row === null ? undefined : byNumber.get(row.number)
      if (row === null || sequence === undefined || !isWithinScope(scope, row.memory.place))
        continue
      found.set(sequence, id)
    }
    return found
  }

  #rowOf(id: MemoryId): CachedRow | null {
    return this.#slots[this.#slotOf.get(id) ?? -1] ?? null
  }

  #read(condition: string, values: readonly (string | number)[]): readonly SqlRow[] {
    return this.#database.selectPacked(
      {
        columns: RESIDENT_SELECTION,
        from: `FROM memory JOIN place ON place.number = memory.place_number
          WHERE memory.owner_number = ? AND ${condition}`,
      },
      [this.#ownerNumber, ...values],
    )
  }

  #add(row: CachedRow): void {
    this.#remove(row.id) // it may have been written during the load
    const slot = this.#slots.push(row) - 1
    this.#slotOf.set(row.id, slot)
    this.#createdAt[slot] = row.memory.createdAt
    const at = placeIn(this.#ids, row.id)
    this.#ids.splice(at, 0, row.id)
    this.#idSlots.splice(at, 0, slot)
    this.#postings.add(slot, row.terms, row.length)
    const { course } = row
    if (course === null) return
    const keys = this.#courses.get(course) ?? []
    keys.splice(placeIn(keys, row.courseKey), 0, row.courseKey)
    this.#courses.set(course, keys)
  }

  #remove(id: MemoryId): void {
    const slot = this.#slotOf.get(id)
    const row = this.#rowOf(id)
    if (slot === undefined || row === null) return
    this.#slotOf.delete(id)
    this.#slots[slot] = null
    const at = placeIn(this.#ids, id)
    this.#ids.splice(at, 1)
    this.#idSlots.splice(at, 1)
    this.#postings.remove(slot, row.length)
    const keys = this.#courses.get(row.course ?? '')
    keys?.splice(placeIn(keys, row.courseKey), 1)
    for (const sequences of this.#spaces.values()) forgetSequence(sequences, row)
  }

  /** Most writes, such as use counts, leave the terms as they are. */
  #replace(row: CachedRow): void {
    const slot = this.#slotOf.get(row.id)
    const before = this.#rowOf(row.id)
    if (slot === undefined || before === null || !before.isWordedAs(row)) {
      this.#add(row)
      return
    }
    this.#slots[slot] = row
    this.#createdAt[slot] = row.memory.createdAt
    for (const sequences of this.#spaces.values()) forgetSequence(sequences, before)
  }

  #sequencesIn(space: number): Sequences {
    const known = this.#spaces.get(space)
    if (known !== undefined) return known
    const sequences: Sequences = { rows: new Map(), byNumber: new Map() }
    this.#readSequences(space, sequences, null)
    this.#spaces.set(space, sequences)
    return sequences
  }

  /** `of`: null for all rows. */
  #readSequences(space: number, into: Sequences, of: readonly CachedRow[] | null): void {
    const byNumber = new Map<number, CachedRow>()
    for (const row of of ?? this.#slots) if (row !== null) byNumber.set(row.number, row)
    const [among, values] =
      of === null
        ? ['owner_number = ?', [this.#ownerNumber]]
        : [
            'memory IN (SELECT value FROM json_each(?)) AND owner_number = ?',
            [JSON.stringify([...byNumber.keys()]), this.#ownerNumber],
          ]
    const [read] = this.#database.all(
      `SELECT json_group_array(sequence) AS sequences, json_group_array(memory) AS numbers
       FROM vector WHERE space = ? AND ${among}`,
      [space, ...values],
    )
    const sequences: readonly number[] = JSON.parse(String(read?.sequences))
    const numbers: readonly number[] = JSON.parse(String(read?.numbers))
    for (const [index, sequence] of sequences.entries()) {
      const row = byNumber.get(numbers[index] ?? 0)
      if (row === undefined) continue
      into.rows.set(sequence, row)
      into.byNumber.set(row.number, sequence)
    }
  }
}

function isMemory({ id }: SqlRow): boolean {
  return !isTurnId(String(id) as MemoryId) // the column holds nothing else
}

const RESIDENT_SELECTION = {
  ...MEMORY_SELECTION,
  number: 'memory.number',
  terms: 'memory.terms',
  terms_count: 'memory.terms_count',
}

function forgetSequence({ rows, byNumber }: Sequences, { number }: CachedRow): void {
  const sequence = byNumber.get(number)
  if (sequence === undefined) return
  rows.delete(sequence)
  byNumber.delete(number)
}

const POSITION_DIGITS = 17

/** Pads a non-negative integer, so that texts sort like numbers. */
function sortable(position: number): string {
  return String(position).padStart(POSITION_DIGITS, '0')
}

function idOfKey(key: string): MemoryId {
  return key.slice(key.indexOf(' ') + 1) as MemoryId // ids hold no spaces
}

/** The index of a text in a sorted list, or where it would be inserted. */
function placeIn(sorted: readonly string[], text: string): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (compareText(sorted[middle] ?? '', text) < 0) from = middle + 1
    else to = middle
  }
  return from
}

/** Iterates positions by descending score. */
class TopCandidates {
  readonly #scores: Float64Array
  readonly #ranking: BucketQueue
  readonly #highest: number
  #open: readonly number[] = []
  #taken = 0
  /** The lowest score taken so far, in single precision. */
  #last = Number.NEGATIVE_INFINITY

  constructor(scores: Float64Array) {
    this.#scores = scores
    this.#highest = scores.reduce((most, score) => Math.max(most, score), 0)
    this.#ranking = new BucketQueue(scores.length)
    const shares = new Float32Array(scores.length)
    for (let at = 0; at < scores.length; at++) shares[at] = this.#shareOf(at)
    this.#ranking.pushAll(shares)
  }

  /** Whether another position is wanted, or could tie with the last one taken. */
  isWorthMore(wanted: number): boolean {
    if (this.#highest === 0) return false
    if (this.#taken < this.#open.length) {
      if (wanted > 0) return true
      return this.#shareOf(this.#open[this.#taken] ?? 0) >= this.#last
    }
    const { maxRemaining: bound } = this.#ranking
    // Rounding never reverses two scores, but may make them equal.
    if (bound === null || (wanted <= 0 && bound < this.#last)) return false
    this.#open = this.#ranking.popMany(wanted > 0 ? HITS_PER_STEP : 1)
    this.#taken = 0
    return true
  }

  next(): number {
    const position = this.#open[this.#taken++] ?? 0
    this.#last = this.#shareOf(position)
    return position
  }

  #shareOf(position: number): number {
    return Math.fround((this.#scores[position] ?? 0) / this.#highest)
  }
}
