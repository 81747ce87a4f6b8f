/**
 * Vector cache in an SQLite file that several processes may share. Losing it costs time and money but no memory, so it
 * has a size limit, evicts the least recently used vectors, and is replaced when damaged.
 *
 * It holds vectors and hashes, no text. Vectors still reveal something about their texts: do not use it beside an
 * encrypted database.
 */
import { closeSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { readFileIdentity } from '../../lib/atomic-file.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import type { CacheEntry, EmbeddingCache } from './embedding-cache.ts'

export type SqliteEmbeddingCacheOptions = {
  readonly path: string
  readonly clock: Clock
  /** Size of the file, without WAL and shared memory. */
  readonly bytesMax?: number
}

const BYTES_MAX = 256 * 1024 * 1024
/** Eviction frees this share of the limit, so that not every write has to evict. */
const ROOM = 0.1
const EVICTED_AT_ONCE = 256
/** Resolution of the last use: a write per read would be slow. */
const USE_NOTED_MS = MINUTE_MS
/** Waiting longer would be slower than no cache, and blocks the process. */
const BUSY_TIMEOUT_MS = 500
const APPLICATION_ID = 0x52634563
const SCHEMA_VERSION = 1
const BYTES_PER_NUMBER = 4

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS vector (
    key BLOB NOT NULL UNIQUE,
    vector BLOB NOT NULL,
    used INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS vector_used ON vector (used);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`

type Database = InstanceType<typeof import('@photostructure/sqlite').DatabaseSync>
type CacheConnection = {
  readonly database: Database
  /** Identity of the file: another process may have replaced it. */
  readonly identity: string | null
}

/** Opens the file on first use. */
export function openSqliteEmbeddingCache(options: SqliteEmbeddingCacheOptions): EmbeddingCache {
  const { path, clock, bytesMax = BYTES_MAX } = options
  let opening: Promise<CacheConnection> | null = null
  let open: CacheConnection | null = null
  let isClosed = false
  let evicted = 0
  let startedAnew: string | null = null

  function connect(): Promise<CacheConnection> {
    if (isClosed) throw new AppError('unavailable', 'The embedding cache is closed.')
    opening ??= openConnection(path).then(
      (connection) => {
        open = connection
        return connection
      },
      (error: unknown) => {
        opening = null
        throw error
      },
    )
    return opening
  }

  /** Replaces a damaged file and retries once. */
  async function using<Result>(work: (database: Database) => Result): Promise<Result> {
    const before = readFileIdentity(path)
    let connection: CacheConnection | null = null
    try {
      connection = await connect()
      return work(connection.database)
    } catch (error) {
      if (!isCorruptionError(error)) throw error
      // Another call may have replaced the file meanwhile.
      if (connection === open) beginAnew(connection, connection?.identity ?? before)
      return work((await connect()).database)
    }
  }

  function beginAnew(connection: CacheConnection | null, damaged: string | null): void {
    if (connection !== null) disconnect()
    // Another process may have replaced the file already.
    if (readFileIdentity(path) !== damaged) return
    const aside = `${path}.damaged`
    rmSync(aside, { force: true })
    for (const companion of ['-wal', '-shm']) rmSync(path + companion, { force: true })
    renameSync(path, aside)
    startedAnew = `begun anew: the old file was damaged and is now ${basename(aside)}`
  }

  function disconnect(): void {
    const connection = open
    open = null
    opening = null
    if (connection?.database.isOpen) closeQuietly(connection.database)
  }

  function read(database: Database, keys: readonly string[]): Map<string, Float32Array> {
    const now = clock.now()
    const select = database.prepare('SELECT vector, used FROM vector WHERE key = ?')
    const found = new Map<string, Float32Array>()
    const unnoted: string[] = []
    for (const key of keys) {
      const row = select.get(keyBytes(key)) as { vector: Uint8Array; used: number } | undefined // the columns of the query
      if (row === undefined) continue
      found.set(key, toVector(row.vector))
      if (now - row.used >= USE_NOTED_MS) unnoted.push(key)
    }
    if (unnoted.length > 0) recordUse(database, unnoted, now)
    return found
  }

  function write(database: Database, entries: readonly CacheEntry[]): void {
    const now = clock.now()
    inTransaction(database, () => {
      const insert = database.prepare('INSERT OR REPLACE INTO vector VALUES (?, ?, ?)')
      for (const { key, vector } of entries) insert.run(keyBytes(key), toBytes(vector), now)
      if (bytesUsed(database) > bytesMax) evicted += evict(database, bytesMax * (1 - ROOM))
    })
  }

  return {
    get: (keys) => using((database) => read(database, keys)),
    put: (entries) => using((database) => write(database, entries)),
    clear: () => using((database) => database.exec('DELETE FROM vector; VACUUM')),
    report: () => ({
      cacheFile: startedAnew ?? (open === null ? 'not in use' : 'in use'),
      ...(open === null ? {} : { cacheFileBytes: bytesUsedOrZero(open.database) }),
      cacheFileEvictions: evicted,
    }),
    close: async () => {
      isClosed = true
      await opening?.catch(() => {})
      disconnect()
    },
  }
}

async function openConnection(path: string): Promise<CacheConnection> {
  const { DatabaseSync } = await import('@photostructure/sqlite')
  createPrivateFile(path)
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    assertOwnFile(database)
    inTransaction(database, () => database.exec(SCHEMA))
    return { database, identity: readFileIdentity(path) }
  } catch (error) {
    closeQuietly(database)
    throw error
  }
}

/** Other accounts of the machine need not read it. A file that is there is left as it is, and not even opened. */
function createPrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (getSystemErrorCode(error) !== 'EEXIST') throw error
  }
}

/** The database of another program, or of another version of this one, must not be written to. */
function assertOwnFile(database: Database): void {
  const id = pragma(database, 'application_id')
  const version = pragma(database, 'user_version')
  const isOurs = id === APPLICATION_ID && version === SCHEMA_VERSION
  const isNew = id === 0 && version === 0 && pragma(database, 'schema_version') === 0
  if (!isOurs && !isNew) throw new AppError('damaged', 'The embedding cache has an unknown schema.')
}

function recordUse(database: Database, keys: readonly string[], now: number): void {
  try {
    inTransaction(database, () => {
      const update = database.prepare('UPDATE vector SET used = ? WHERE key = ?')
      for (const key of keys) update.run(now, keyBytes(key))
    })
  } catch (error) {
    // Another process is writing; losing a use is harmless.
    if (isCorruptionError(error)) throw error
  }
}

/** Removes what was not used for longest until no more than `bytes` are in use, and says how many vectors went. */
function evict(database: Database, bytes: number): number {
  const remove = database.prepare(
    'DELETE FROM vector WHERE rowid IN (SELECT rowid FROM vector ORDER BY used, rowid LIMIT ?)',
  )
  let count = 0
  while (bytesUsed(database) > bytes) {
    const changes = Number(remove.run(EVICTED_AT_ONCE).changes)
    if (changes === 0) break
    count += changes
  }
  return count
}

function inTransaction(database: Database, work: () => void): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    work()
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function bytesUsed(database: Database): number {
  const pages = pragma(database, 'page_count') - pragma(database, 'freelist_count')
  return pages * pragma(database, 'page_size')
}

function bytesUsedOrZero(database: Database): number {
  try {
    return bytesUsed(database)
  } catch {
    return 0
  }
}

function pragma(database: Database, name: string): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<string, number>> // pragmas return one integer
  return row[name] ?? 0
}

function closeQuietly(database: Database): void {
  for (const step of [
    () => database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)'),
    () => database.close(),
  ]) {
    try {
      step()
    } catch {
      /* a damaged file can't be tidied up; others may still be using a good one */
    }
  }
}

const DAMAGE_CODES: readonly unknown[] = [11, 26]
const DAMAGE_MESSAGES = /database disk image is malformed|malformed database schema|not a database/

function isCorruptionError(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'damaged'
  if (!(error instanceof Error)) return false
  const code = 'errcode' in error ? error.errcode : 'sqliteCode' in error ? error.sqliteCode : null
  const isDamageCode = typeof code === 'number' && DAMAGE_CODES.includes(code & 0xff)
  return isDamageCode || DAMAGE_MESSAGES.test(error.message)
}

function keyBytes(key: string): Uint8Array {
  return Buffer.from(key, 'hex')
}

function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

/** A copy, because numbers must begin at a multiple of four. What is no row of numbers becomes an empty vector. */
function toVector(bytes: Uint8Array): Float32Array {
  if (bytes.byteLength % BYTES_PER_NUMBER !== 0) return new Float32Array()
  return new Float32Array(new Uint8Array(bytes).buffer)
}
