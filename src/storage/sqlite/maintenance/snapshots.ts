/**
 * Periodic backups of a database, and restoring one of them.
 *
 * Each backup is a complete database. It gets its final name only after its integrity was checked, so any file with such
 * a name can be restored.
 */
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { syncFile, syncFolder } from '../../../lib/atomic-file.ts'
import { AppError } from '../../../lib/errors.ts'
import { openSqliteFile, openVerifiedConnection } from '../connection/database-file.ts'
import { toFileError } from '../connection/file-system.ts'
import type { DatabaseKey, SqliteConnection } from '../connection/sqlite-driver.ts'
import type { SqliteStore } from '../sqlite-store.ts'

export type Snapshot = { readonly path: string; readonly at: number }

const NAME = /^recollect-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.db$/
const UNFINISHED = '.unfinished'
const ASIDE = '.before-restore-'

/** Writes a backup, and removes the oldest ones beyond `keep`. */
export async function takeSnapshot(
  store: SqliteStore,
  folder: string,
  options: { readonly now: number; readonly keep: number; readonly key: DatabaseKey | null },
): Promise<{ readonly taken: Snapshot; readonly removed: readonly Snapshot[] }> {
  const { now, keep, key } = options
  const path = join(folder, toSnapshotName(now))
  const unfinished = `${path}${UNFINISHED}`
  try {
    removeUnfinished(folder)
    await store.backup(unfinished)
    await assertIntact(unfinished, key, now)
    syncFile(unfinished)
    renameSync(unfinished, path)
    syncFolder(folder)
  } catch (error) {
    removeWithLog(unfinished)
    throw toFileError(error, path)
  }
  const removed = listSnapshots(folder).slice(0, -keep)
  for (const old of removed) rmSync(old.path, { force: true })
  return { taken: { path, at: now }, removed }
}

/** Lists the backups in a folder, oldest first. */
export function listSnapshots(folder: string): readonly Snapshot[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const [, year, month, day, hour, minute, second, ms] = NAME.exec(name) ?? []
      const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`)
      return Number.isNaN(at) ? [] : [{ path: join(folder, name), at }]
    })
    .sort((a, b) => a.at - b.at)
}

/** The last backup taken by an instant. */
export function findSnapshotBefore(folder: string, at: number): Snapshot {
  const all = listSnapshots(folder)
  const found = all.findLast((snapshot) => snapshot.at <= at)
  if (found !== undefined) return found
  const first = all[0]
  throw new AppError(
    'not_found',
    first === undefined
      ? `The folder ${folder} holds no backup.`
      : `The oldest backup in ${folder} was taken later, at ${new Date(first.at).toISOString()}.`,
    { folder },
  )
}

/**
 * Replaces the database with a backup, after checking its integrity. The replaced database is kept beside it. Resolves to
 * its path; null when there was no database.
 */
export async function restoreSnapshot(options: {
  readonly from: string
  readonly path: string
  readonly key: DatabaseKey | null
  readonly now: number
}): Promise<string | null> {
  const { from, path, key, now } = options
  const copy = `${path}.restoring-${process.pid}`
  try {
    copyFileSync(from, copy)
    await assertIntact(copy, key, now)
    syncFile(copy)
    const aside = existsSync(path) ? await moveAside(path, key, now) : null
    renameSync(copy, path)
    syncFolder(dirname(path))
    return aside
  } catch (error) {
    removeWithLog(copy)
    throw toFileError(error, path)
  }
}

/** Throws while the database is in use. A database that cannot be opened may be replaced: that is what backups are for. */
async function moveAside(path: string, key: DatabaseKey | null, now: number): Promise<string> {
  const aside = `${path}${ASIDE}${now}`
  const connection = await openOrDamaged(path, key)
  try {
    connection?.exec('PRAGMA busy_timeout = 0')
    const [mode] = connection?.prepare('PRAGMA journal_mode = DELETE').all() ?? []
    if (mode !== undefined && mode.journal_mode !== 'delete') throw createInUseError(path)
    connection?.exec('BEGIN EXCLUSIVE')
    for (const end of ['', '-wal', '-shm']) {
      if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${aside}${end}`)
    }
  } catch (error) {
    throw error instanceof AppError && error.code === 'busy' ? createInUseError(path) : error
  } finally {
    connection?.close()
  }
  return aside
}

async function openOrDamaged(
  path: string,
  key: DatabaseKey | null,
): Promise<SqliteConnection | null> {
  try {
    return await openVerifiedConnection(path, key, 0)
  } catch (error) {
    if (error instanceof AppError && (error.code === 'damaged' || error.code === 'locked')) {
      return null
    }
    throw error
  }
}

function createInUseError(path: string): AppError {
  return new AppError(
    'busy',
    `The database at ${path} is in use. Stop every process that has it open, then retry.`,
    { path },
  )
}

async function assertIntact(path: string, key: DatabaseKey | null, now: number): Promise<void> {
  const store = await openSqliteFile({ path, key, now: () => now })
  try {
    const faults = await store.checkIntegrity({ repair: false })
    if (faults.length === 0) return
    const what = faults.map((fault) => fault.description).join('; ')
    throw new AppError('damaged', `The integrity check of the copy failed: ${what}.`, { path })
  } finally {
    await store.close()
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  }
}

/** Removes what a killed process left behind. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    const isOurs = name.endsWith(UNFINISHED) && NAME.test(basename(name, UNFINISHED))
    if (isOurs) removeWithLog(join(folder, name))
  }
}

function removeWithLog(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}

function toSnapshotName(now: number): string {
  return `recollect-${new Date(now).toISOString().replaceAll(/[-:.]/g, '')}.db`
}
