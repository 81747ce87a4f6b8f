/**
 * Encrypts a database, decrypts it, or changes its key, in place.
 *
 * A converted copy is written beside the database, compared with it, synced and renamed over it, so that the path always
 * holds one complete database: the old one or the new one. The old file stays locked until then; a process that opened it
 * meanwhile opens the new one instead (see `openGuarded`).
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
  /** The current key; ignored for a plain database. */
  readonly from: DatabaseKey | null
  /** The new key; null decrypts. */
  readonly to: DatabaseKey | null
  readonly now: () => number
  readonly onProgress?: CopyProgressListener
  readonly busyTimeoutMs?: number
  readonly migrations?: readonly SchemaMigration[]
  /** For tests that inject driver failures. */
  readonly openConnection?: OpenConnection
}

export type RekeyResult = {
  readonly kind: 'converted' | 'unchanged'
  /** Unencrypted copies beside an encrypted database: backups from before a schema migration. */
  readonly plainCopies: readonly string[]
  /** Whether the old file was overwritten. False when a hard link to it remains. */
  readonly isOldFileErased: boolean
}

const BUSY_TIMEOUT_MS = 2_000
const TEMPORARY = '.converting-'
const WIPE_BYTES = 1 << 20

/** Converts the database at `path`. Safe to repeat after an interruption or a success. */
export async function rekeyDatabase(options: RekeyOptions): Promise<RekeyResult> {
  const path = existing(options.path)
  const kind = detectFileKind(path)
  const open = options.openConnection ?? openConnection
  if (kind === 'plain' && options.to === null) return outcome('unchanged', path, options.to)
  // The database is encrypted already: with the same key, so it is done, or with another one.
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
    old = openSync(path, 'r+') // closed after the connection: closing it earlier would drop the locks of the connection
    sweep(path)
    const temporary = `${path}${TEMPORARY}${process.pid}`
    await writeCopy(source, temporary, options, open)
    copyPermissions(old, temporary)
    if (process.platform === 'win32') {
      // On Windows an open file cannot be replaced. A process that opens it before the rename makes the rename fail.
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

/** Removes files of interrupted conversions. Requires exclusive access: another conversion may use them. */
function sweep(path: string): void {
  for (const leftover of listSiblingFiles(path, TEMPORARY)) rmSync(leftover, { force: true })
}

function existing(path: string): string {
  if (readFileIdentity(path) === null) {
    throw new AppError('not_found', `There is no database at ${path}.`, { path })
  }
  const real = realpathSync(path) // renaming over a symbolic link would replace the link only
  if (isOpenInProcess(real)) throw createInUseError(path)
  return real
}

/** Copies have the newest schema, so an older database is migrated first, with a backup. */
function bringUpToDate(path: string, source: SqliteConnection, options: RekeyOptions): void {
  const migrations = options.migrations ?? MIGRATIONS
  const pending = findPendingMigrations(source, migrations)
  if (pending === null) return
  const backup = `${path}.before-schema-${pending.to}-${options.now()}`
  if (pending.from > 0) source.prepare('VACUUM INTO ?').run(backup)
  migrate(source, options.now(), migrations)
}

/**
 * Leaves WAL mode, which requires exclusive access. It checkpoints the WAL and removes `-wal` and `-shm`, which would
 * otherwise be taken for those of the new file.
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
    `The database at ${path} is in use. Stop every process that has it open, then retry.`,
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
        `The copy differs from the database in: ${differing.join(', ')}. The database was not changed.`,
      )
    }
  } finally {
    copy.close()
  }
  await enableWalMode(temporary, options.to, open)
  syncFile(temporary)
}

/** Gives the new file the owner of the old one, and access to nobody else. */
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
 * Overwrites the old file, which has no path any more. A process that waited for its lock then finds no database in it
 * and opens the new one. This also wipes the old content, as far as the disk allows. Skipped when a hard link remains.
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
    return false // the conversion itself succeeded
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
