/**
 * Keyword search with FTS5.
 *
 * The index holds our own terms (`core/terms.ts`) beside tokens for owner and user, so the cost of a search
 * grows with what the owner has, not with what the store holds. FTS5 picks the candidates; the scores come from
 * `core/bm25.ts`, because FTS5's own fall to zero for words that more than half of the rows hold.
 */
import { type Corpus, scoreKeyword } from '../../core/bm25.ts'
import type { MemoryId, Scope } from '../../core/ids.ts'
import { TEXT_HITS_MAX } from '../../core/limits.ts'
import { searchableTerms } from '../../core/searchable.ts'
import { fromStorable } from '../../core/storable-text.ts'
import { queryTerms } from '../../core/terms.ts'
import type { TextHit, TextQuery } from '../../ports/store.ts'
import { conjunction, memoryConditions, within } from './filters.ts'
import type { Home } from './rows.ts'
import type { SqliteSession } from './session.ts'

/** Candidates that are scored exactly. Constant for ordinary limits, so that the best hit never depends on the limit. */
const CANDIDATES = 128
/**
 * In an owner with more memories than this, words that very many rows hold only raise the score of rows that a
 * rarer word has found. Without it, one common word made FTS5 rank half of 100,000 rows.
 */
const COMMON_ROWS = 8_000

export function ownTokens(home: Home): string {
  return `o${home.ownerNumber} p${home.number}`
}

export function matchText(
  session: SqliteSession,
  scope: Scope,
  query: TextQuery,
): readonly TextHit[] {
  const terms = queryTerms(query.text)
  const ownerNumber = session.ownerNumber(scope)
  if (terms.length === 0 || ownerNumber === null || query.limit <= 0) return []
  const own = scope.user === undefined ? `o${ownerNumber}` : placeToken(session, scope)
  if (own === null) return []

  const corpus = corpusOf(session, terms)
  const limit = Math.min(query.limit, TEXT_HITS_MAX)
  const where = conjunction([
    ...within('memory', scope, ownerNumber),
    ...memoryConditions(query.where),
  ])
  const candidates = (wanted: readonly string[]) =>
    session.all(
      `SELECT memory.id, memory.content, memory.key
       FROM memory_terms
       CROSS JOIN memory ON memory.number = memory_terms.rowid
       JOIN place ON place.number = memory.place_number
       WHERE memory_terms MATCH ? AND ${where.sql}
       ORDER BY bm25(memory_terms, 0, 1), memory.number DESC
       LIMIT ?`,
      [matchExpression(own, wanted), ...where.values, Math.max(limit, CANDIDATES)],
    )
  const selective = selectiveTerms(session, ownerNumber, terms, corpus)
  let rows = candidates(selective)
  if (selective.length < terms.length && rows.length < limit) rows = candidates(terms)

  return rows
    .map((row) => {
      const content = fromStorable(String(row.content))
      const key = row.key === null ? null : fromStorable(String(row.key))
      const id = String(row.id) as MemoryId // the column holds nothing else
      return { id, ...scoreKeyword(terms, searchableTerms({ content, key }), corpus) }
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
    .slice(0, limit)
}

function placeToken(session: SqliteSession, scope: Scope): string | null {
  const number = session.placeNumber(scope)
  return number === null ? null : `p${number}`
}

/** Terms are quoted strings to FTS5, so nothing in them is read as syntax. */
function matchExpression(own: string, terms: readonly string[]): string {
  const quoted = terms.map((term) => `"${term.replaceAll('"', '""')}"`)
  return `own : "${own}" AND body : (${quoted.join(' OR ')})`
}

function corpusOf(session: SqliteSession, terms: readonly string[]): Corpus {
  const [totals] = session.all('SELECT memories, terms FROM corpus WHERE owner_number = 0')
  const documents = Number(totals?.memories ?? 0)
  const documentsWith = new Map(
    terms.map((term) => {
      const [row] = session.all(
        `SELECT doc FROM memory_vocabulary WHERE term = ? AND col = 'body'`,
        [term],
      )
      return [term, Number(row?.doc ?? 0)]
    }),
  )
  return {
    documents,
    averageLength: documents === 0 ? 0 : Number(totals?.terms ?? 0) / documents,
    documentsWith: (term) => documentsWith.get(term) ?? 0,
  }
}

/** The terms that candidates must hold one of: all of them, unless the owner is large and some are very common. */
function selectiveTerms(
  session: SqliteSession,
  ownerNumber: number,
  terms: readonly string[],
  corpus: Corpus,
): readonly string[] {
  const [own] = session.all('SELECT memories FROM corpus WHERE owner_number = ?', [ownerNumber])
  if (Number(own?.memories ?? 0) <= COMMON_ROWS) return terms
  const rarestFirst = terms
    .filter((term) => corpus.documentsWith(term) > 0)
    .sort((a, b) => corpus.documentsWith(a) - corpus.documentsWith(b))
  const selective: string[] = []
  let rows = 0
  for (const term of rarestFirst) {
    rows += corpus.documentsWith(term)
    if (selective.length > 0 && rows > COMMON_ROWS) break
    selective.push(term)
  }
  return selective.length > 0 ? selective : terms
}
