/**
 * Keyword search on an FTS5 index of our own terms (`core/terms.ts`), of memories and turns together.
 *
 * FTS5 only answers "which rows hold this term": its own ranking looks up the length of every row it meets, which
 * costs ten times as much as finding them, and falls to zero for words that most rows hold. So the rows are
 * grouped by the terms they share with the query, the best groups are read first, and as many candidates as are
 * worth it get their exact score from `core/bm25.ts`.
 *
 * The index holds tokens for owner and user beside the terms, those of memories and of turns apart, so the cost of a
 * search grows with what the owner has of the kinds that are asked for, not with what the store holds.
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

/** Rows read at once at most while looking for candidates that pass the filters. */
const ROWS_PER_READ = 256

/**
 * An owner with more rows than this is large. There, the most common words of a query find no rows of their
 * own; they still count in the score of rows that a rarer word has found.
 */
const LARGE_OWNER_ROWS = 8_000

/** So is one with fewer rows that are long, as pieces of documents are: it takes as long to read all that hold a word. */
const LARGE_OWNER_TERMS = 800_000

/** Up to this many rows of a conversation, or named by their ids, are read without asking the index which to read. */
const FEW_ROWS_MAX = 1_000

/** Rows of more terms than this take long to read, and fewer of them are scored: those of documents, mostly. */
const LONG_TERMS = 100

/** A large owner with more than this share of the store is not looked up by token: nearly every row holds it. */
const MAIN_SHARE = 0.5

/** Candidates of a large owner that are scored. Constant for ordinary limits, so that the best hit never depends on the limit. */
const CANDIDATES = 400

/** Enters a row into the index. An entry that is there already must be taken out first. */
export function indexDocument(database: SqliteDatabase, number: number, entry: string): void {
  database.run('INSERT INTO memory_terms (rowid, terms) VALUES (?, ?)', [number, entry])
}

/** Takes a row out of the index, which must be told exactly what was entered. */
export function unindexDocument(database: SqliteDatabase, number: number, entry: string): void {
  database.run(`INSERT INTO memory_terms (memory_terms, rowid, terms) VALUES ('delete', ?, ?)`, [
    number,
    entry,
  ])
}

export type LexicalQuery = {
  /** Of the text that is looked for, as `queryTerms` makes them. */
  readonly terms: readonly string[]
  readonly limit: number
  readonly filters: readonly SqlCondition[]
  /** Which of them the filters let pass. */
  readonly kinds: readonly DocumentKind[]
  /** Columns to read of each candidate, beside those that its score is made of. */
  readonly columns: Readonly<Record<string, string>>
  /** Whether so few rows can pass, found by an index, that in a large owner all of them are worth reading. */
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
  /** Rows that hold a term, in no order. */
  readonly candidates: readonly LexicalCandidate[]
}

const NOTHING: LexicalMatches = { terms: [], averageLength: 0, candidates: [] }

/**
 * Gives way to other work between its steps. What is removed meanwhile is not found, and what is reworded counts with the
 * words that it has when it is read.
 */
export async function searchTerms(
  database: SqliteDatabase,
  scope: Scope,
  query: LexicalQuery,
): Promise<LexicalMatches> {
  const { terms, kinds, limit } = query
  const ownerNumber = database.findOwnerNumber(scope)
  if (terms.length === 0 || ownerNumber === null || limit <= 0 || kinds.length === 0) return NOTHING

  const size = readOwnerSize(database, ownerNumber)
  const isLarge = size.documents > LARGE_OWNER_ROWS || size.terms > LARGE_OWNER_TERMS
  const where = joinConditions([
    ...toScopeConditions('memory', scope, database, query.filters),
    ...query.filters,
  ])
  const reading: CandidateReader = { where, columns: query.columns, breather: new TimeSlice() }
  const few = isLarge && query.isNarrow ? readAllPermitted(database, reading) : null
  const { known, rows } =
    few === null
      ? await findCandidates(database, scope, reading, {
          ownerNumber,
          size,
          isLarge,
          terms,
          kinds,
          limit,
        })
      : { known: countUnmatchedTerms(database, terms), rows: few }
  const rarities = terms.map((term) =>
    computeIdf(Math.min(size.documents, known.frequency(term)), size.documents),
  )
  return {
    terms: terms.map((text, position) => ({ text, rarity: rarities[position] ?? 0 })),
    averageLength: size.averageLength,
    candidates: rows
      .map((row) => toCandidate(row, terms, rarities, size.averageLength, known))
      .filter(({ score }) => score > 0), // a new row may have got the number of one that was removed meanwhile
  }
}

/** How many of the best are to be returned. */
export function clampHitLimit(limit: number): number {
  return Math.min(limit, TEXT_HITS_MAX)
}

type CandidateReader = {
  readonly where: SqlCondition
  readonly columns: Readonly<Record<string, string>>
  readonly breather: TimeSlice
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
  reading: CandidateReader,
  { ownerNumber, size, isLarge, terms, kinds, limit }: SearchParameters,
): Promise<{ readonly known: TermStatistics; readonly rows: readonly SqlRow[] }> {
  const { breather } = reading
  // In a small owner rows of all kinds are looked up, because how many hold a term is counted by that.
  const tokens = isLarge
    ? tokensInLargeOwner(database, scope, ownerNumber, kinds)
    : DOCUMENT_KINDS.map((kind) => toOwnerToken(kind, ownerNumber))
  const searched = sizeOf(database, tokensOf(database, scope, ownerNumber, kinds))
  const worthwhile = size.averageLength > LONG_TERMS ? ROWS_PER_READ : CANDIDATES
  const enough = isLarge ? Math.max(limit, worthwhile) : Number.POSITIVE_INFINITY
  const lookFor = async (isSelective: boolean) => {
    const options = { ...size, isLarge, isSelective, breather }
    const found = await findRows(database, tokens, terms, options)
    return { known: found, rows: await readRows(database, reading, found.bestFirst(), enough) }
  }
  const looked = await lookFor(searched.documents > LARGE_OWNER_ROWS)
  // Too few: then the common words must find rows as well.
  return looked.rows.length < limit && looked.known.isSelective ? lookFor(false) : looked
}

function toCandidate(
  row: SqlRow,
  terms: readonly string[],
  rarities: readonly number[],
  averageLength: number,
  known: TermStatistics,
): LexicalCandidate {
  const text = ` ${row.terms} `
  const mayHold = known.holding(Number(row.number))
  const counts = terms.map((term, position) => (mayHold(position) ? countTerm(term, text) : 0))
  return scoreLexicalCandidate(row, counts, Number(row.terms_count), rarities, averageLength)
}

/** What a row is worth in which the terms occur so often. A plain loop: a question runs it over hundreds of rows. */
export function scoreLexicalCandidate(
  row: SqlRow,
  counts: readonly number[],
  length: number,
  rarities: readonly number[],
  averageLength: number,
): LexicalCandidate {
  let asked = 0
  let covered = 0
  for (let position = 0; position < rarities.length; position++) {
    const rarity = rarities[position] ?? 0
    asked += rarity
    if (counts[position] !== 0) covered += rarity
  }
  return {
    row,
    score: scoreTermCounts(counts, rarities, averageLength > 0 ? length / averageLength : 1),
    coverage: asked > 0 ? Math.min(1, covered / asked) : 0,
    counts,
    length,
  }
}

type OwnerSize = Pick<CorpusStatistics, 'documents' | 'averageLength'> & { readonly terms: number }

/** Of all documents under these tokens together. */
function sizeOf(database: SqliteDatabase, tokens: readonly string[]): OwnerSize {
  let [documents, terms] = [0, 0]
  for (const token of tokens) {
    const [row] = database.all('SELECT memories, terms FROM corpus WHERE token = ?', [token])
    documents += Number(row?.memories ?? 0)
    terms += Number(row?.terms ?? 0)
  }
  return { documents, terms, averageLength: documents === 0 ? 0 : terms / documents }
}

/** Of memories and turns. */
export function readOwnerSize(database: SqliteDatabase, ownerNumber: number): OwnerSize {
  return sizeOf(
    database,
    DOCUMENT_KINDS.map((kind) => toOwnerToken(kind, ownerNumber)),
  )
}

function sizeOfStore(database: SqliteDatabase): OwnerSize {
  return sizeOf(
    database,
    DOCUMENT_KINDS.map((kind) => STORE_TOKEN[kind]),
  )
}

/** The tokens of what a scope covers, as far as a token tells. */
function tokensOf(
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

/** None where nearly every row of the store holds one of them: then they are not worth looking up. */
function tokensInLargeOwner(
  database: SqliteDatabase,
  scope: Scope,
  ownerNumber: number,
  kinds: readonly DocumentKind[],
): readonly string[] {
  const tokens = tokensOf(database, scope, ownerNumber, kinds)
  if (scope.user !== undefined) return tokens
  const isMain = sizeOf(database, tokens).documents > sizeOfStore(database).documents * MAIN_SHARE
  return isMain ? [] : tokens
}

const SPACE = 0x20

/** How often a term stands in a text of terms with a space around each. A term holds no space itself. */
export function countTerm(term: string, text: string): number {
  // Not with the space before it: that would be compared at every word.
  const sought = `${term} `
  let times = 0
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + sought.length)) {
    if (text.charCodeAt(at - 1) === SPACE) times++
  }
  return times
}

/** What is known of the terms before rows are read. */
type TermStatistics = {
  /** For a row: tells of the term at a position whether it may hold it, as far as the index was asked. */
  holding(number: number): (position: number) => boolean
  /** How many rows hold a term. */
  frequency(term: string): number
}

type CandidateRows = TermStatistics & {
  /** Whether common terms were left out of it. */
  readonly isSelective: boolean
  /** Numbers of rows, in the order in which they are worth reading. */
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
    readonly breather: TimeSlice
  },
): Promise<CandidateRows> {
  const { documents, isLarge, breather } = options
  const frequencies = new Map<string, number>()
  if (isLarge) {
    const stored = sizeOfStore(database).documents
    for (const term of terms) {
      frequencies.set(term, frequencyInStore(database, term, stored))
    }
  }
  const sought = options.isSelective ? isSelectiveTerm(terms, frequencies) : terms
  // Which of the sought terms a row holds, one bit each.
  const held = new Map<number, number>()
  for (const [position, term] of sought.entries()) {
    const numbers = rowsHolding(database, tokens, term)
    if (!isLarge) frequencies.set(term, numbers.length)
    const bit = 1 << position
    for (const number of numbers) held.set(number, (held.get(number) ?? 0) | bit)
    if (breather.isExpired) await breather.yieldThread()
  }
  const frequency = (term: string) => frequencies.get(term) ?? 0
  const rarities = sought.map((term) => computeIdf(frequency(term), documents))
  const bits = terms.map((term) => (sought.includes(term) ? 1 << sought.indexOf(term) : 0))
  return {
    isSelective: sought.length < terms.length,
    bestFirst: () => bestFirst(held, rarities),
    holding: (number) => {
      const known = held.get(number) ?? 0
      return (position) => bits[position] === 0 || (known & (bits[position] ?? 0)) !== 0
    },
    frequency,
  }
}

/** For rows that were not found by their terms, so that each may hold all of them. */
function countUnmatchedTerms(database: SqliteDatabase, terms: readonly string[]): TermStatistics {
  const stored = sizeOfStore(database).documents
  const frequencies = new Map(terms.map((term) => [term, frequencyInStore(database, term, stored)]))
  return { holding: () => () => true, frequency: (term) => frequencies.get(term) ?? 0 }
}

/** Rows that hold the same terms of the query are worth the same until they are read; newer ones go first. */
function* bestFirst(
  held: ReadonlyMap<number, number>,
  rarities: readonly number[],
): Generator<number> {
  const groups = new Map<number, number[]>()
  for (const [number, bits] of held) {
    const group = groups.get(bits)
    if (group === undefined) groups.set(bits, [number])
    else group.push(number)
  }
  const worth = (bits: number) =>
    rarities.reduce((sum, rarity, position) => ((bits >> position) & 1 ? sum + rarity : sum), 0)
  const ranked = [...groups].sort(([a], [b]) => worth(b) - worth(a))
  for (const [, numbers] of ranked) yield* numbers.sort((a, b) => b - a)
}

function selected({ columns }: CandidateReader): Readonly<Record<string, string>> {
  return {
    ...columns,
    number: 'memory.number',
    terms: 'memory.terms',
    terms_count: 'memory.terms_count',
  }
}

/** All rows that pass the filters; null when they are too many. */
function readAllPermitted(
  database: SqliteDatabase,
  reading: CandidateReader,
): readonly SqlRow[] | null {
  const { where } = reading
  const rows = database.selectPacked(
    {
      columns: selected(reading),
      from: `FROM memory WHERE ${where.sql} LIMIT ${FEW_ROWS_MAX + 1}`,
    },
    where.values,
  )
  return rows.length > FEW_ROWS_MAX ? null : rows
}

/** Reads rows in the given order until enough of them pass the filters. */
async function readRows(
  database: SqliteDatabase,
  reading: CandidateReader,
  numbers: Iterable<number>,
  enough: number,
): Promise<readonly SqlRow[]> {
  const { where, breather } = reading
  const columns = selected(reading)
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
    if (batch.length < Math.min(ROWS_PER_READ, enough)) continue
    read(batch)
    if (rows.length >= enough) return rows
    if (breather.isExpired) await breather.yieldThread()
    batch = []
  }
  read(batch)
  return rows
}

/** The rarest terms, as many as find a bearable number of rows, and always one. */
function isSelectiveTerm(
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
 * Counting the rows that hold a common word takes a millisecond, and a few more of them hardly change how much the word
 * tells. So it is counted again only after the store has grown or shrunk by a hundredth.
 */
const COMMON_ROWS_MIN = 4_000
const OUTDATED_SHARE = 0.01

type TermFrequency = { readonly rows: number; readonly documents: number }
const commonTerms = new WeakMap<SqliteDatabase, Map<string, TermFrequency>>()

/** `documents`: how many rows the store holds. */
function frequencyInStore(database: SqliteDatabase, term: string, documents: number): number {
  const known = commonTerms.get(database)?.get(term)
  if (known !== undefined) {
    const change = Math.abs(documents - known.documents)
    if (change <= documents * OUTDATED_SHARE) return known.rows
  }
  const [row] = database.all('SELECT doc FROM memory_vocabulary WHERE term = ?', [term])
  const rows = Number(row?.doc ?? 0)
  if (rows >= COMMON_ROWS_MIN) {
    const terms = commonTerms.get(database) ?? new Map<string, TermFrequency>()
    commonTerms.set(database, terms.set(term, { rows, documents }))
  }
  return rows
}

/** One JSON text instead of a row object per number: thousands of them cost a millisecond, not ten. */
function rowsHolding(
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
