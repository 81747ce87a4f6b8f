/**
 * Compares what is canonical (the rows) with what is derived from it (terms, fingerprints, counts), and mends the
 * derived side when asked to. It never changes a memory or what was said.
 */
import type { StoreFault } from '../../ports/store.ts'
import type { SqliteConnection, SqlRow } from './driver.ts'
import { entryFor, entryText, entryTokens, homeOf, quoted, toDocument } from './rows.ts'
import { SqliteSession } from './session.ts'
import { enter } from './text-search.ts'
import { compareDocuments } from './turn-documents.ts'
import { inspectVectors, mendVectors, sweepAll } from './vector-inspection.ts'

/** Rows that are looked at together: a turn may be very long. */
const PAGE_ROWS = 200

export function inspect(session: SqliteSession, repair: boolean): readonly StoreFault[] {
  const faults: StoreFault[] = []
  const note = (what: string, count: number, repairable: boolean) => {
    if (count > 0) faults.push({ what, count, repairable })
  }
  const structure = session
    .all('PRAGMA integrity_check(20)')
    .map((row) => String(Object.values(row)[0]))
    .filter((line) => line !== 'ok')
  note(`the file's structure is damaged: ${structure[0]}`, structure.length, false)
  if (structure.length > 0) return faults
  note(
    'rows point at a place that does not exist',
    session.all('PRAGMA foreign_key_check').length,
    false,
  )

  const documents = compareDocuments(session, false)
  note('turns are missing from the search index', documents.missing, true)
  note('documents of the search index belong to no turn', documents.surplus, true)
  if (repair && documents.missing + documents.surplus > 0) {
    session.transact(() => compareDocuments(session, true))
  }
  const index = compareIndex(session)
  const counts = wrongCounts(session)
  note('memories or turns are missing from the keyword index', index.missing, true)
  note('words of the keyword index belong to no memory or turn', index.surplus, true)
  note('counts of words per owner are off', counts, true)
  if (repair && index.missing + index.surplus + counts > 0) {
    session.transact(() => rebuild(session))
  }
  const vectorFaults = inspectVectors(session)
  for (const { what, count } of vectorFaults) note(what, count, true)
  if (repair && vectorFaults.length > 0) {
    sweepAll(session)
    session.transact(() => mendVectors(session))
  }
  return faults
}

/** Writes everything again that is derived from memories and turns. */
export function rebuildTerms(session: SqliteSession): void {
  // Counted anew below; entries of documents that are removed here must be there to be taken out.
  rebuild(session)
  compareDocuments(session, true)
}

/** Enters all documents into the keyword index anew. Inside a transaction. */
export function rebuildIndex(connection: SqliteConnection): void {
  rebuild(new SqliteSession(connection))
}

function rebuild(session: SqliteSession): void {
  session.run(`INSERT INTO memory_terms (memory_terms) VALUES ('delete-all')`)
  session.run('DELETE FROM corpus')
  for (const row of rowsOf(session)) {
    const entry = entryFor(toDocument(row))
    const number = Number(row.number)
    enter(session, number, entryText(homeOf(row), entry))
    session.run('UPDATE memory SET terms = ?, terms_count = ?, fingerprint = ? WHERE number = ?', [
      entry.terms,
      entry.count,
      entry.fingerprint,
      number,
    ])
  }
  session.run(`INSERT INTO corpus ${COUNTED}`)
}

/**
 * An index can't be read back row by row. But a row can be asked for by its own words, and the number of
 * entries in all must be that of the different words of all rows: one more is a word that nobody said.
 */
function compareIndex(session: SqliteSession): {
  readonly missing: number
  readonly surplus: number
} {
  let missing = 0
  let expected = 0
  for (const row of rowsOf(session)) {
    const entry = entryFor(toDocument(row))
    const tokens = entryTokens(homeOf(row), entry)
    const different = [...new Set(entry.count === 0 ? [] : entry.terms.split(' '))]
    expected += different.length + tokens.length
    const isRight =
      row.terms === entry.terms &&
      row.terms_count === entry.count &&
      row.fingerprint === entry.fingerprint &&
      isFoundBy(session, Number(row.number), [...tokens, ...sampleOf(different)])
    if (!isRight) missing++
  }
  const [entries] = session.all('SELECT coalesce(sum(doc), 0) AS count FROM memory_vocabulary')
  return { missing, surplus: Math.max(0, Number(entries?.count) - expected) }
}

/** With the right number of words in all, a row that is found by some of its words is found by the others. */
function sampleOf(words: readonly string[]): readonly string[] {
  return [words[0], words[words.length >> 1], words.at(-1)].filter((word) => word !== undefined)
}

function isFoundBy(session: SqliteSession, number: number, terms: readonly string[]): boolean {
  const found = session.all(
    'SELECT rowid FROM memory_terms WHERE memory_terms MATCH ? AND rowid = ?',
    [terms.map(quoted).join(' AND '), number],
  )
  return found.length === 1
}

/** The counts as they should be; see `toHome` for the tokens. */
const COUNTED = [
  { isMeant: "type <> 'turn'", all: "''", owner: 'o', place: 'p' },
  { isMeant: "type = 'turn'", all: "char(1) || 'T'", owner: 'to', place: 'tp' },
]
  .map(({ isMeant, all, owner, place }) => {
    const sums = 'count(*) AS memories, coalesce(sum(terms_count), 0) AS terms'
    return `SELECT ${all} AS token, ${sums} FROM memory WHERE ${isMeant}
      UNION ALL SELECT char(1) || '${owner}' || owner_number, ${sums} FROM memory WHERE ${isMeant}
        GROUP BY owner_number
      UNION ALL SELECT char(1) || '${place}' || place_number, ${sums} FROM memory WHERE ${isMeant}
        GROUP BY place_number`
  })
  .join(' UNION ALL ')

function wrongCounts(session: SqliteSession): number {
  const [row] = session.all(`
    WITH counted AS (${COUNTED})
    SELECT count(*) AS wrong
    FROM corpus FULL JOIN counted USING (token)
    WHERE coalesce(corpus.memories, 0) IS NOT coalesce(counted.memories, 0)
       OR coalesce(corpus.terms, 0) IS NOT coalesce(counted.terms, 0)`)
  return Number(row?.wrong)
}

function* rowsOf(session: SqliteSession): Generator<SqlRow> {
  for (let after = 0; ; ) {
    const page = session.all(
      `SELECT memory.*, place.owner, place.user
       FROM memory JOIN place ON place.number = memory.place_number
       WHERE memory.number > ? ORDER BY memory.number LIMIT ${PAGE_ROWS}`,
      [after],
    )
    if (page.length === 0) return
    yield* page
    after = Number(page.at(-1)?.number)
  }
}
