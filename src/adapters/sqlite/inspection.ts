/**
 * Compares what is canonical (the rows) with what is derived from it (terms, fingerprints, counts), and mends the
 * derived side when asked to. It never changes a memory or what was said.
 */
import type { StoreFault } from '../../ports/store.ts'
import type { SqlRow } from './driver.ts'
import {
  entryFor,
  fingerprintToken,
  homeOf,
  memoryEntry,
  quoted,
  toMemory,
  turnEntry,
  type Words,
} from './rows.ts'
import type { SqliteSession } from './session.ts'
import { enter, MEMORY_INDEX, type TextIndex, TURN_INDEX } from './text-search.ts'
import { toTurn, turnWords } from './turn-rows.ts'
import { inspectVectors, mendVectors, sweepAll } from './vector-inspection.ts'

/** What is derived from the rows of a table, as it should be. */
type Derivation = {
  readonly index: TextIndex
  /** Rows that are looked at together: a turn may be very long. */
  readonly pageRows: number
  readonly faults: { readonly missing: string; readonly surplus: string; readonly counts: string }
  derive(row: SqlRow): Derived
}

type Derived = {
  readonly words: Words
  /** What the row is entered into the index with. */
  readonly entry: string
  /** What it is found by beside its words. */
  readonly tokens: readonly string[]
  /** The columns that are made of others. */
  readonly columns: Readonly<Record<string, string | number>>
}

const DERIVATIONS: readonly Derivation[] = [
  {
    index: MEMORY_INDEX,
    pageRows: 1_000,
    faults: {
      missing: 'memories are missing from the keyword index',
      surplus: 'words of the keyword index belong to no memory',
      counts: 'counts of words per owner are off',
    },
    derive: (row) => {
      const entry = entryFor(toMemory(row))
      const home = homeOf(row)
      return {
        words: entry,
        entry: memoryEntry(home, entry),
        tokens: [...home.tokens, fingerprintToken(entry.fingerprint)],
        columns: {
          terms: entry.terms,
          terms_count: entry.count,
          fingerprint: entry.fingerprint,
        },
      }
    },
  },
  {
    index: TURN_INDEX,
    pageRows: 100,
    faults: {
      missing: 'turns are missing from the keyword index',
      surplus: 'words of the keyword index of turns belong to none',
      counts: 'counts of words in turns per owner are off',
    },
    derive: (row) => {
      const words = turnWords(toTurn(row))
      const home = homeOf(row)
      return {
        words,
        entry: turnEntry(home, words),
        tokens: home.tokens,
        columns: { terms: words.terms, terms_count: words.count },
      }
    },
  },
]

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

  for (const derivation of DERIVATIONS) {
    const index = compareIndex(session, derivation)
    const counts = wrongCounts(session, derivation.index)
    note(derivation.faults.missing, index.missing, true)
    note(derivation.faults.surplus, index.surplus, true)
    note(derivation.faults.counts, counts, true)
    if (repair && index.missing + index.surplus + counts > 0) {
      session.transact(() => rebuild(session, derivation))
    }
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
  for (const derivation of DERIVATIONS) rebuild(session, derivation)
}

function rebuild(session: SqliteSession, derivation: Derivation): void {
  const { table, terms, corpus } = derivation.index
  session.run(`INSERT INTO ${terms} (${terms}) VALUES ('delete-all')`)
  session.run(`DELETE FROM ${corpus}`)
  for (const row of rowsOf(session, derivation)) {
    const { entry, columns } = derivation.derive(row)
    const number = Number(row.number)
    enter(session, derivation.index, number, entry)
    const assignments = Object.keys(columns).map((column) => `${column} = ?`)
    session.run(`UPDATE ${table} SET ${assignments.join(', ')} WHERE number = ?`, [
      ...Object.values(columns),
      number,
    ])
  }
  session.run(`INSERT INTO ${corpus} ${counted(derivation.index)}`)
}

/**
 * An index can't be read back row by row. But a row can be asked for by its own words, and the number of
 * entries in all must be that of the different words of all rows: one more is a word that nobody said.
 */
function compareIndex(
  session: SqliteSession,
  derivation: Derivation,
): { readonly missing: number; readonly surplus: number } {
  const { index } = derivation
  let missing = 0
  let expected = 0
  for (const row of rowsOf(session, derivation)) {
    const { words, tokens, columns } = derivation.derive(row)
    const different = [...new Set(words.count === 0 ? [] : words.terms.split(' '))]
    expected += different.length + tokens.length
    const isRight =
      Object.entries(columns).every(([column, value]) => row[column] === value) &&
      isFoundBy(session, index, Number(row.number), [...tokens, ...sampleOf(different)])
    if (!isRight) missing++
  }
  const [entries] = session.all(`SELECT coalesce(sum(doc), 0) AS count FROM ${index.vocabulary}`)
  return { missing, surplus: Math.max(0, Number(entries?.count) - expected) }
}

/** With the right number of words in all, a row that is found by some of its words is found by the others. */
function sampleOf(words: readonly string[]): readonly string[] {
  return [words[0], words[words.length >> 1], words.at(-1)].filter((word) => word !== undefined)
}

function isFoundBy(
  session: SqliteSession,
  { terms: name }: TextIndex,
  number: number,
  terms: readonly string[],
): boolean {
  const found = session.all(`SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND rowid = ?`, [
    terms.map(quoted).join(' AND '),
    number,
  ])
  return found.length === 1
}

/** The counts as they should be; see `toHome` for the tokens. */
function counted({ table, documents }: TextIndex): string {
  const by = (letter: string, column: string) => `UNION ALL
    SELECT char(1) || '${letter}' || ${column}, count(*), sum(terms_count) FROM ${table} GROUP BY ${column}`
  return `SELECT '' AS token, count(*) AS ${documents}, coalesce(sum(terms_count), 0) AS terms FROM ${table}
    ${by('o', 'owner_number')} ${by('p', 'place_number')}`
}

function wrongCounts(session: SqliteSession, index: TextIndex): number {
  const { corpus, documents } = index
  const [row] = session.all(`
    WITH counted AS (${counted(index)})
    SELECT count(*) AS wrong
    FROM ${corpus} FULL JOIN counted USING (token)
    WHERE coalesce(${corpus}.${documents}, 0) IS NOT coalesce(counted.${documents}, 0)
       OR coalesce(${corpus}.terms, 0) IS NOT coalesce(counted.terms, 0)`)
  return Number(row?.wrong)
}

function* rowsOf(
  session: SqliteSession,
  { index: { table }, pageRows }: Derivation,
): Generator<SqlRow> {
  for (let after = 0; ; ) {
    const page = session.all(
      `SELECT ${table}.*, place.owner, place.user
       FROM ${table} JOIN place ON place.number = ${table}.place_number
       WHERE ${table}.number > ? ORDER BY ${table}.number LIMIT ${pageRows}`,
      [after],
    )
    if (page.length === 0) return
    yield* page
    after = Number(page.at(-1)?.number)
  }
}
