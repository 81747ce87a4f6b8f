/**
 * Copies a whole database from one connection to another, row by row through the driver seam, so that it works
 * between any two of plain and encrypted. Rows are copied as they are; what is derived from them is built anew.
 */
import { createHash } from 'node:crypto'
import { quoteIdentifier } from '../../../lib/sql.ts'
import { SqliteDatabase } from '../connection/sqlite-database.ts'
import type {
  DatabaseKey,
  OpenConnection,
  SqliteConnection,
  SqlRow,
} from '../connection/sqlite-driver.ts'
import { MIGRATIONS, migrate, type SchemaMigration } from '../schema/migrations.ts'
import { rebuildDerivedData } from './integrity-check.ts'
import { CHANGE_LOG_TABLE } from './sqlite-migration-source.ts'

export type CopyProgressListener = (done: number, total: number) => void

export type CopyOptions = {
  readonly source: SqliteConnection
  /** Empty. */
  readonly target: SqliteConnection
  readonly now: number
  readonly migrations?: readonly SchemaMigration[] | undefined
  readonly onProgress?: CopyProgressListener | undefined
}

const BATCH_ROWS = 500

/** Counted from the rows again, see `rebuildTerms`; and notes of what changes, which a copy makes of its own. */
const DERIVED_TABLES: readonly string[] = ['corpus', CHANGE_LOG_TABLE]

/** Written again by `rebuildTerms`, which mends them where they were off. */
const DERIVED_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  memory: ['terms', 'terms_count', 'fingerprint'],
}

/** Copies everything in one transaction. Both must have the same schema steps; the target gets them here. */
export function copyDatabase(options: CopyOptions): void {
  const { source, target, onProgress } = options
  createSchema(target, options.now, options.migrations)
  const tables = listCanonicalTables(source)
  const total = tables.reduce((sum, table) => sum + countRows(source, table), 0)
  let done = 0
  runInTransaction(target, () => {
    target.exec('DELETE FROM migration') // copied like everything else, with the times the steps were applied
    for (const table of tables) {
      for (const batch of batches(source, table)) {
        insertRows(target, table, batch)
        done += batch.length
        onProgress?.(done, total)
      }
    }
    rebuildDerivedData(new SqliteDatabase(target))
  })
}

/** Our schema in an empty file that nobody else sees yet: safe against errors, not yet against a power cut. */
export function createSchema(
  target: SqliteConnection,
  now: number,
  migrations: readonly SchemaMigration[] = MIGRATIONS,
): void {
  target.exec(`
    PRAGMA journal_mode = MEMORY;
    PRAGMA synchronous = OFF;
    PRAGMA foreign_keys = OFF;
    PRAGMA temp_store = MEMORY;
  `)
  migrate(target, now, migrations)
}

/**
 * The last thing done to a new file before it takes its place. In WAL mode, being open is enough to keep a database
 * from being replaced. The connection runs nothing else, see `leaveNothing` in driver.ts.
 */
export async function enableWalMode(
  path: string,
  key: DatabaseKey | null,
  open: OpenConnection,
): Promise<void> {
  const connection = await open(path, key)
  try {
    connection.exec('PRAGMA journal_mode = WAL')
  } finally {
    connection.close()
  }
}

export function runInTransaction(connection: SqliteConnection, work: () => void): void {
  connection.exec('BEGIN IMMEDIATE')
  try {
    work()
    connection.exec('COMMIT')
  } catch (error) {
    try {
      connection.exec('ROLLBACK')
    } catch {
      /* SQLite has rolled back by itself; the first error is the one to show */
    }
    throw error
  }
}

/** Number of rows and a hash over all of them per table: equal for databases that hold the same. */
export function digestTables(connection: SqliteConnection): ReadonlyMap<string, string> {
  return new Map(
    listCanonicalTables(connection).map((table) => {
      const hash = createHash('sha256')
      let rows = 0
      for (const batch of batches(connection, table)) {
        rows += batch.length
        for (const row of batch) hash.update(canonical(table, row))
      }
      return [table, `${rows} rows, ${hash.digest('hex')}`]
    }),
  )
}

/** The tables that differ between two digests. */
export function compareDigests(
  a: ReadonlyMap<string, string>,
  b: ReadonlyMap<string, string>,
): readonly string[] {
  const tables = new Set([...a.keys(), ...b.keys()])
  return [...tables].filter((table) => a.get(table) !== b.get(table))
}

/** The tables that hold what cannot be derived, in an order that never changes. */
export function listCanonicalTables(connection: SqliteConnection): readonly string[] {
  return connection
    .prepare(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name`,
    )
    .all()
    .map((row) => String(row.name))
    .filter((name) => !name.startsWith('sqlite_') && !DERIVED_TABLES.includes(name))
}

export function countRows(connection: SqliteConnection, table: string): number {
  return Number(
    connection.prepare(`SELECT count(*) AS rows FROM ${quoteIdentifier(table)}`).all()[0]?.rows,
  )
}

/** The rows of a table by primary key or rowid, in batches. */
function* batches(connection: SqliteConnection, table: string): Generator<readonly SqlRow[]> {
  const isNumbered = hasRowId(connection, table)
  const key = isNumbered ? [ROWID] : keyColumns(connection, table)
  const columns = isNumbered ? `rowid AS ${ROWID}, *` : '*'
  const names = (isNumbered ? ['rowid'] : key.map(quoteIdentifier)).join(', ')
  const select = `SELECT ${columns} FROM ${quoteIdentifier(table)}`
  const order = `ORDER BY ${names} LIMIT ${BATCH_ROWS}`
  const following = connection.prepare(
    `${select} WHERE (${names}) > (${key.map(() => '?').join(', ')}) ${order}`,
  )
  let batch = connection.prepare(`${select} ${order}`).all()
  while (batch.length > 0) {
    yield batch
    const last = batch.at(-1)
    batch = following.all(...key.map((column) => last?.[column] ?? null))
  }
}

function keyColumns(connection: SqliteConnection, table: string): readonly string[] {
  return connection
    .prepare('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .all(table)
    .map((row) => String(row.name))
}

/** Rowids are copied too: the keyword indexes point at rows by theirs. */
const ROWID = 'rowid_'

function insertRows(target: SqliteConnection, table: string, rows: readonly SqlRow[]): void {
  const columns = Object.keys(rows[0] ?? {}).filter(
    (column) => column !== ROWID || !isAliased(target, table),
  )
  const names = columns.map((column) => (column === ROWID ? 'rowid' : quoteIdentifier(column)))
  const insert = target.prepare(
    `INSERT INTO ${quoteIdentifier(table)} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  )
  for (const row of rows) insert.run(...columns.map((column) => row[column] ?? null))
}

/** Whether a column of the table is its rowid under another name: then it must not be given twice. */
function isAliased(connection: SqliteConnection, table: string): boolean {
  const columns = connection
    .prepare('SELECT type, pk FROM pragma_table_info(?)')
    .all(table)
    .filter((column) => Number(column.pk) > 0)
  return columns.length === 1 && columns[0]?.type === 'INTEGER'
}

export function hasRowId(connection: SqliteConnection, table: string): boolean {
  const [row] = connection
    .prepare(`SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?`)
    .all(table)
  return row?.wr === 0
}

function canonical(table: string, row: SqlRow): string {
  const values = Object.entries(row)
    .filter(([column]) => !DERIVED_COLUMNS[table]?.includes(column))
    .map(([, value]) =>
      value instanceof Uint8Array ? ['blob', Buffer.from(value).toString('hex')] : value,
    )
  return JSON.stringify(values)
}
