/**
 * Copies a database row by row from one connection to another, either of which may be encrypted. Canonical rows are
 * copied as they are; derived data is rebuilt.
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
  /** An empty database. */
  readonly target: SqliteConnection
  readonly now: number
  readonly migrations?: readonly SchemaMigration[] | undefined
  readonly onProgress?: CopyProgressListener | undefined
}

const BATCH_ROWS = 500

/** Corpus statistics, which `rebuildDerivedData` rebuilds, and the change log, which belongs to the source. */
const DERIVED_TABLES: readonly string[] = ['corpus', CHANGE_LOG_TABLE]

/** Columns that `rebuildDerivedData` rebuilds, and corrects where they were wrong. */
const DERIVED_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  memory: ['terms', 'terms_count', 'fingerprint'],
}

/** Copies everything in one transaction. Creates the schema of the target, which must equal that of the source. */
export function copyDatabase(options: CopyOptions): void {
  const { source, target, onProgress } = options
  createSchema(target, options.now, options.migrations)
  const tables = listCanonicalTables(source)
  const total = tables.reduce((sum, table) => sum + countRows(source, table), 0)
  let done = 0
  runInTransaction(target, () => {
    target.exec('DELETE FROM migration') // copied as well, with the times at which the steps were applied
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

/** Creates the schema in a new file that nobody else uses yet: without protection against a power cut. */
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
 * The last step before a new file replaces the database. In WAL mode an open connection keeps a database from being
 * replaced. The connection runs nothing else, see `releaseConnection` in sqlite-driver.ts.
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

/** Row count and hash per table: equal for databases with equal content. */
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

/** The tables that cannot be derived, in a stable order. */
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

/** Reads the rows of a table in batches, by rowid or primary key. */
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

/** Rowids are copied, too: the lexical index refers to rows by rowid. */
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

/** Whether a column is an alias of the rowid, which must not be written twice. */
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
