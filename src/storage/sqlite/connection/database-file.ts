/**
 * Opens databases on disk. The first bytes of a file decide how: a plain file is opened without a key, an encrypted one
 * needs its key, and a new one is encrypted if there is a key.
 *
 * Errors tell why a file cannot be opened: locked, damaged, of another program, or of a newer version. A file that cannot
 * be opened is never changed or removed.
 */
import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { readFileIdentity } from '../../../lib/atomic-file.ts'
import { AppError } from '../../../lib/errors.ts'
import { isMatchingKey, readKeyVerifier, writeKeyVerifier } from '../encryption/key-verifier.ts'
import { APPLICATION_ID } from '../schema/migrations.ts'
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../sqlite-store.ts'
import { readFileHeader } from './file-system.ts'
import {
  type DatabaseKey,
  type OpenConnection,
  openConnection,
  type SqliteConnection,
} from './sqlite-driver.ts'

/** `unknown`: the first bytes are neither those of a database nor of an encrypted one. */
export type DatabaseFileKind = 'absent' | 'empty' | 'plain' | 'encrypted' | 'unknown'

export type SqliteFileOptions = SqliteStoreOptions

const MAGIC = Buffer.from('SQLite format 3\0', 'latin1')
const START_BYTES = 24
const BUSY_TIMEOUT_MS = 5_000
const ATTEMPTS_MAX = 5

/**
 * Databases that this process has open. Their files must not be opened again to read the first bytes: POSIX locks belong
 * to the process, so closing the second handle would silently drop the locks of SQLite.
 */
const openDatabases = new Map<string, { readonly start: Buffer; count: number }>()

/** Detects the kind of a file from its first bytes. */
export function detectFileKind(path: string): DatabaseFileKind {
  return kindOf(startOf(path))
}

/** Opens the database at `path`. Creates a missing one, encrypted if there is a key. */
export async function openSqliteFile(options: SqliteFileOptions): Promise<SqliteStore> {
  if (options.path === ':memory:') return openSqliteStore({ ...options, key: null })
  for (let attempt = 1; ; attempt++) {
    const identity = readFileIdentity(options.path)
    try {
      return await openOnce(options)
    } catch (error) {
      // A conversion has just replaced the file that was opened.
      const wasReplaced = identity !== null && readFileIdentity(options.path) !== identity
      if (!wasReplaced || attempt === ATTEMPTS_MAX) throw toNamedError(error, options.path)
    }
  }
}

/** Connects to an existing database of Recollect, or to a new one, with the key that its first bytes require. */
export async function openVerifiedConnection(
  path: string,
  key: DatabaseKey | null,
  busyTimeoutMs = BUSY_TIMEOUT_MS,
  open: OpenConnection = openConnection,
): Promise<SqliteConnection> {
  const identity = readFileIdentity(path)
  const start = startOf(path)
  const needed = requireKey(path, kindOf(start), key)
  const connection = await open(path, needed).catch((error: unknown) => {
    throw toNamedError(error, path)
  })
  try {
    connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    // In WAL mode a connection holds the file from its first read on, so that nobody can replace it.
    assertOwnDatabase(path, connection)
    if (identity !== null && readFileIdentity(path) !== identity) {
      throw new AppError('busy', `The database at ${path} was just replaced. Retry.`, { path })
    }
    return connection
  } catch (error) {
    connection.close()
    if (needed !== null && isNotADatabase(error)) throw unreadable(path, needed, start, error)
    throw toNamedError(error, path)
  }
}

async function openOnce(options: SqliteFileOptions): Promise<SqliteStore> {
  const { path } = options
  const kind = kindOf(startOf(path))
  const key = requireKey(path, kind, options.key ?? null)
  let opened: SqliteConnection | null = null
  const store = await openSqliteStore({
    ...options,
    key,
    openConnection: async (at) => {
      opened = await openVerifiedConnection(at, key, options.busyTimeoutMs, options.openConnection)
      return opened
    },
  })
  const salt = key === null || opened === null ? null : cipherSalt(opened)
  if (key !== null && salt !== null && (kind === 'absent' || kind === 'empty')) {
    writeKeyVerifier(path, key, salt)
  }
  const release = registerOpenFile(path, salt)
  return {
    ...store,
    getReport: async () => {
      const report = await store.getReport()
      if (options.key == null || key !== null) return report
      const facts = { ...report.facts, key: 'given but not needed: the database is not encrypted' }
      return { ...report, facts }
    },
    close: async () => {
      await store.close()
      release()
    },
  }
}

function registerOpenFile(path: string, salt: Buffer | null): () => void {
  const identity = readFileIdentity(path) ?? path
  const start = salt === null ? MAGIC : Buffer.concat([salt, ENCRYPTED_SIGN])
  const known = openDatabases.get(identity) ?? { start, count: 0 }
  known.count++
  openDatabases.set(identity, known)
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    known.count--
    if (known.count === 0) openDatabases.delete(identity)
  }
}

/** Whether this process has the database at `path` open. */
export function isOpenInProcess(path: string): boolean {
  return openDatabases.has(readFileIdentity(path) ?? path)
}

/** The first bytes of the file; null when it is missing. */
function startOf(path: string): Buffer | null {
  const identity = readFileIdentity(path)
  if (identity === null) return null
  return openDatabases.get(identity)?.start ?? readFileHeader(path, START_BYTES)
}

/**
 * The cipher leaves bytes 16 to 23 in plain text: page size (a power of two), two format versions, 64 reserved bytes per
 * page for nonce and tag, and three numbers that the format fixes.
 */
const ENCRYPTED_SIGN = Buffer.from([0x10, 0x00, 2, 2, 64, 64, 32, 32])

function kindOf(start: Buffer | null): DatabaseFileKind {
  if (start === null) return 'absent'
  if (start.length === 0) return 'empty'
  if (start.subarray(0, 16).equals(MAGIC)) return 'plain'
  if (start.length < START_BYTES) return 'unknown'
  const pageSize = start.readUInt16BE(16)
  const isEncrypted =
    (pageSize === 1 || (pageSize >= 512 && (pageSize & (pageSize - 1)) === 0)) &&
    start.subarray(20, 24).equals(ENCRYPTED_SIGN.subarray(4))
  return isEncrypted ? 'encrypted' : 'unknown'
}

function requireKey(
  path: string,
  kind: DatabaseFileKind,
  key: DatabaseKey | null,
): DatabaseKey | null {
  if (kind === 'plain') return null
  if (kind === 'absent' || kind === 'empty') return key
  if (kind === 'unknown') {
    throw new AppError(
      'damaged',
      `The first bytes of the file at ${path} are damaged: they are neither those of a database nor of an encrypted one, ` +
        'or it is something else. `recollect doctor --salvage` recovers what is readable and keeps the file.',
      { path },
    )
  }
  if (key !== null) return key
  throw new AppError(
    'locked',
    `The database at ${path} is encrypted. Pass its key with --encryption-key-file, RECOLLECT_ENCRYPTION_KEY_FILE, RECOLLECT_ENCRYPTION_KEY or ` +
      'RECOLLECT_ENCRYPTION_PASSPHRASE.',
    { path },
  )
}

/** Distinguishes a wrong key from a damaged file, as far as possible. */
function unreadable(
  path: string,
  key: DatabaseKey,
  start: Buffer | null,
  cause: unknown,
): AppError {
  const check = readKeyVerifier(path)
  if (check !== null && isMatchingKey(check, key)) {
    return new AppError(
      'damaged',
      `The key of the database at ${path} is right, but the file is damaged and cannot be read. ` +
        '`recollect doctor --salvage` recovers what is readable and keeps the file.',
      { path },
      cause,
    )
  }
  const isAboutThisFile =
    check !== null && start?.subarray(0, check.header.length / 2).toString('hex') === check.header
  return new AppError(
    'locked',
    isAboutThisFile
      ? `The database at ${path} was encrypted with another key.`
      : `The database at ${path} cannot be opened: the key is wrong, or the beginning of the file is damaged.`,
    { path },
    cause,
  )
}

function isNotADatabase(error: unknown): boolean {
  return error instanceof AppError && error.facts.sqlite === 'NOTADB'
}

/** Rejects databases of other programs. This is also the first read, which fails for a wrong key. */
function assertOwnDatabase(path: string, connection: SqliteConnection): void {
  const [schema] = connection
    .prepare(`SELECT count(*) AS things, total(name = 'migration') AS ours FROM sqlite_schema`)
    .all()
  const [id] = connection.prepare('PRAGMA application_id').all()
  if (schema?.things === 0 || id?.application_id === APPLICATION_ID) return
  // A database whose creation was interrupted has the table `migration`, but no application id yet.
  if (id?.application_id === 0 && schema?.ours === 1) return
  throw new AppError(
    'invalid_input',
    `The file at ${path} is a database of another program. Choose another path.`,
    { path },
  )
}

function cipherSalt(connection: SqliteConnection): Buffer | null {
  const [row] = connection.prepare('PRAGMA cipher_salt').all()
  const salt = Buffer.from(String(Object.values(row ?? {})[0] ?? ''), 'hex')
  return salt.length === 16 ? salt : null
}

/** SQLite only reports that the file could not be opened; the file system tells why. */
function toNamedError(error: unknown, path: string): unknown {
  if (
    !(error instanceof AppError) ||
    !['CANTOPEN', 'READONLY'].includes(String(error.facts.sqlite))
  )
    return error
  const folder = dirname(path)
  if (readFileIdentity(folder) === null) {
    return new AppError('unavailable', `The folder ${folder} does not exist.`, { path }, error)
  }
  for (const place of [folder, path]) {
    if (readFileIdentity(place) === null || isWritable(place)) continue
    const what = `The database at ${path} cannot be opened: ${place} is not writable, and SQLite needs to write beside the file even to read it.`
    return new AppError('read_only', what, { path }, error)
  }
  return error
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
