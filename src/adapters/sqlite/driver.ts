/**
 * The seam between our SQL and whichever SQLite runs it: four methods, so that the choice stays reversible.
 *
 * `@photostructure/sqlite` is the default (prebuilt for every platform, same API as Node's own). Encrypted files
 * need `better-sqlite3-multiple-ciphers`, which is optional and loaded only when a key is given.
 */
import { AppError, type ErrorCode } from '../../core/errors.ts'

export type SqlValue = string | number | null | Uint8Array
export type SqlRow = { readonly [column: string]: SqlValue }

export interface SqliteStatement {
  all(...values: readonly SqlValue[]): readonly SqlRow[]
  run(...values: readonly SqlValue[]): {
    readonly changes: number
    readonly lastInsertRowid: number
  }
}

export interface SqliteConnection {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}

/** A key as the cipher takes it: 32 bytes in hex, or a passphrase that the cipher stretches itself (Argon2id). */
export type DatabaseKey =
  | { readonly kind: 'raw'; readonly hex: string }
  | { readonly kind: 'passphrase'; readonly passphrase: string }

export type OpenConnection = (path: string, key: DatabaseKey | null) => Promise<SqliteConnection>

export const openConnection: OpenConnection = async (path, key) =>
  key === null ? openPlain(path) : openEncrypted(path, key)

async function openPlain(path: string): Promise<SqliteConnection> {
  const { DatabaseSync } = await import('@photostructure/sqlite')
  const database = mapped(() => new DatabaseSync(path))
  return {
    exec: (sql) => mapped(() => database.exec(sql)),
    prepare: (sql) => {
      const statement = mapped(() => database.prepare(sql))
      return {
        all: (...values) => mapped(() => statement.all(...values)) as SqlRow[], // no BigInt is asked for
        run: (...values) => numbersOf(mapped(() => statement.run(...values))),
      }
    },
    close: () => {
      if (database.isOpen) database.close()
    },
  }
}

async function openEncrypted(path: string, key: DatabaseKey): Promise<SqliteConnection> {
  const { default: Database } = await importCiphers()
  const database = mapped(() => new Database(path))
  try {
    mapped(() => {
      database.pragma(`cipher = 'aegis'`)
      const bytes =
        key.kind === 'raw' ? Buffer.from(`raw:${key.hex}`) : Buffer.from(key.passphrase, 'utf8')
      database.key(bytes)
    })
  } catch (error) {
    database.close()
    throw error
  }
  return {
    exec: (sql) => mapped(() => void database.exec(sql)),
    prepare: (sql) => {
      const statement = mapped(() => database.prepare(sql))
      return {
        all: (...values) => mapped(() => statement.all(...values)) as SqlRow[], // no BigInt is asked for
        run: (...values) => numbersOf(mapped(() => statement.run(...values))),
      }
    },
    close: () => void database.close(),
  }
}

/** Only what is used of the optional package, so that building does not need it installed. */
type CiphersModule = {
  readonly default: new (
    path: string,
  ) => {
    pragma(source: string): unknown
    key(key: Buffer): unknown
    exec(sql: string): unknown
    prepare(sql: string): {
      all(...values: readonly SqlValue[]): unknown[]
      run(...values: readonly SqlValue[]): RunResult
    }
    close(): unknown
  }
}

async function importCiphers(): Promise<CiphersModule> {
  const name: string = 'better-sqlite3-multiple-ciphers' // a variable, so that its types aren't looked for
  try {
    return (await import(name)) as CiphersModule
  } catch (cause) {
    const major = Number(process.versions.node.split('.')[0])
    const install =
      major >= 22
        ? 'npm install better-sqlite3-multiple-ciphers@13'
        : 'npm install better-sqlite3-multiple-ciphers@12 (compiled on Node 20, about two minutes; prebuilt on Node 22 and newer)'
    throw new AppError(
      'missing_part',
      `Encrypted databases need the package better-sqlite3-multiple-ciphers, which is not installed. Run: ${install}`,
      { package: name },
      cause,
    )
  }
}

type RunResult = { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }

function numbersOf(result: RunResult) {
  return { changes: Number(result.changes), lastInsertRowid: Number(result.lastInsertRowid) }
}

/** SQLite's primary result codes that mean something to a caller. */
const CODES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  BUSY: ['busy', 'Another process kept the database locked for too long. Try again.'],
  LOCKED: ['busy', 'Another connection kept a table locked for too long. Try again.'],
  FULL: ['disk_full', 'There is no space left for the database. Nothing of this change was kept.'],
  IOERR: ['unavailable', 'Reading or writing the database file failed.'],
  READONLY: ['read_only', 'The database file or its folder cannot be written to.'],
  CANTOPEN: ['unavailable', 'The database file could not be opened.'],
  PERM: ['read_only', 'The database file may not be accessed.'],
  CORRUPT: ['damaged', 'The database file is damaged. Run `recollect doctor --salvage`.'],
  NOTADB: ['damaged', 'The file is not a database, or its key is wrong.'],
}
const PRIMARY_CODES: Readonly<Record<number, string>> = {
  3: 'PERM',
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  26: 'NOTADB',
}

function mapped<Result>(call: () => Result): Result {
  try {
    return call()
  } catch (error) {
    const name = resultCodeOf(error)
    const known = name === undefined ? undefined : CODES[name]
    if (known === undefined) throw error
    throw new AppError(known[0], known[1], { sqlite: name ?? '' }, error)
  }
}

/** The drivers name the same code differently: a number here, `SQLITE_FULL` or `SQLITE_IOERR_WRITE` there. */
function resultCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { errcode, sqliteCode, code } = error as Record<string, unknown> // whatever the driver threw
  for (const number of [errcode, sqliteCode]) {
    if (typeof number === 'number') return PRIMARY_CODES[number & 0xff]
  }
  return typeof code === 'string' ? code.match(/^SQLITE_([A-Z]+)/)?.[1] : undefined
}
