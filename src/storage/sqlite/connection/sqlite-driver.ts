/**
 * A minimal interface to SQLite drivers, so that a driver can be replaced.
 *
 * `@photostructure/sqlite` is the default: prebuilt for every platform, with the API of `node:sqlite`. Encrypted files
 * need `better-sqlite3-multiple-ciphers`, which is optional and loaded only for them.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { listSearchTerms } from '../../../domain/searchable-text.ts'
import { AppError, type ErrorCode } from '../../../lib/errors.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import { containsFolded } from '../../../text/substring.ts'
import { MOVED_MESSAGE } from '../../migration-source.ts'

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
  /** Loads a run-time extension. Never available from SQL, so that no statement can name a file to load. */
  loadExtension?(path: string): void
  close(): void
}

/** A key of the cipher: 32 bytes in hex, or a passphrase that the cipher stretches with Argon2id. */
export type DatabaseKey =
  | { readonly kind: 'raw'; readonly hex: string }
  | { readonly kind: 'passphrase'; readonly passphrase: string }

export type OpenConnection = (path: string, key: DatabaseKey | null) => Promise<SqliteConnection>

export const openConnection: OpenConnection = async (path, key) =>
  key === null ? openPlain(path) : openEncrypted(path, key)

/** `directOnly`: a schema that a file brings along cannot call the functions. */
const FUNCTION_OPTIONS = { deterministic: true, directOnly: true }

async function openPlain(path: string): Promise<SqliteConnection> {
  const { DatabaseSync } = await import('@photostructure/sqlite')
  const database = mapped(() => new DatabaseSync(path, { allowExtension: true }))
  database.enableLoadExtension(false)
  for (const [name, call] of Object.entries(SQL_FUNCTIONS)) {
    database.function(name, FUNCTION_OPTIONS, call)
  }
  return {
    exec: (sql) => mapped(() => database.exec(sql)),
    loadExtension: (library) => {
      database.enableLoadExtension(true)
      try {
        database.loadExtension(library)
      } finally {
        database.enableLoadExtension(false)
      }
    },
    prepare: (sql) => {
      const statement = mapped(() => database.prepare(sql))
      const toRows = toNamedRows(() => statement.columns().map(({ name }) => name))
      statement.setReturnArrays(true)
      return {
        all: (...values) => toRows(mapped(() => statement.all(...values)) as SqlValue[][]), // BigInts are not enabled
        run: (...values) => numbersOf(mapped(() => statement.run(...values))),
      }
    },
    close: () => {
      if (!database.isOpen) return
      releaseConnection((sql) => database.exec(sql))
      database.close()
    },
  }
}

/** Names the values of rows. The driver would create each column name again for each row, which takes three times as long. */
export function toNamedRows(
  columns: () => readonly string[],
): (rows: readonly (readonly SqlValue[])[]) => readonly SqlRow[] {
  let names: readonly string[] = []
  let empty: SqlRow = {}
  return (rows) => {
    // A `*` selects more columns after a schema migration.
    if (rows.length > 0 && rows[0]?.length !== names.length) {
      names = columns()
      empty = Object.fromEntries(names.map((name) => [name, null]))
    }
    return rows.map((values) => {
      // Copying an object with all columns is a third faster than adding them one by one.
      const row: Record<string, SqlValue> = { ...empty }
      for (let column = 0; column < names.length; column++) {
        row[names[column] ?? ''] = values[column] ?? null
      }
      return row
    })
  }
}

/**
 * The driver never finalizes statements, so SQLite keeps a closed connection alive until they are garbage collected: with
 * its open transaction and lock, and with recent writes in the WAL. This ends the transaction and empties the WAL. The
 * shared lock on the file remains, so the same process may not be able to convert the file at once.
 */
function releaseConnection(exec: (sql: string) => void): void {
  for (const sql of ['ROLLBACK', 'PRAGMA busy_timeout = 0', 'PRAGMA wal_checkpoint(TRUNCATE)']) {
    try {
      exec(sql)
    } catch {
      /* no transaction is open, or readers are left: the last one empties the WAL */
    }
  }
}

async function openEncrypted(path: string, key: DatabaseKey): Promise<SqliteConnection> {
  const database = await openCipher(path, key)
  for (const [name, call] of Object.entries(SQL_FUNCTIONS)) {
    database.function(name, FUNCTION_OPTIONS, call)
  }
  return {
    exec: (sql) => mapped(() => void database.exec(sql)),
    loadExtension: (library) => void database.loadExtension(library),
    prepare: (sql) => {
      const statement = mapped(() => database.prepare(sql))
      // The driver treats `?1` as a named parameter, and takes those as an object.
      const bound = /\?\d/.test(sql)
        ? (values: readonly SqlValue[]) => [
            Object.fromEntries(
              values.map((value, index) => [String(index + 1), toSqlInteger(value)]),
            ),
          ]
        : (values: readonly SqlValue[]) => values.map(toSqlInteger)
      return {
        all: (...values) => mapped(() => statement.all(...bound(values))) as SqlRow[], // BigInts are not enabled
        run: (...values) => numbersOf(mapped(() => statement.run(...bound(values)))),
      }
    },
    close: () => void database.close(),
  }
}

/** The driver binds numbers as REAL; FTS5 then ignores `rowid = 1.0` and returns every row. */
function toSqlInteger(value: SqlValue): SqlValue | bigint {
  return Number.isSafeInteger(value) ? BigInt(Number(value)) : value
}

/** The used part of the optional package, so that the build does not need it installed. */
export type CipherDatabase = {
  pragma(source: string): unknown
  key(key: Buffer): unknown
  exec(sql: string): unknown
  prepare(sql: string): {
    all(...values: readonly CipherArgument[]): unknown[]
    run(...values: readonly CipherArgument[]): RunResult
  }
  loadExtension(path: string): unknown
  function(name: string, options: typeof FUNCTION_OPTIONS, call: SqlFunction): unknown
  /** The decrypted database. */
  serialize(): Buffer
  close(): unknown
}
type CipherValue = SqlValue | bigint
type CipherArgument = CipherValue | { readonly [name: string]: CipherValue }
type CiphersModule = { readonly default: new (path: string) => CipherDatabase }

/** The first 16 bytes of a new file are `salt` (in hex), or random. The first read checks the key. */
export async function openCipher(
  path: string,
  key: DatabaseKey,
  salt: string | null = null,
): Promise<CipherDatabase> {
  const { default: Database } = await importCiphers()
  const database = mapped(() => new Database(path))
  try {
    mapped(() => {
      database.pragma(`cipher = 'aegis'`)
      if (salt !== null) database.pragma(`cipher_salt = '${salt}'`)
      const bytes =
        key.kind === 'raw' ? Buffer.from(`raw:${key.hex}`) : Buffer.from(key.passphrase, 'utf8')
      database.key(bytes)
    })
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

/** Opens a database of another program that SQLCipher 4 encrypts. */
export async function openSqlcipher(
  path: string,
  key: DatabaseKey,
): Promise<ReadableCipherDatabase> {
  const { default: Database } = await importCiphers()
  const database = new Database(path)
  try {
    database.pragma(`cipher = 'sqlcipher'`)
    database.pragma('legacy = 4')
    const literal = key.kind === 'raw' ? `x'${key.hex}'` : key.passphrase
    database.pragma(`key = '${literal.replaceAll("'", "''")}'`)
    database.prepare('SELECT count(*) FROM sqlite_schema').all()
    return database as unknown as ReadableCipherDatabase // the package has `iterate` as well
  } catch (error) {
    database.close()
    const message = `${path} cannot be decrypted with this key. Pass the key that its program uses.`
    throw new AppError('locked', message, { path }, error)
  }
}

export type ReadableCipherDatabase = {
  exec(sql: string): unknown
  prepare(sql: string): {
    all(...values: readonly string[]): unknown[]
    iterate(...values: readonly string[]): IterableIterator<unknown>
  }
  close(): unknown
}

const CIPHERS = 'better-sqlite3-multiple-ciphers'
const NODE_WITH_PREBUILT_CIPHERS = 22
const NODE_MAJOR = Number(process.versions.node.split('.')[0])

/** Why this machine cannot open encrypted databases; null when it can. */
export function describeMissingCipher(): string | null {
  return describeCipherIncompatibility(NODE_MAJOR, installedCiphersVersion())
}

async function importCiphers(): Promise<CiphersModule> {
  const name: string = CIPHERS // a variable, so that TypeScript does not resolve its types
  const refusal = describeMissingCipher()
  if (refusal !== null) throw new AppError('missing_part', refusal, { package: CIPHERS })
  try {
    return (await import(name)) as CiphersModule // a version that passed the check above
  } catch (cause) {
    throw new AppError(
      'missing_part',
      `Encrypted databases need the package ${CIPHERS}, which is installed but could not be loaded. Install it again: ${installCommand(NODE_MAJOR)}`,
      { package: CIPHERS },
      cause,
    )
  }
}

/** Why the cipher package must not be loaded; null when it may. Version 13 crashes Node 20. */
export function describeCipherIncompatibility(
  nodeMajor: number,
  version: string | null,
): string | null {
  if (version === null) {
    return `Encrypted databases need the package ${CIPHERS}, which is not installed. Run: ${installCommand(nodeMajor)}`
  }
  if (Number(version.split('.')[0]) >= 13 && nodeMajor < NODE_WITH_PREBUILT_CIPHERS) {
    return (
      `Encrypted databases need Node ${NODE_WITH_PREBUILT_CIPHERS} or newer with ${CIPHERS} ${version}. ` +
      `Update Node, or run: ${installCommand(nodeMajor)}`
    )
  }
  return null
}

function installCommand(nodeMajor: number): string {
  return nodeMajor >= NODE_WITH_PREBUILT_CIPHERS
    ? `npm install ${CIPHERS}@13`
    : `npm install ${CIPHERS}@12 (it is compiled, which takes about two minutes; from Node ${NODE_WITH_PREBUILT_CIPHERS} on it comes prebuilt)`
}

function installedCiphersVersion(): string | null {
  const require = createRequire(import.meta.url)
  for (const folder of require.resolve.paths(CIPHERS) ?? []) {
    try {
      const { version } = JSON.parse(readFileSync(join(folder, CIPHERS, 'package.json'), 'utf8'))
      return typeof version === 'string' ? version : null
    } catch {
      /* not in this folder */
    }
  }
  return null
}

type RunResult = { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }

function numbersOf(result: RunResult) {
  return { changes: Number(result.changes), lastInsertRowid: Number(result.lastInsertRowid) }
}

/** Primary result codes of SQLite that callers can handle. */
const CODES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  BUSY: ['busy', 'Another process kept the database locked for too long. Retry.'],
  LOCKED: ['busy', 'Another connection kept a table locked for too long. Retry.'],
  FULL: ['disk_full', 'The disk is full. The change was not stored.'],
  IOERR: ['unavailable', 'Reading or writing the database file failed.'],
  READONLY: ['read_only', 'The database file or its folder cannot be written to.'],
  CANTOPEN: ['unavailable', 'The database file could not be opened.'],
  PERM: ['read_only', 'Access to the database file was denied.'],
  CORRUPT: ['damaged', 'The database file is damaged. Run `recollect doctor --salvage`.'],
  NOTADB: ['damaged', 'The file is not a database, or the key is wrong.'],
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
    if (error instanceof Error && error.message.startsWith(MOVED_MESSAGE)) {
      throw new AppError('read_only', error.message, { sqlite: 'CONSTRAINT' }, error)
    }
    const name = getResultCode(error)
    const known = name === undefined ? undefined : CODES[name]
    if (known === undefined) throw error
    throw new AppError(known[0], known[1], { sqlite: name ?? '' }, error)
  }
}

/** Messages of SQLite for these codes: errors while rows are read carry no code. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/database (?:schema )?is locked/, 'BUSY'],
  [/database table is locked/, 'LOCKED'],
  [/database or disk is full/, 'FULL'],
  [/disk I\/O error/, 'IOERR'],
  [/attempt to write a readonly database/, 'READONLY'],
  [/unable to open database file/, 'CANTOPEN'],
  [/access permission denied/, 'PERM'],
  [/database disk image is malformed|malformed database schema/, 'CORRUPT'],
  [/file is not a database/, 'NOTADB'],
]

function matchMessage(message: string): string | undefined {
  return MESSAGES.find(([pattern]) => pattern.test(message))?.[1]
}

/** Drivers report the same code differently: as a number, or as `SQLITE_FULL` or `SQLITE_IOERR_WRITE`. */
function getResultCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { errcode, sqliteCode, code } = error as Record<string, unknown> // whatever the driver threw
  for (const number of [errcode, sqliteCode]) {
    if (typeof number === 'number') return PRIMARY_CODES[number & 0xff]
  }
  const named = typeof code === 'string' ? code.match(/^SQLITE_([A-Z]+)/)?.[1] : undefined
  return named ?? (error instanceof Error ? matchMessage(error.message) : undefined)
}

const NO_PROVENANCE = { source: '', turns: [], extractor: null, extractorVersion: null } as const

/** Drivers derive the number of arguments from `length`: no parameter may have a default. */
export type SqlFunction = (first: SqlValue, second: SqlValue) => SqlValue

export const SQL_FUNCTIONS: Readonly<Record<string, SqlFunction>> = {
  /** Case-insensitive substring test of stored texts; the second is lowercase. SQLite itself folds ASCII only. */
  holds_lowered: (text, wanted) =>
    typeof text === 'string' &&
    typeof wanted === 'string' &&
    containsFolded(fromStorable(text), fromStorable(wanted))
      ? 1
      : 0,
  /** For an early schema step: the search terms of a turn's stored content and speaker, joined by spaces. */
  spoken_terms: (content, speaker) => {
    const name = typeof speaker === 'string' ? fromStorable(speaker) : null
    const provenance = { ...NO_PROVENANCE, speaker: name }
    return listSearchTerms({ content: fromStorable(String(content)), key: null, provenance }).join(
      ' ',
    )
  },
}
