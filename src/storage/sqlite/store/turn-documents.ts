/** Compares the documents of turns with their turns, and rebuilds them. */
import type { MemoryId } from '../../../domain/ids.ts'
import { toTurnDocument } from '../../../domain/search-document.ts'
import { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqliteConnection, SqlRow } from '../connection/sqlite-driver.ts'
import { findDocumentRow, insertDocument, removeDocument, updateDocument } from './commit.ts'
import { CorpusDelta } from './corpus-statistics.ts'
import {
  MEMORY_COLUMNS,
  readStoredPlace,
  toIndexEntry,
  toMemoryValues,
  toTurn,
} from './row-codec.ts'

/** Small, because a turn may be very long. */
const PAGE_ROWS = 100

/** Without the terms, which the check of the lexical index compares. */
const COMPARED_COLUMNS = MEMORY_COLUMNS.filter(
  (column) => column !== 'terms' && column !== 'terms_count',
)

export type TurnDocumentFaults = { readonly missing: number; readonly surplus: number }

/** Writes missing and differing documents, and removes those without a turn. Call it inside a transaction. */
export function rebuildTurnDocuments(connection: SqliteConnection): void {
  compareTurnDocuments(new SqliteDatabase(connection), true)
}

/** `missing`: turns without a document, or with a differing one. `surplus`: documents without a turn. */
export function compareTurnDocuments(
  database: SqliteDatabase,
  repair: boolean,
): TurnDocumentFaults {
  const corpusDelta = new CorpusDelta()
  let missing = 0
  for (const row of turnRows(database)) {
    const document = toTurnDocument(toTurn(row))
    const [known, place] = [findDocumentRow(database, document.id), readStoredPlace(row)]
    const expected = toMemoryValues(document, place, toIndexEntry(document))
    const isRight = COMPARED_COLUMNS.every((column) => {
      const value = expected[MEMORY_COLUMNS.indexOf(column)]
      return known !== null && known[column] === value
    })
    if (isRight) continue
    missing++
    if (!repair) continue
    if (known === null) insertDocument(database, document, place, corpusDelta)
    else updateDocument(database, document, place, known, corpusDelta)
  }
  const orphans = database.all(
    `SELECT id FROM memory WHERE type = 'turn' AND id NOT IN (SELECT id FROM turn)`,
  )
  for (const { id } of repair ? orphans : []) {
    const row = findDocumentRow(database, String(id) as MemoryId) // the column holds nothing else
    if (row !== null) removeDocument(database, row, corpusDelta)
  }
  corpusDelta.write(database)
  return { missing, surplus: orphans.length }
}

function* turnRows(database: SqliteDatabase): Generator<SqlRow> {
  for (let after = 0; ; ) {
    const page = database.all(
      `SELECT turn.*, place.owner, place.user
       FROM turn JOIN place ON place.number = turn.place_number
       WHERE turn.number > ? ORDER BY turn.number LIMIT ${PAGE_ROWS}`,
      [after],
    )
    if (page.length === 0) return
    yield* page
    after = Number(page.at(-1)?.number)
  }
}
