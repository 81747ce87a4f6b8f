/**
 * Reads SQLite databases of other programs without writing to the file or beside it.
 *
 * A database with a non-empty WAL or journal (its program runs or was killed) is copied together with it. Any other is
 * opened as immutable, which needs neither locks nor auxiliary files.
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
  /** Tables only: views of an untrusted file could run anything. */
  readonly tables: readonly string[]
  /** Yields the existing columns of each row in insertion order. */
  rows(
    table: string,
    columns: { readonly required: readonly string[]; readonly optional: readonly string[] },
  ): Iterable<ForeignRow>
  close(): void
}

const JOURNAL_SUFFIXES = ['-wal', '-journal']

/** The key of an SQLCipher database: 32 bytes in hex, or a passphrase. */
export type ForeignDatabaseKey =
  | { readonly kind: 'raw'; readonly hex: string }
  | { readonly kind: 'passphrase'; readonly passphrase: string }

/** A key file contains 64 hexadecimal digits, or a passphrase. */
export function parseForeignDatabaseKey(text: string): ForeignDatabaseKey {
  const hex = /^(?:x')?([0-9a-f]{64})'?$/i.exec(text.trim())?.[1]
  return hex === undefined ? { kind: 'passphrase', passphrase: text } : { kind: 'raw', hex }
}

export type CipherConnection = {
  prepare(sql: string): {
    all(...values: readonly string[]): unknown[]
    iterate(...values: readonly string[]): IterableIterator<unknown>
  }
  exec(sql: string): unknown
  close(): unknown
}

/** Opens an SQLCipher database; throws `wrong_key` when the key does not match. */
export type OpenCipherDatabase = (
  path: string,
  key: ForeignDatabaseKey,
) => Promise<CipherConnection>

export type ForeignDatabaseOptions = {
  readonly openCipher?: OpenCipherDatabase
  readonly getKey?: () => Promise<ForeignDatabaseKey | null>
}

export async function openForeignDatabase(
  path: string,
  { openCipher, getKey }: ForeignDatabaseOptions = {},
): Promise<ForeignDatabase> {
  const isPlain = isPlainDatabase(path)
  const key = isPlain || openCipher === undefined ? null : ((await getKey?.()) ?? null)
  if (!isPlain && (key === null || openCipher === undefined)) throw encryptedError(path)
  if (key !== null && openCipher !== undefined) return openEncrypted(path, key, openCipher)
  const copy = hasRecentWrites(path) ? copyDatabase(path) : null
  const remove = () => {
    if (copy !== null) rmSync(copy.folder, { recursive: true, force: true })
  }
  try {
    const database = await open(path, copy?.path ?? null)
    return {
      tables: withDatabaseErrors(path, () => listTables(database)),
      rows: (table, columns) => readRows(path, database, table, columns),
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

/** The cipher driver cannot open files as immutable, so it reads a copy, which is encrypted as well. */
async function openEncrypted(
  path: string,
  key: ForeignDatabaseKey,
  openCipher: OpenCipherDatabase,
): Promise<ForeignDatabase> {
  const copy = copyDatabase(path)
  const remove = () => rmSync(copy.folder, { recursive: true, force: true })
  let isOpen = true
  try {
    const connection = await openCipher(copy.path, key)
    connection.exec('PRAGMA trusted_schema = OFF; PRAGMA query_only = ON')
    return {
      tables: withDatabaseErrors(path, () => listTables(connection)),
      rows: (table, columns) => readRows(path, connection, table, columns),
      close: () => {
        if (isOpen) connection.close()
        isOpen = false
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
  return withDatabaseErrors(path, () => {
    if (copy !== null) return harden(new DatabaseSync(copy))
    const address = pathToFileURL(path)
    address.searchParams.set('immutable', '1')
    return harden(new DatabaseSync(address, { readOnly: true }))
  })
}

/** Keeps an untrusted schema from running unsafe functions. */
function harden(database: DatabaseSyncInstance): DatabaseSyncInstance {
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

function listTables(database: Pick<CipherConnection, 'prepare'>): readonly string[] {
  return database
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`,
    )
    .all()
    .map((row) => String((row as ForeignRow).name)) // the only selected column
}

function* readRows(
  path: string,
  database: DatabaseSyncInstance | CipherConnection,
  table: string,
  {
    required,
    optional,
  }: { readonly required: readonly string[]; readonly optional: readonly string[] },
): Generator<ForeignRow> {
  const existing = withDatabaseErrors(
    path,
    () =>
      database
        .prepare(`SELECT name FROM pragma_table_info(?)`)
        .all(table)
        .map((row) => String((row as ForeignRow).name)), // the only selected column
  )
  const missing = required.find((column) => !existing.includes(column))
  if (missing !== undefined) {
    throw new AppError(
      'invalid_input',
      `Table ${table} of ${path} has no column ${missing}: this version of the database is not supported.`,
      { path },
    )
  }
  const columns = [...required, ...optional].filter((column) => existing.includes(column))
  // The names are safe: they come from the tables of the importers.
  const rows = withDatabaseErrors(path, () => {
    const statement = database.prepare(
      `SELECT ${columns.map(quoteIdentifier).join(', ')} FROM ${quoteIdentifier(table)} ORDER BY rowid`,
    )
    // Integers beyond the safe range must not end the import.
    if ('setReadBigInts' in statement) statement.setReadBigInts(true)
    return statement.iterate()[Symbol.iterator]()
  })
  for (;;) {
    const { done, value } = withDatabaseErrors(path, () => rows.next())
    if (done === true) return
    yield convertBigInts(value as ForeignRow) // rows are objects by default
  }
}

function convertBigInts(row: ForeignRow): ForeignRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === 'bigint' ? Number(value) : value,
    ]),
  )
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function isPlainDatabase(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) {
    throw new AppError('not_found', `File ${path} not found.`, { path })
  }
  return isSqlite(readStart(path))
}

function encryptedError(path: string): AppError {
  return new AppError(
    'locked',
    `File ${path} is not an unencrypted SQLite database. Pass the key of an SQLCipher database with --key-file, or ` +
      'export an unencrypted copy with its program and import that copy.',
    { path },
  )
}

function readStart(path: string): Uint8Array {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(16)
    return start.subarray(0, readSync(file, start, 0, start.length, 0))
  } finally {
    closeSync(file)
  }
}

function hasRecentWrites(path: string): boolean {
  return JOURNAL_SUFFIXES.some(
    (suffix) => (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0) > 0,
  )
}

function copyDatabase(path: string): { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-import-'))
  try {
    const copy = join(folder, 'copy.db')
    copyFileSync(path, copy)
    for (const suffix of JOURNAL_SUFFIXES) {
      if (statSync(path + suffix, { throwIfNoEntry: false }) !== undefined) {
        copyFileSync(path + suffix, copy + suffix)
      }
    }
    return { folder, path: copy }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Maps errors of SQLite to application errors. */
function withDatabaseErrors<Result>(path: string, call: () => Result): Result {
  try {
    return call()
  } catch (error) {
    if (error instanceof AppError) throw error
    const message = error instanceof Error ? error.message : String(error)
    const isBusy = /locked|busy/i.test(message)
    throw new AppError(
      isBusy ? 'busy' : 'damaged',
      isBusy
        ? `The database ${path} is in use. Quit the program that uses it, or import a copy of the file.`
        : `The database ${path} cannot be read: ${message}.`,
      { path },
      error,
    )
  }
}
