/**
 * Lexical search on an FTS5 index of search terms (`text/search/terms.ts`), over memories and turns.
 *
 * FTS5 only answers which rows hold a term: its own BM25 reads the length of every match, which costs ten times as much
 * as finding it, and drops to zero for terms that most rows hold. Instead, matches are grouped by the query terms they
 * share, the best groups are read first, and their candidates are scored exactly (`text/search/bm25.ts`).
 *
 * The index holds tokens for owner and user beside the terms, separately for memories and turns, so that the cost of a
 * search grows with the owner's documents of the requested kinds, not with the store.
 */
import { TEXT_HITS_MAX } from '../../../domain/limits.ts'
import type { Scope } from '../../../domain/scope.ts'
import { DOCUMENT_KINDS, type DocumentKind } from '../../../domain/search-document.ts'
import { TimeSlice } from '../../../lib/event-loop.ts'
import {
  type CorpusStatistics,
  computeIdf,
  type LexicalScore,
  scoreTermCounts,
} from '../../../text/search/bm25.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow } from '../connection/sqlite-driver.ts'
import { quoteFtsTerm, STORE_TOKEN, toOwnerToken, toPlaceToken } from '../store/row-codec.ts'
import { joinConditions, type SqlCondition, toScopeConditions } from '../store/sql-filters.ts'

/** Candidates read in one statement. */
const ROWS_PER_READ = 256

/**
 * An owner with more rows is large. There, the most common terms of a query contribute no candidates of their own; they
 * still count in the scores of candidates that a rarer term has found.
 */
const LARGE_OWNER_ROWS = 8_000

/** An owner with fewer but longer rows, such as chunks of files, is large as well. */
const LARGE_OWNER_TERMS = 800_000

/** Up to so many rows of a session, or named by id, are read without consulting the index. */
const FEW_ROWS_MAX = 1_000

/** Rows with more terms, such as chunks of files, take long to read, and fewer of them are scored. */
const LONG_TERMS = 100

/** For a large owner with more than this share of the store, the owner token is omitted: nearly every row holds it. */
const MAIN_SHARE = 0.5

/** Candidates of a large owner that are scored. Constant for usual limits, so that the best hits do not depend on the limit. */
const CANDIDATES = 400

/** Adds a row to the index. An existing entry must be removed first. */
export function indexDocument(database: SqliteDatabase, number: number, entry: string): void {
  database.run('INSERT INTO memory_terms (rowid, terms) VALUES (?, ?)', [number, entry])
}

/** Removes a row from the index. `entry` must be exactly what was added. */
export function unindexDocument(database: SqliteDatabase, number: number, entry: string): void {
  database.run(`INSERT INTO memory_terms (memory_terms, rowid, terms) VALUES ('delete', ?, ?)`, [
    number,
    entry,
  ])
}

export type LexicalQuery = {
  /** As `extractQueryTerms` returns them. */
  readonly terms: readonly string[]
  readonly limit: number
  readonly filters: readonly SqlCondition[]
  /** The kinds of documents that the filters allow. */
  readonly kinds: readonly DocumentKind[]
  /** Columns to read of each candidate, besides those that scoring needs. */
  readonly columns: Readonly<Record<string, string>>
  /** Whether few rows can match, so that in a large owner reading all of them pays. */
  readonly isNarrow: boolean
}

export type LexicalCandidate = LexicalScore & {
  readonly row: SqlRow
  readonly counts: readonly number[]
  readonly length: number
}

export type LexicalMatches = {
  readonly terms: readonly { readonly text: string; readonly rarity: number }[]
  readonly averageLength: number
  /** Rows that hold any term, unordered. */
  readonly candidates: readonly LexicalCandidate[]
}

const NO_MATCHES: LexicalMatches = { terms: [], averageLength: 0, candidates: [] }

/**
 * Yields to the event loop between its steps. Rows that are removed meanwhile are not found; reworded rows are scored by
 * their text at the time they are read.
 */
export async function searchTerms(
  database: SqliteDatabase,
  scope: Scope,
  query: LexicalQuery,
): Promise<LexicalMatches> {
  const { terms, kinds, limit } = query
  const ownerNumber = database.findOwnerNumber(scope)
  if (terms.length === 0 || ownerNumber === null || limit <= 0 || kinds.length === 0)
    return NO_MATCHES

  const size = readOwnerSize(database, ownerNumber)
  const isLarge = size.documents > LARGE_OWNER_ROWS || size.terms > LARGE_OWNER_TERMS
  const where = joinConditions([
    ...toScopeConditions('memory', scope, database, query.filters),
    ...query.filters,
  ])
  const reader: CandidateReader = { where, columns: query.columns, timeSlice: new TimeSlice() }
  const matching = isLarge && query.isNarrow ? readAllMatching(database, reader) : null
  const { known, rows } =
    matching === null
      ? await findCandidates(database, scope, reader, {
          ownerNumber,
          size,
          isLarge,
          terms,
          kinds,
          limit,
        })
      : { known: countUnmatchedTerms(database, terms), rows: matching }
  const rarities = terms.map((term) =>
    computeIdf(Math.min(size.documents, known.frequency(term)), size.documents),
  )
  return {
    terms: terms.map((text, position) => ({ text, rarity: rarities[position] ?? 0 })),
    averageLength: size.averageLength,
    candidates: rows
      .map((row) => toCandidate(row, terms, rarities, size.averageLength, known))
      .filter(({ score }) => score > 0), // a new row may have taken the number of one that was removed meanwhile
  }
}

export function clampHitLimit(limit: number): number {
  return Math.min(limit, TEXT_HITS_MAX)
}

type CandidateReader = {
  readonly where: SqlCondition
  readonly columns: Readonly<Record<string, string>>
  readonly timeSlice: TimeSlice
}

type SearchParameters = {
  readonly ownerNumber: number
  readonly size: OwnerSize
  readonly isLarge: boolean
  readonly terms: readonly string[]
  readonly kinds: readonly DocumentKind[]
  readonly limit: number
}

async function findCandidates(
  database: SqliteDatabase,
  scope: Scope,
  reader: CandidateReader,
  { ownerNumber, size, isLarge, terms, kinds, limit }: SearchParameters,
): Promise<{ readonly known: TermStatistics; readonly rows: readonly SqlRow[] }> {
  const { timeSlice } = reader
  // In a small owner rows of all kinds are matched, because that counts the document frequencies.
  const tokens = isLarge
    ? getSelectiveTokens(database, scope, ownerNumber, kinds)
    : DOCUMENT_KINDS.map((kind) => toOwnerToken(kind, ownerNumber))
  const scopeSize = readCorpusSize(database, getScopeTokens(database, scope, ownerNumber, kinds))
  const candidatesMin = size.averageLength > LONG_TERMS ? ROWS_PER_READ : CANDIDATES
  const rowsMin = isLarge ? Math.max(limit, candidatesMin) : Number.POSITIVE_INFINITY
  const findAndRead = async (isSelective: boolean) => {
    const options = { ...size, isLarge, isSelective, timeSlice }
    const found = await findRows(database, tokens, terms, options)
    return { known: found, rows: await readRows(database, reader, found.bestFirst(), rowsMin) }
  }
  const result = await findAndRead(scopeSize.documents > LARGE_OWNER_ROWS)
  // Too few candidates: then common terms must contribute some as well.
  return result.rows.length < limit && result.known.isSelective ? findAndRead(false) : result
}

function toCandidate(
  row: SqlRow,
  terms: readonly string[],
  rarities: readonly number[],
  averageLength: number,
  known: TermStatistics,
): LexicalCandidate {
  const text = ` ${row.terms} `
  const mayContain = known.holding(Number(row.number))
  const counts = terms.map((term, position) => (mayContain(position) ? countTerm(term, text) : 0))
  return scoreLexicalCandidate(row, counts, Number(row.terms_count), rarities, averageLength)
}

/** Scores a row from its term frequencies. A plain loop: a query runs it over hundreds of rows. */
export function scoreLexicalCandidate(
  row: SqlRow,
  counts: readonly number[],
  length: number,
  rarities: readonly number[],
  averageLength: number,
): LexicalCandidate {
  let total = 0
  let covered = 0
  for (let position = 0; position < rarities.length; position++) {
    const rarity = rarities[position] ?? 0
    total += rarity
    if (counts[position] !== 0) covered += rarity
  }
  return {
    row,
    score: scoreTermCounts(counts, rarities, averageLength > 0 ? length / averageLength : 1),
    coverage: total > 0 ? Math.min(1, covered / total) : 0,
    counts,
    length,
  }
}

type OwnerSize = Pick<CorpusStatistics, 'documents' | 'averageLength'> & { readonly terms: number }

/** Sums the corpus statistics of tokens. */
function readCorpusSize(database: SqliteDatabase, tokens: readonly string[]): OwnerSize {
  let [documents, terms] = [0, 0]
  for (const token of tokens) {
    const [row] = database.all('SELECT memories, terms FROM corpus WHERE token = ?', [token])
    documents += Number(row?.memories ?? 0)
    terms += Number(row?.terms ?? 0)
  }
  return { documents, terms, averageLength: documents === 0 ? 0 : terms / documents }
}

/** The corpus statistics of an owner, memories and turns. */
export function readOwnerSize(database: SqliteDatabase, ownerNumber: number): OwnerSize {
  return readCorpusSize(
    database,
    DOCUMENT_KINDS.map((kind) => toOwnerToken(kind, ownerNumber)),
  )
}

function readStoreSize(database: SqliteDatabase): OwnerSize {
  return readCorpusSize(
    database,
    DOCUMENT_KINDS.map((kind) => STORE_TOKEN[kind]),
  )
}

/** The narrowest tokens that cover a scope. */
function getScopeTokens(
  database: SqliteDatabase,
  scope: Scope,
  ownerNumber: number,
  kinds: readonly DocumentKind[],
): readonly string[] {
  return kinds.map((kind) =>
    scope.user === undefined
      ? toOwnerToken(kind, ownerNumber)
      : toPlaceToken(kind, database.findPlaceNumber(scope) ?? 0),
  )
}

/** The same; none where nearly every row of the store holds one of them. */
function getSelectiveTokens(
  database: SqliteDatabase,
  scope: Scope,
  ownerNumber: number,
  kinds: readonly DocumentKind[],
): readonly string[] {
  const tokens = getScopeTokens(database, scope, ownerNumber, kinds)
  if (scope.user !== undefined) return tokens
  const isMain =
    readCorpusSize(database, tokens).documents > readStoreSize(database).documents * MAIN_SHARE
  return isMain ? [] : tokens
}

const SPACE = 0x20

/** Counts a term in a text of terms with a space around each. */
export function countTerm(term: string, text: string): number {
  // Without the leading space, which would match at every term.
  const pattern = `${term} `
  let times = 0
  for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + pattern.length)) {
    if (text.charCodeAt(at - 1) === SPACE) times++
  }
  return times
}

/** Statistics of the query terms, before rows are read. */
type TermStatistics = {
  /** For a row: whether it may hold the term at a position, as far as the index was consulted. */
  holding(number: number): (position: number) => boolean
  /** The document frequency of a term. */
  frequency(term: string): number
}

type CandidateRows = TermStatistics & {
  /** Whether common terms contributed no candidates. */
  readonly isSelective: boolean
  /** Row numbers, most promising first. */
  bestFirst(): Iterable<number>
}

async function findRows(
  database: SqliteDatabase,
  tokens: readonly string[],
  terms: readonly string[],
  options: {
    readonly documents: number
    readonly isLarge: boolean
    readonly isSelective: boolean
    readonly timeSlice: TimeSlice
  },
): Promise<CandidateRows> {
  const { documents, isLarge, timeSlice } = options
  const frequencies = new Map<string, number>()
  if (isLarge) {
    const stored = readStoreSize(database).documents
    for (const term of terms) {
      frequencies.set(term, frequencyInStore(database, term, stored))
    }
  }
  const indexedTerms = options.isSelective ? selectRarestTerms(terms, frequencies) : terms
  // The matched terms of each row, one bit each.
  const termBits = new Map<number, number>()
  for (const [position, term] of indexedTerms.entries()) {
    const numbers = findMatchingRows(database, tokens, term)
    if (!isLarge) frequencies.set(term, numbers.length)
    const bit = 1 << position
    for (const number of numbers) termBits.set(number, (termBits.get(number) ?? 0) | bit)
    if (timeSlice.isExpired) await timeSlice.yieldThread()
  }
  const frequency = (term: string) => frequencies.get(term) ?? 0
  const rarities = indexedTerms.map((term) => computeIdf(frequency(term), documents))
  const bits = terms.map((term) =>
    indexedTerms.includes(term) ? 1 << indexedTerms.indexOf(term) : 0,
  )
  return {
    isSelective: indexedTerms.length < terms.length,
    bestFirst: () => bestFirst(termBits, rarities),
    holding: (number) => {
      const known = termBits.get(number) ?? 0
      return (position) => bits[position] === 0 || (known & (bits[position] ?? 0)) !== 0
    },
    frequency,
  }
}

/** Statistics for rows that were not found by their terms: each may hold all of them. */
function countUnmatchedTerms(database: SqliteDatabase, terms: readonly string[]): TermStatistics {
  const stored = readStoreSize(database).documents
  const frequencies = new Map(terms.map((term) => [term, frequencyInStore(database, term, stored)]))
  return { holding: () => () => true, frequency: (term) => frequencies.get(term) ?? 0 }
}

/** Rows that hold the same query terms rank equal until they are read; newer ones go first. */
function* bestFirst(
  termBits: ReadonlyMap<number, number>,
  rarities: readonly number[],
): Generator<number> {
  const groups = new Map<number, number[]>()
  for (const [number, bits] of termBits) {
    const group = groups.get(bits)
    if (group === undefined) groups.set(bits, [number])
    else group.push(number)
  }
  const worth = (bits: number) =>
    rarities.reduce((sum, rarity, position) => ((bits >> position) & 1 ? sum + rarity : sum), 0)
  const ranked = [...groups].sort(([a], [b]) => worth(b) - worth(a))
  for (const [, numbers] of ranked) yield* numbers.sort((a, b) => b - a)
}

function selectColumns({ columns }: CandidateReader): Readonly<Record<string, string>> {
  return {
    ...columns,
    number: 'memory.number',
    terms: 'memory.terms',
    terms_count: 'memory.terms_count',
  }
}

/** All matching rows; null when there are too many. */
function readAllMatching(
  database: SqliteDatabase,
  reader: CandidateReader,
): readonly SqlRow[] | null {
  const { where } = reader
  const rows = database.selectPacked(
    {
      columns: selectColumns(reader),
      from: `FROM memory WHERE ${where.sql} LIMIT ${FEW_ROWS_MAX + 1}`,
    },
    where.values,
  )
  return rows.length > FEW_ROWS_MAX ? null : rows
}

/** Reads rows in order until enough of them match the filters. */
async function readRows(
  database: SqliteDatabase,
  reader: CandidateReader,
  numbers: Iterable<number>,
  rowsMin: number,
): Promise<readonly SqlRow[]> {
  const { where, timeSlice } = reader
  const columns = selectColumns(reader)
  const rows: SqlRow[] = []
  const read = (batch: readonly number[]) =>
    rows.push(
      ...database.selectPacked(
        {
          columns,
          from: `FROM json_each(?) AS candidate
            CROSS JOIN memory ON memory.number = candidate.value
            WHERE ${where.sql}`,
        },
        [JSON.stringify(batch), ...where.values],
      ),
    )
  let batch: number[] = []
  for (const number of numbers) {
    batch.push(number)
    if (batch.length < Math.min(ROWS_PER_READ, rowsMin)) continue
    read(batch)
    if (rows.length >= rowsMin) return rows
    if (timeSlice.isExpired) await timeSlice.yieldThread()
    batch = []
  }
  read(batch)
  return rows
}

/** The rarest terms that together match a bearable number of rows; at least one. */
function selectRarestTerms(
  terms: readonly string[],
  frequencies: ReadonlyMap<string, number>,
): readonly string[] {
  const frequency = (term: string) => frequencies.get(term) ?? 0
  const rarestFirst = terms
    .filter((term) => frequency(term) > 0)
    .sort((a, b) => frequency(a) - frequency(b))
  let rows = 0
  const common = rarestFirst.findIndex((term, index) => {
    rows += frequency(term)
    return index > 0 && rows > LARGE_OWNER_ROWS
  })
  return common === -1 ? rarestFirst : rarestFirst.slice(0, common)
}

/**
 * Counting the rows of a common term takes a millisecond, and a few more rows hardly change its IDF. So the count is
 * cached until the store has grown or shrunk by a hundredth.
 */
const COMMON_ROWS_MIN = 4_000
const STALE_SHARE = 0.01

type TermFrequency = { readonly rows: number; readonly documents: number }
const commonTerms = new WeakMap<SqliteDatabase, Map<string, TermFrequency>>()

/** `documents`: the rows of the whole store. */
function frequencyInStore(database: SqliteDatabase, term: string, documents: number): number {
  const known = commonTerms.get(database)?.get(term)
  if (known !== undefined) {
    const change = Math.abs(documents - known.documents)
    if (change <= documents * STALE_SHARE) return known.rows
  }
  const [row] = database.all('SELECT doc FROM memory_vocabulary WHERE term = ?', [term])
  const rows = Number(row?.doc ?? 0)
  if (rows >= COMMON_ROWS_MIN) {
    const terms = commonTerms.get(database) ?? new Map<string, TermFrequency>()
    commonTerms.set(database, terms.set(term, { rows, documents }))
  }
  return rows
}

/** Reads one JSON text instead of one object per row: thousands of rows take a millisecond, not ten. */
function findMatchingRows(
  database: SqliteDatabase,
  tokens: readonly string[],
  term: string,
): readonly number[] {
  const anyToken = tokens.map(quoteFtsTerm).join(' OR ')
  const [row] = database.all(
    'SELECT json_group_array(rowid) AS numbers FROM memory_terms WHERE memory_terms MATCH ?',
    [tokens.length === 0 ? quoteFtsTerm(term) : `(${anyToken}) AND ${quoteFtsTerm(term)}`],
  )
  return JSON.parse(String(row?.numbers))
}
