/**
 * Compares canonical rows with derived data (terms, fingerprints, corpus statistics), and repairs derived data on request.
 * Memories and turns are never changed.
 */

import { DOCUMENT_KINDS } from '../../../domain/search-document.ts'
import type { IntegrityProblem } from '../../store.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow } from '../connection/sqlite-driver.ts'
import { indexDocument } from '../search/lexical-search.ts'
import {
  OWNER_TOKEN,
  PLACE_TOKEN,
  readStoredPlace,
  renderIndexEntry,
  STORE_TOKEN,
  toDocument,
  toIndexEntry,
  toIndexTokens,
} from '../store/row-codec.ts'
import { compareTurnDocuments } from '../store/turn-documents.ts'
import {
  checkVectorIntegrity,
  removeDroppedSpaces,
  repairVectors,
} from './vector-integrity-check.ts'

/** Small, because a turn may be very long. */
const PAGE_ROWS = 200

export function checkStoreIntegrity(
  database: SqliteDatabase,
  repair: boolean,
): readonly IntegrityProblem[] {
  const faults: IntegrityProblem[] = []
  const note = (what: string, count: number, repairable: boolean) => {
    if (count > 0) faults.push({ description: what, count, repairable })
  }
  const structure = database
    .all('PRAGMA integrity_check(20)')
    .map((row) => String(Object.values(row)[0]))
    .filter((line) => line !== 'ok')
  note(`the structure of the file is damaged: ${structure[0]}`, structure.length, false)
  if (structure.length > 0) return faults
  note(
    'rows refer to a place that does not exist',
    database.all('PRAGMA foreign_key_check').length,
    false,
  )

  const documents = compareTurnDocuments(database, false)
  note('turns are missing from the search index', documents.missing, true)
  note('documents of the search index belong to no turn', documents.surplus, true)
  if (repair && documents.missing + documents.surplus > 0) {
    database.runInTransaction(() => compareTurnDocuments(database, true))
  }
  const index = compareIndex(database)
  const counts = wrongCounts(database)
  note('memories or turns are missing from the keyword index', index.missing, true)
  note('words of the keyword index belong to no memory or turn', index.surplus, true)
  note('counts of words per owner are off', counts, true)
  if (repair && index.missing + index.surplus + counts > 0) {
    database.runInTransaction(() => rebuild(database))
  }
  const vectorFaults = checkVectorIntegrity(database)
  for (const { what, count } of vectorFaults) note(what, count, true)
  if (repair && vectorFaults.length > 0) {
    removeDroppedSpaces(database)
    database.runInTransaction(() => repairVectors(database))
  }
  return faults
}

/** Rebuilds all data that is derived from memories and turns. */
export function rebuildDerivedData(database: SqliteDatabase): void {
  // The index first: removing a document below needs its index entry.
  rebuild(database)
  compareTurnDocuments(database, true)
}

function rebuild(database: SqliteDatabase): void {
  database.run(`INSERT INTO memory_terms (memory_terms) VALUES ('delete-all')`)
  database.run('DELETE FROM corpus')
  for (const row of rowsOf(database)) {
    const entry = toIndexEntry(toDocument(row))
    const number = Number(row.number)
    indexDocument(database, number, renderIndexEntry(readStoredPlace(row), entry))
    database.run('UPDATE memory SET terms = ?, terms_count = ?, fingerprint = ? WHERE number = ?', [
      entry.terms,
      entry.count,
      entry.fingerprint,
      number,
    ])
  }
  database.run(`INSERT INTO corpus ${COUNTED}`)
}

/**
 * Scans the index once and compares a checksum per document with that of its terms. Looking up each document by its
 * terms would scan the long posting lists of common terms again and again.
 */
function compareIndex(database: SqliteDatabase): {
  readonly missing: number
  readonly surplus: number
} {
  const indexed = indexChecksums(database)
  let missing = 0
  let surplus = 0
  for (const row of rowsOf(database)) {
    const number = Number(row.number)
    const entry = toIndexEntry(toDocument(row))
    const words = entry.count === 0 ? [] : entry.terms.split(' ')
    const entries = new Set([...toIndexTokens(readStoredPlace(row), entry), ...words])
    const expected = { count: entries.size, sum: 0 }
    for (const term of entries) expected.sum = (expected.sum + termChecksum(term)) >>> 0
    const found = indexed.get(number) ?? { count: 0, sum: 0 }
    indexed.delete(number)
    const isDerived =
      row.terms === entry.terms &&
      row.terms_count === entry.count &&
      row.fingerprint === entry.fingerprint
    surplus += Math.max(0, found.count - expected.count)
    if (!isDerived || (found.count <= expected.count && !isSameChecksum(found, expected))) missing++
  }
  for (const { count } of indexed.values()) surplus += count
  return { missing, surplus }
}

/** A checksum over the distinct terms that the index holds for a document. */
type Checksum = { count: number; sum: number }

function isSameChecksum(a: Checksum, b: Checksum): boolean {
  return a.count === b.count && a.sum === b.sum
}

/** Terms per read. */
const PAGE_TERMS = 500

/** By the row number of the document. */
function indexChecksums(database: SqliteDatabase): Map<number, Checksum> {
  const checksums = new Map<number, Checksum>()
  database.connection.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS temp.memory_entries
       USING fts5vocab ('main', 'memory_terms', 'instance')`,
  )
  for (let after = ''; ; ) {
    const page = database.all(
      `SELECT term, json_group_array(doc) AS documents FROM temp.memory_entries
       WHERE term > ? GROUP BY term LIMIT ${PAGE_TERMS}`,
      [after],
    )
    const last = page.at(-1)?.term
    // The same term again: its bytes are not valid text to continue from.
    if (last === undefined || last === after) return checksums
    after = String(last)
    for (const { term, documents } of page) {
      const checksum = termChecksum(String(term))
      for (const number of JSON.parse(String(documents)) as number[]) {
        const known = checksums.get(number)
        if (known === undefined) checksums.set(number, { count: 1, sum: checksum })
        else {
          known.count++
          known.sum = (known.sum + checksum) >>> 0
        }
      }
    }
  }
}

/** FNV-1a. */
function termChecksum(term: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/** The expected corpus statistics; see `toStoredPlace` for the tokens. */
const COUNTED = DOCUMENT_KINDS.map((kind) => {
  const sums = 'count(*) AS memories, coalesce(sum(terms_count), 0) AS terms'
  const ofKind = `FROM memory WHERE type ${kind === 'turn' ? '=' : '<>'} 'turn'`
  return `SELECT '${STORE_TOKEN[kind]}' AS token, ${sums} ${ofKind}
    UNION ALL SELECT '${OWNER_TOKEN[kind]}' || owner_number, ${sums} ${ofKind} GROUP BY owner_number
    UNION ALL SELECT '${PLACE_TOKEN[kind]}' || place_number, ${sums} ${ofKind} GROUP BY place_number`
}).join(' UNION ALL ')

function wrongCounts(database: SqliteDatabase): number {
  const [row] = database.all(`
    WITH counted AS (${COUNTED})
    SELECT count(*) AS wrong
    FROM corpus FULL JOIN counted USING (token)
    WHERE coalesce(corpus.memories, 0) IS NOT coalesce(counted.memories, 0)
       OR coalesce(corpus.terms, 0) IS NOT coalesce(counted.terms, 0)`)
  return Number(row?.wrong)
}

function* rowsOf(database: SqliteDatabase): Generator<SqlRow> {
  for (let after = 0; ; ) {
    const page = database.all(
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
