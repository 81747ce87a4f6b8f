/**
 * Compares what is canonical (the rows) with what is derived from it (terms, fingerprints, counts), and mends the
 * derived side when asked to. It never changes a memory.
 */
import { fingerprint } from '../../core/fingerprint.ts'
import type { StoreFault } from '../../ports/store.ts'
import { homeOf, type Terms, termsOf, toMemory } from './rows.ts'
import type { SqliteSession } from './session.ts'
import { indexTerms } from './text.ts'

const PAGE_ROWS = 1_000

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

  const staleTerms = memoriesWithStaleTerms(session)
  note(
    'memories are missing from the keyword index, or found by words they no longer hold',
    staleTerms,
    true,
  )
  note('entries of the keyword index belong to no memory', orphanedTerms(session), true)
  note('counts of words per owner are off', wrongCounts(session), true)
  if (repair && faults.some((fault) => fault.repairable)) {
    session.transact(() => rebuildTerms(session))
  }
  return faults
}

/** Writes the whole keyword index again from the memories. */
export function rebuildTerms(session: SqliteSession): void {
  session.run('DELETE FROM memory_terms')
  session.run('DELETE FROM corpus')
  for (const page of memoryPages(session)) {
    for (const row of page) {
      const memory = toMemory(row)
      const terms = termsOf(memory)
      const number = Number(row.number)
      indexTerms(session, number, homeOf(row), terms)
      session.run(
        'UPDATE memory SET terms = ?, terms_count = ?, fingerprint = ? WHERE number = ?',
        [terms.text, terms.count, fingerprint(memory.content), number],
      )
    }
  }
  session.run(`INSERT INTO corpus ${COUNTED}`)
}

/** The index keeps no text, so each memory is asked for by its own words: it must be found by all of them. */
function memoriesWithStaleTerms(session: SqliteSession): number {
  let stale = 0
  for (const page of memoryPages(session)) {
    for (const row of page) {
      const memory = toMemory(row)
      const terms = termsOf(memory)
      const isStale =
        row.terms !== terms.text ||
        row.terms_count !== terms.count ||
        row.fingerprint !== fingerprint(memory.content) ||
        indexedLength(session, Number(row.number)) !== terms.count ||
        !isFoundByAll(session, Number(row.number), terms)
      if (isStale) stale++
    }
  }
  return stale
}

/** Words per row as FTS5 counts them, from its own table of lengths: one varint per column. */
function indexedLength(session: SqliteSession, number: number): number | null {
  const [row] = session.all('SELECT sz FROM memory_terms_docsize WHERE id = ?', [number])
  if (!(row?.sz instanceof Uint8Array)) return null
  const lengths: number[] = []
  let value = 0
  for (const byte of row.sz) {
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) {
      lengths.push(value)
      value = 0
    }
  }
  return lengths[1] ?? null
}

/** A sample is enough: with the right number of words, a row that holds these holds the others as well. */
const SAMPLED_TERMS = 3

function isFoundByAll(session: SqliteSession, number: number, { text, count }: Terms): boolean {
  if (count === 0) return true
  const terms = text.split(' ')
  const sample = [terms[0], terms[terms.length >> 1], terms.at(-1)].slice(0, SAMPLED_TERMS)
  const quoted = sample.map((term) => `body : "${String(term).replaceAll('"', '""')}"`)
  const found = session.all(
    'SELECT rowid FROM memory_terms WHERE memory_terms MATCH ? AND rowid = ?',
    [quoted.join(' AND '), number],
  )
  return found.length === 1
}

function orphanedTerms(session: SqliteSession): number {
  const [row] = session.all(
    'SELECT count(*) AS orphans FROM memory_terms_docsize WHERE id NOT IN (SELECT number FROM memory)',
  )
  return Number(row?.orphans)
}

/** The counts as they should be; see `ownTokens` for the tokens. */
const COUNTED = `
  SELECT '' AS token, count(*) AS memories, coalesce(sum(terms_count), 0) AS terms FROM memory
  UNION ALL SELECT 'o' || owner_number, count(*), sum(terms_count) FROM memory GROUP BY owner_number
  UNION ALL SELECT 'p' || place_number, count(*), sum(terms_count) FROM memory GROUP BY place_number`

function wrongCounts(session: SqliteSession): number {
  const [row] = session.all(`
    WITH counted AS (${COUNTED})
    SELECT count(*) AS wrong
    FROM corpus FULL JOIN counted USING (token)
    WHERE coalesce(corpus.memories, 0) IS NOT coalesce(counted.memories, 0)
       OR coalesce(corpus.terms, 0) IS NOT coalesce(counted.terms, 0)`)
  return Number(row?.wrong)
}

function* memoryPages(session: SqliteSession) {
  for (let after = 0; ; ) {
    const page = session.all(
      `SELECT memory.*, place.owner, place.user
       FROM memory JOIN place ON place.number = memory.place_number
       WHERE memory.number > ? ORDER BY memory.number LIMIT ${PAGE_ROWS}`,
      [after],
    )
    if (page.length === 0) return
    yield page
    after = Number(page.at(-1)?.number)
  }
}
