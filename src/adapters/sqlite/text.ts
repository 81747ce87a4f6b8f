/**
 * Keyword search on an FTS5 index of our own terms (`core/terms.ts`).
 *
 * FTS5 only answers "which rows hold this term": its own ranking looks up the length of every row it meets, which
 * costs ten times as much as finding them, and falls to zero for words that most rows hold. So the rows are
 * grouped by the terms they share with the query, the best groups are read first, and as many candidates as are
 * worth it get their exact score from `core/bm25.ts`.
 *
 * The index holds tokens for owner and user beside the terms, so the cost of a search grows with what the owner
 * has, not with what the store holds.
 */
import { type Corpus, inverseDocumentFrequency, scoreCounts } from '../../core/bm25.ts'
import type { MemoryId, Scope, SessionId } from '../../core/ids.ts'
import { TEXT_HITS_MAX } from '../../core/limits.ts'
import { fromStorable } from '../../core/storable-text.ts'
import { queryTerms } from '../../core/terms.ts'
import {
  NO_MATCH,
  type Surroundings,
  type TextHit,
  type TextMatch,
  type TextQuery,
} from '../../ports/store.ts'
import { Breather } from './breather.ts'
import type { SqlRow } from './driver.ts'
import { conjunction, memoryConditions, within } from './filters.ts'
import { type Entry, fingerprintToken, type Home, ownerToken, placeToken, quoted } from './rows.ts'
import type { SqliteSession } from './session.ts'

/** Candidates of a large owner that are scored. Constant for ordinary limits, so that the best hit never depends on the limit. */
const CANDIDATES = 400
/** Rows read at once while looking for candidates that pass the filters. */
const ROWS_PER_READ = 256
/**
 * An owner with more memories than this is large. There, the most common words of a query find no rows of their
 * own; they still count in the score of rows that a rarer word has found.
 */
const LARGE_OWNER_ROWS = 8_000
/** A large owner with more than this share of the store is not looked up by token: nearly every row holds it. */
const MAIN_SHARE = 0.5

/** Counts of all memories stand under this token. */
export const EVERYONE_TOKEN = ''

/** Enters a memory into the index. An entry that is there already must be taken out first. */
export function enter(session: SqliteSession, number: number, home: Home, entry: Entry): void {
  session.run('INSERT INTO memory_terms (rowid, terms) VALUES (?, ?)', [
    number,
    entryText(home, entry),
  ])
}

/** Takes a memory out of the index, which must be told exactly what was entered. */
export function takeOut(session: SqliteSession, number: number, home: Home, entry: Entry): void {
  session.run(`INSERT INTO memory_terms (memory_terms, rowid, terms) VALUES ('delete', ?, ?)`, [
    number,
    entryText(home, entry),
  ])
}

function entryText({ tokens: [owner, place] }: Home, { fingerprint, terms }: Entry): string {
  return `${owner} ${place} ${fingerprintToken(fingerprint)} ${terms}`
}

/**
 * Gives way to other work between its steps. What is removed meanwhile is not found, and what is reworded counts with the
 * words that it has when it is read.
 */
export async function matchText(
  session: SqliteSession,
  scope: Scope,
  query: TextQuery,
): Promise<TextMatch> {
  const terms = queryTerms(query.text)
  const ownerNumber = session.ownerNumber(scope)
  const limit = Math.min(query.limit, TEXT_HITS_MAX)
  if (terms.length === 0 || ownerNumber === null || limit <= 0) return NO_MATCH

  const owner = ownerToken(ownerNumber)
  const size = sizeOf(session, owner)
  const isLarge = size.documents > LARGE_OWNER_ROWS
  const token = isLarge ? tokenInLargeOwner(session, scope, owner, size.documents) : owner
  const searched = scope.user === undefined ? size : sizeOf(session, placeTokenOf(session, scope))
  const filters = memoryConditions(query.where)
  const where = conjunction([...within('memory', scope, session, filters), ...filters])
  const enough = isLarge ? Math.max(limit, CANDIDATES) : Number.POSITIVE_INFINITY
  const breather = new Breather()
  const look = async (isSelective: boolean) => {
    const options = { ...size, isLarge, isSelective, breather }
    const found = await findRows(session, token, terms, options)
    return { found, rows: await readRows(session, found.bestFirst(), where, enough, breather) }
  }
  let { found, rows } = await look(searched.documents > LARGE_OWNER_ROWS)
  // Too few: then the common words must find rows as well.
  if (rows.length < limit && found.isSelective) ({ found, rows } = await look(false))
  const rarities = terms.map((term) =>
    inverseDocumentFrequency(Math.min(size.documents, found.frequency(term)), size.documents),
  )
  const hits = rows
    .map((row) => toHit(row, terms, rarities, size.averageLength, found))
    .filter(({ score }) => score > 0) // a new memory may have got the number of one that was removed meanwhile
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
    .slice(0, limit)
  if (hits.length === 0) return NO_MATCH
  return {
    terms: terms.map((text, position) => ({ text, rarity: rarities[position] ?? 0 })),
    averageLength: size.averageLength,
    hits,
  }
}

function toHit(
  row: SqlRow,
  terms: readonly string[],
  rarities: readonly number[],
  averageLength: number,
  found: Found,
): TextHit {
  const text = ` ${row.terms} `
  const mayHold = found.holding(Number(row.number))
  const counts = terms.map((term, position) => (mayHold(position) ? count(term, text) : 0))
  const length = Number(row.terms_count)
  let [asked, covered] = [0, 0]
  for (const [position, rarity] of rarities.entries()) {
    asked += rarity
    if (counts[position] !== 0) covered += rarity
  }
  return {
    id: String(row.id) as MemoryId, // the column holds nothing else
    score: scoreCounts(counts, rarities, averageLength > 0 ? length / averageLength : 1),
    coverage: asked > 0 ? Math.min(1, covered / asked) : 0,
    counts,
    length,
    session: toSession(row.session),
  }
}

/** One statement for all ids: each side is a short walk along the index of the session. */
export function around(
  session: SqliteSession,
  scope: Scope,
  ids: readonly MemoryId[],
  reach: number,
): ReadonlyMap<MemoryId, Surroundings> {
  const side = (beyond: '<' | '>', direction: 'ASC' | 'DESC') =>
    `(SELECT json_group_array(id) FROM (
       SELECT other.id FROM memory AS other
       WHERE other.place_number = memory.place_number AND other.session = memory.session
         AND other.id ${beyond} memory.id
       ORDER BY other.id ${direction} LIMIT ${reach}))`
  const where = conjunction([
    ...within('memory', scope, session, []),
    { sql: 'memory.session IS NOT NULL', values: [] },
  ])
  const rows = session.packed(
    {
      columns: {
        id: 'memory.id',
        session: 'memory.session',
        before: side('<', 'DESC'),
        after: side('>', 'ASC'),
      },
      from: `FROM json_each(?) AS asked
        CROSS JOIN memory ON memory.id = asked.value
        WHERE ${where.sql}`,
    },
    [JSON.stringify(ids), ...where.values],
  )
  return new Map(
    rows.map((row) => [
      String(row.id) as MemoryId, // these columns hold nothing else
      {
        session: toSession(row.session) as SessionId, // not null, by the condition
        before: JSON.parse(String(row.before)) as MemoryId[],
        after: JSON.parse(String(row.after)) as MemoryId[],
      },
    ]),
  )
}

function toSession(column: SqlRow[string] | undefined): SessionId | null {
  return column == null ? null : (fromStorable(String(column)) as SessionId) // as it was given
}

function sizeOf(
  session: SqliteSession,
  token: string,
): Pick<Corpus, 'documents' | 'averageLength'> {
  const [row] = session.all('SELECT memories, terms FROM corpus WHERE token = ?', [token])
  const documents = Number(row?.memories ?? 0)
  return { documents, averageLength: documents === 0 ? 0 : Number(row?.terms) / documents }
}

/** A user's own rows are few among a large owner's; without a user, the token may not be worth its while. */
function tokenInLargeOwner(
  session: SqliteSession,
  scope: Scope,
  owner: string,
  documents: number,
): string | null {
  if (scope.user !== undefined) return placeTokenOf(session, scope)
  const isMain = documents > sizeOf(session, EVERYONE_TOKEN).documents * MAIN_SHARE
  return isMain ? null : owner
}

/** How often a term stands in a text of terms with a space around each. A term holds no space itself. */
function count(term: string, text: string): number {
  const sought = ` ${term} `
  let times = 0
  for (let at = text.indexOf(sought); at !== -1; times++) {
    // Neighbours share the space between them, hence one less than the whole.
    at = text.indexOf(sought, at + sought.length - 1)
  }
  return times
}

function placeTokenOf(session: SqliteSession, scope: Scope): string {
  return placeToken(session.placeNumber(scope) ?? 0)
}

type Found = {
  /** Whether common terms were left out of it. */
  readonly isSelective: boolean
  /** Numbers of memories, in the order in which they are worth reading. */
  bestFirst(): Iterable<number>
  /** For a memory: tells of the term at a position whether it may hold it, as far as the index was asked. */
  holding(number: number): (position: number) => boolean
  /** How many memories hold a term. */
  frequency(term: string): number
}

async function findRows(
  session: SqliteSession,
  token: string | null,
  terms: readonly string[],
  options: {
    readonly documents: number
    readonly isLarge: boolean
    readonly isSelective: boolean
    readonly breather: Breather
  },
): Promise<Found> {
  const { documents, isLarge, breather } = options
  const frequencies = new Map<string, number>()
  if (isLarge) for (const term of terms) frequencies.set(term, frequencyInStore(session, term))
  const sought = options.isSelective ? selective(terms, frequencies) : terms
  // Which of the sought terms a row holds, one bit each.
  const held = new Map<number, number>()
  for (const [position, term] of sought.entries()) {
    const numbers = rowsHolding(session, token, term)
    if (!isLarge) frequencies.set(term, numbers.length)
    const bit = 1 << position
    for (const number of numbers) held.set(number, (held.get(number) ?? 0) | bit)
    if (breather.isDue) await breather.pause()
  }
  const frequency = (term: string) => frequencies.get(term) ?? 0
  const rarities = sought.map((term) => inverseDocumentFrequency(frequency(term), documents))
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

const CANDIDATE = {
  number: 'memory.number',
  id: 'memory.id',
  session: 'memory.session',
  terms: 'memory.terms',
  terms_count: 'memory.terms_count',
}

/** Reads rows in the given order until enough of them pass the filters. */
async function readRows(
  session: SqliteSession,
  numbers: Iterable<number>,
  where: ReturnType<typeof conjunction>,
  enough: number,
  breather: Breather,
): Promise<readonly SqlRow[]> {
  const rows: SqlRow[] = []
  const read = (batch: readonly number[]) =>
    rows.push(
      ...session.packed(
        {
          columns: CANDIDATE,
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
    if (batch.length < ROWS_PER_READ) continue
    read(batch)
    if (rows.length >= enough) return rows
    if (breather.isDue) await breather.pause()
    batch = []
  }
  read(batch)
  return rows
}

/** The rarest terms, as many as find a bearable number of rows, and always one. */
function selective(
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

function frequencyInStore(session: SqliteSession, term: string): number {
  const [row] = session.all('SELECT doc FROM memory_vocabulary WHERE term = ?', [term])
  return Number(row?.doc ?? 0)
}

/** One JSON text instead of a row object per number: thousands of them cost a millisecond, not ten. */
function rowsHolding(
  session: SqliteSession,
  token: string | null,
  term: string,
): readonly number[] {
  const wanted = token === null ? [term] : [token, term]
  const [row] = session.all(
    'SELECT json_group_array(rowid) AS numbers FROM memory_terms WHERE memory_terms MATCH ?',
    [wanted.map(quoted).join(' AND ')],
  )
  return JSON.parse(String(row?.numbers))
}
