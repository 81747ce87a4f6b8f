/** Brings entries of version 0.1 into their present form: renames kinds and fields, and moves jobs and signals out. */
import { LEGACY_ENTRY_KINDS, upgradeEntry } from '../../entry-upgrade.ts'
import { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqliteConnection, SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { runBesideMigrationTriggers } from '../maintenance/sqlite-migration-source.ts'
import {
  ENTRY_COLUMNS,
  JOB_COLUMNS,
  readStoredPlace,
  SIGNAL_COLUMNS,
  toEntryValues,
  toJobValues,
  toLegacyEntry,
  toSignalValues,
} from '../store/row-codec.ts'

const PAGE_ROWS = 500

/** Kinds whose entries may be in an earlier form: the renamed ones, and those whose bodies have changed. */
const UPGRADED_KINDS = JSON.stringify(LEGACY_ENTRY_KINDS)

/** Inside a transaction. Entries that have their present form already stay as they are. */
export function migrateEntries(connection: SqliteConnection): void {
  const database = new SqliteDatabase(connection)
  runBesideMigrationTriggers(database, ['job', 'signal'], () => {
    for (const row of legacyRows(database)) migrateRow(database, row)
  })
}

function migrateRow(database: SqliteDatabase, row: SqlRow): void {
  const upgraded = upgradeEntry(toLegacyEntry(row))
  const home = readStoredPlace(row)
  const rowid = row.entry_rowid ?? null
  if (upgraded?.table === 'entry') {
    const values = toEntryValues(upgraded.row, home)
    if (ENTRY_COLUMNS.every((column, at) => values[at] === row[column])) return
    const set = ENTRY_COLUMNS.map((column) => `${column} = ?`).join(', ')
    database.run(`UPDATE entry SET ${set} WHERE rowid = ?`, [...values, rowid])
    return
  }
  database.run('DELETE FROM entry WHERE rowid = ?', [rowid])
  if (upgraded?.table === 'job') {
    insert(database, 'job', JOB_COLUMNS, toJobValues(upgraded.row, home))
  } else if (upgraded?.table === 'signal') {
    insert(database, 'signal', SIGNAL_COLUMNS, toSignalValues(upgraded.row, home))
  }
}

function insert(
  database: SqliteDatabase,
  table: string,
  columns: readonly string[],
  values: readonly SqlValue[],
): void {
  const parameters = columns.map(() => '?').join(', ')
  database.run(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${parameters}) ON CONFLICT DO NOTHING`,
    values,
  )
}

function* legacyRows(database: SqliteDatabase): Generator<SqlRow> {
  for (let after = 0; ; ) {
    const page = database.all(
      `SELECT entry.rowid AS entry_rowid, entry.*, place.owner, place.user
       FROM entry JOIN place ON place.number = entry.place_number
       WHERE entry.rowid > ? AND entry.kind IN (SELECT value FROM json_each(?))
       ORDER BY entry.rowid LIMIT ${PAGE_ROWS}`,
      [after, UPGRADED_KINDS],
    )
    if (page.length === 0) return
    yield* page
    after = Number(page.at(-1)?.entry_rowid)
  }
}
