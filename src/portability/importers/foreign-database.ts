/**
 * Reads the databases of other programs, and never writes to them: not to the file, and not beside it.
 *
 * A database whose recent changes still lie beside it (the program runs, or was killed) is copied with them and read
 * from the copy; any other is opened as a file that can't change, which needs neither locks nor files of SQLite's own.
 */
import { closeSync, copyFileSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { AppError } from '../../lib/errors.ts'
import { isSqlite } from './format-detection.ts'

export type ForeignRow = { readonly [column: string]: unknown }

export interface ForeignDatabase {
  /** Tables, not views: what a view does is up to whoever made the file. */
  readonly tables: readonly string[]
  /** Those of the columns that are there, in the order the rows were written. */
  rows(
    table: string,
    columns: { readonly required: readonly string[]; readonly optional: readonly string[] },
  ): Iterable<ForeignRow>
  close(): void
}

const BESIDE = ['-wal', '-journal']

export async function openForeignDatabase(path: string): Promise<ForeignDatabase> {
  refuseUnreadable(path)
  const copy = hasRecentWrites(path) ? copied(path) : null
  const remove = () => {
    if (copy !== null) rmSync(copy.folder, { recursive: true, force: true })
  }
  try {
    const database = await open(path, copy?.path ?? null)
    return {
      tables: guarded(path, () => tableNames(database)),
      rows: (table, columns) => rowsOf(path, database, table, columns),
      close: () => {
        if (database.isOpen) database.close()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

async function open(path: string, copy: string | null): Promise<DatabaseSyncInstance> {
  const { DatabaseSync } = await import('@photostructure/sqlite')
  return guarded(path, () => {
    if (copy !== null) return configured(new DatabaseSync(copy))
    const address = pathToFileURL(path)
    address.searchParams.set('immutable', '1')
    return configured(new DatabaseSync(address, { readOnly: true }))
  })
}

/** The file's own schema must not run functions that are not harmless. */
function configured(database: DatabaseSyncInstance): DatabaseSyncInstance {
  try {
    database.exec(
      'PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON',
    )
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function tableNames(database: DatabaseSyncInstance): readonly string[] {
  return database
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`,
    )
    .all()
    .map((row) => String((row as ForeignRow).name)) // the one column that was asked for
}

function* rowsOf(
  path: string,
  database: DatabaseSyncInstance,
  table: string,
  {
    required,
    optional,
  }: { readonly required: readonly string[]; readonly optional: readonly string[] },
): Generator<ForeignRow> {
  const there = guarded(
    path,
    () =>
      database
        .prepare(`SELECT name FROM pragma_table_info(?)`)
        .all(table)
        .map((row) => String((row as ForeignRow).name)), // as above
  )
  const missing = required.find((column) => !there.includes(column))
  if (missing !== undefined) {
    throw new AppError(
      'invalid_input',
      `The table ${table} of ${path} has no column ${missing}: it is laid out in a way that is not known here.`,
      { path },
    )
  }
  const columns = [...required, ...optional].filter((column) => there.includes(column))
  // The names are ours: they come from our own lists and were found in the file.
  const rows = guarded(path, () => {
    const statement = database.prepare(
      `SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(table)} ORDER BY rowid`,
    )
    // A number that is too large for JavaScript must not end the import.
    statement.setReadBigInts(true)
    return statement.iterate()[Symbol.iterator]()
  })
  for (;;) {
    const { done, value } = guarded(path, () => rows.next())
    if (done === true) return
    yield withNumbers(value as ForeignRow) // rows are objects unless arrays are asked for
  }
}

function withNumbers(row: ForeignRow): ForeignRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === 'bigint' ? Number(value) : value,
    ]),
  )
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function refuseUnreadable(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    throw new AppError('not_found', `There is no file ${path}.`, { path })
  }
  if (!isSqlite(startOf(path))) {
    throw new AppError(
      'locked',
      `The file ${path} is not a plain SQLite database: it is encrypted, or something else. Only plain ones can be ` +
        'read; have its program write one without encryption first.',
      { path },
    )
  }
}

function startOf(path: string): Uint8Array {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(16)
    return start.subarray(0, readSync(file, start, 0, start.length, 0))
  } finally {
    closeSync(file)
  }
}

function hasRecentWrites(path: string): boolean {
  return BESIDE.some((end) => (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0) > 0)
}

function copied(path: string): { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-import-'))
  try {
    const copy = join(folder, 'copy.db')
    copyFileSync(path, copy)
    for (const end of BESIDE) {
      if (statSync(path + end, { throwIfNoEntry: false }) !== undefined) {
        copyFileSync(path + end, copy + end)
      }
    }
    return { folder, path: copy }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** What SQLite says of a file, in the words of the table of errors. */
function guarded<Result>(path: string, call: () => Result): Result {
  try {
    return call()
  } catch (error) {
    if (error instanceof AppError) throw error
    const message = error instanceof Error ? error.message : String(error)
    const isBusy = /locked|busy/i.test(message)
    throw new AppError(
      isBusy ? 'busy' : 'damaged',
      isBusy
        ? `The database ${path} is in use. Quit the program that uses it, or import a copy.`
        : `The database ${path} cannot be read: ${message}.`,
      { path },
      error,
    )
  }
}
