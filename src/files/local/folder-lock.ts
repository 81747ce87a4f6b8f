/**
 * A lock on a folder across all processes of the machine.
 *
 * It is SQLite's lock on an empty database. The operating system releases it when its process ends in any way, so there
 * are no stale locks to detect. The file is never removed, because two processes could then lock different files of the
 * same name.
 */
import { access, constants, lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { NEVER_ABORTED } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { Mutex } from '../../lib/mutex.ts'
import { toWriteError } from './file-errors.ts'
import { TEMPORARY_PREFIX } from './file-selection.ts'

export const LOCK_FILE = `${TEMPORARY_PREFIX}.lock`
const FIRST_PAUSE_MS = 1
const PAUSE_MAX_MS = 25
const BUSY = 5
const NO_DATABASE = 26

/** Nothing is ever written to it: neither the file nor a journal. */
const TAKE = 'PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE'

export class FolderLock {
  readonly #clock: Clock
  readonly #waitMs: number
  readonly #mutex = new Mutex()

  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock
    this.#waitMs = waitMs
  }

  /** Ordered within this process, unordered between processes. */
  async runExclusive<Result>(
    folder: () => Promise<string>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return this.#mutex.run(async () => {
      const release = await this.#take(await folder())
      try {
        return await work()
      } finally {
        release()
      }
    })
  }

  async #take(folder: string): Promise<() => void> {
    const database = await opened(folder)
    const until = this.#clock.now() + this.#waitMs
    try {
      for (
        let pause = FIRST_PAUSE_MS;
        !isTaken(database);
        pause = Math.min(PAUSE_MAX_MS, pause * 2)
      ) {
        if (this.#clock.now() >= until) throw tookTooLong(folder)
        await this.#clock.sleep(pause, NEVER_ABORTED)
      }
    } catch (error) {
      database.close()
      throw error
    }
    return () => {
      database.exec('ROLLBACK')
      database.close()
    }
  }
}

async function opened(folder: string): Promise<DatabaseSyncInstance> {
  const { DatabaseSync } = await import('@photostructure/sqlite')
  const path = join(folder, LOCK_FILE)
  const stats = await lstat(path).catch(() => null)
  if (stats?.isSymbolicLink()) {
    throw new AppError(
      'read_only',
      `${path} is a symbolic link; remove it, so that it can be locked.`,
    )
  }
  try {
    return new DatabaseSync(path, { timeout: 0 })
  } catch (error) {
    // The file system's error is more specific than SQLite's.
    await access(folder, constants.W_OK | constants.X_OK).catch((denied: unknown) => {
      throw toWriteError('', denied)
    })
    throw new AppError(
      'read_only',
      `${path} can't be opened, and so nothing is written.`,
      {},
      error,
    )
  }
}

function isTaken(database: DatabaseSyncInstance): boolean {
  try {
    database.exec(TAKE)
    return true
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
    if (code === BUSY) return false
    const reason =
      code === NO_DATABASE ? 'It contains something else; remove it.' : 'It may be read-only.'
    throw new AppError(
      'read_only',
      `${LOCK_FILE} in the workspace can't be locked. ${reason}`,
      {},
      error,
    )
  }
}

function tookTooLong(folder: string): AppError {
  return new AppError(
    'busy',
    `Another process holds the lock of ${folder}. Nothing was changed; retry shortly.`,
  )
}
