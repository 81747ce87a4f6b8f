/**
 * Encrypts a database, decrypts it, or changes its key, in place.
 *
 * The copy is made beside the database, compared with it, forced to disk and then renamed over it, so that at
 * every instant the path holds one complete database: the old one or the new one. The old file stays locked
 * until then, and a process that opened it in the meantime is turned away to the new one (see `openGuarded`).
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { readFileIdentity, syncFile, syncFolder } from '../../../lib/atomic-file.ts'
import { AppError } from '../../../lib/errors.ts'
import {
  detectFileKind,
  isOpenInProcess,
  openVerifiedConnection,
} from '../connection/database-file.ts'
import { listSiblingFiles, readFileHeader, toFileError } from '../connection/file-system.ts'
import {
  type DatabaseKey,
  type OpenConnection,
  openConnection,
  type SqliteConnection,
} from '../connection/sqlite-driver.ts'
import {
  type CopyProgressListener,
  compareDigests,
  copyDatabase,
  digestTables,
  enableWalMode,
} from '../maintenance/database-copy.ts'
import {
  findPendingMigrations,
  MIGRATIONS,
  migrate,
  type SchemaMigration,
} from '../schema/migrations.ts'
import { isSameKey } from './encryption-key.ts'
import { toKeyVerifierPath, writeKeyVerifier } from './key-verifier.ts'

export type RekeyOptions = {
  readonly path: string
  /** The key it has now; null when it is not encrypted. Not used for a plain database. */
  readonly from: DatabaseKey | null
  /** The key it shall have; null to decrypt. */
  readonly to: DatabaseKey | null
  readonly now: () => number
  readonly onProgress?: CopyProgressListener
  readonly busyTimeoutMs?: number
  readonly migrations?: readonly SchemaMigration[]
  /** For tests that break the driver on purpose. */
  readonly openConnection?: OpenConnection
}

export type RekeyResult = {
  readonly kind: 'converted' | 'unchanged'
  /** Older copies beside an encrypted database that anyone can read: backups made before a schema change. */
  readonly plainCopies: readonly string[]
  /** Whether what the old file held was overwritten. Not so when another name (a hard link) still leads to it. */
  readonly isOldFileErased: boolean
}

const BUSY_TIMEOUT_MS = 2_000
const TEMPORARY = '.converting-'
const WIPE_BYTES = 1 << 20

/** Converts the database at `path`. Repeating it after it was interrupted, or after it was done, is safe. */
export async function rekeyDatabase(options: RekeyOptions): Promise<RekeyResult> {
  const path = existing(options.path)
  const kind = detectFileKind(path)
  const open = options.openConnection ?? openConnection
  if (kind === 'plain' && options.to === null) return outcome('unchanged', path, options.to)
  // Encrypting what is encrypted already: either it was done before, or the key is another one.
  const from = options.from ?? (kind === 'encrypted' ? options.to : null)
  const source = await openVerifiedConnection(
    path,
    from,
    options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    open,
  )
  let old: number | null = null
  let isAlone = false
  let isWiped = false
  try {
    if (kind === 'encrypted' && isSameKey(from, options.to)) {
      return outcome('unchanged', path, options.to)
    }
    bringUpToDate(path, source, options)
    lockExclusively(path, source)
    isAlone = true
    old = openSync(path, 'r+') // closed only after the connection: closing it would drop the connection's locks
    sweep(path)
    const temporary = `${path}${TEMPORARY}${process.pid}`
    await writeCopy(source, temporary, options, open)
    copyPermissions(old, temporary)
    if (process.platform === 'win32') {
      // An open file can't be replaced there. Whoever opens it before the rename makes the rename fail.
      source.close()
      closeSync(old)
      old = null
    }
    replace(temporary, path, options.to)
    isWiped = old !== null && eraseFile(old)
  } catch (error) {
    if (isAlone) sweep(path)
    throw toFileError(error, path)
  } finally {
    source.close()
    if (old !== null) closeSync(old)
  }
  return outcome('converted', path, options.to, isWiped)
}

/** Removes what interrupted conversions left. Only for who has the database alone: the files may be at work else. */
function sweep(path: string): void {
  for (const leftover of listSiblingFiles(path, TEMPORARY)) rmSync(leftover, { force: true })
}

function existing(path: string): string {
  if (readFileIdentity(path) === null) {
    throw new AppError('not_found', `There is no database at ${path}.`, { path })
  }
  const real = realpathSync(path) // renaming over a symbolic link would leave the database where it was
  if (isOpenInProcess(real)) throw createInUseError(path)
  return real
}

/** Copies are made with the newest schema, so an older one is migrated first, with a backup. */
function bringUpToDate(path: string, source: SqliteConnection, options: RekeyOptions): void {
  const migrations = options.migrations ?? MIGRATIONS
  const pending = findPendingMigrations(source, migrations)
  if (pending === null) return
  const backup = `${path}.before-schema-${pending.to}-${options.now()}`
  if (pending.from > 0) source.prepare('VACUUM INTO ?').run(backup)
  migrate(source, options.now(), migrations)
}

/**
 * Leaving WAL mode needs the file to oneself, moves everything from `-wal` into it and removes `-wal` and `-shm`:
 * nothing of the old file is left beside it that the new one could be mistaken to own.
 */
function lockExclusively(path: string, source: SqliteConnection): void {
  try {
    const [mode] = source.prepare('PRAGMA journal_mode = DELETE').all()
    if (mode?.journal_mode !== 'delete') throw createInUseError(path)
    source.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    throw error instanceof AppError && error.code === 'busy' ? createInUseError(path, error) : error
  }
}

function createInUseError(path: string, cause?: unknown): AppError {
  return new AppError(
    'busy',
    `The database at ${path} is in use. Stop every process that has it open, then try again.`,
    { path },
    cause,
  )
}

async function writeCopy(
  source: SqliteConnection,
  temporary: string,
  options: RekeyOptions,
  open: OpenConnection,
): Promise<void> {
  const target = await open(temporary, options.to)
  try {
    const { migrations, onProgress } = options
    copyDatabase({ source, target, now: options.now(), migrations, onProgress })
  } finally {
    target.close()
  }
  const copy = await open(temporary, options.to)
  try {
    const differing = compareDigests(digestTables(source), digestTables(copy))
    if (differing.length > 0) {
      throw new AppError(
        'internal',
        `The copy differs from the database in: ${differing.join(', ')}. The database was left as it was.`,
      )
    }
  } finally {
    copy.close()
  }
  await enableWalMode(temporary, options.to, open)
  syncFile(temporary)
}

/** The new file belongs to whom the old one did, and is open to nobody else. */
function copyPermissions(old: number, temporary: string): void {
  const { mode, uid, gid } = fstatSync(old)
  chmodSync(temporary, mode & 0o777)
  if (process.platform !== 'win32' && process.getuid?.() === 0) chownSync(temporary, uid, gid)
}

function replace(temporary: string, path: string, key: DatabaseKey | null): void {
  const header = readFileHeader(temporary, 16)
  renameSync(temporary, path)
  syncFolder(dirname(path))
  if (key === null) rmSync(toKeyVerifierPath(path), { force: true })
  else writeKeyVerifier(path, key, header)
}

/**
 * Overwrites the old file, which no path leads to any more. A process that was waiting for its lock then finds no
 * database and opens the new one, instead of writing where nobody will look. It also wipes the old text as far as
 * the disk lets us. Not done when another name still leads to it (a hard link).
 */
function eraseFile(old: number): boolean {
  try {
    const { nlink, size } = fstatSync(old)
    if (nlink > 0) return false
    const zeros = Buffer.alloc(WIPE_BYTES)
    for (let at = 0; at < size; at += WIPE_BYTES) {
      writeSync(old, zeros, 0, Math.min(WIPE_BYTES, size - at), at)
    }
    fsyncSync(old)
    return true
  } catch {
    return false // the conversion itself is done
  }
}

function outcome(
  kind: RekeyResult['kind'],
  path: string,
  key: DatabaseKey | null,
  isOldFileWiped = false,
): RekeyResult {
  const copies = key === null ? [] : listSiblingFiles(path, '.before-schema-')
  const plainCopies = copies.filter((copy) => detectFileKind(copy) === 'plain')
  return { kind, plainCopies, isOldFileErased: isOldFileWiped }
}
