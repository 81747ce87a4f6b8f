/**
 * Puts a database that cannot be used aside, with everything that belongs to it. Nothing is ever deleted: a lost
 * key may turn up, and a better salvage may come.
 */
import { linkSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readFileIdentity, syncFolder } from '../../../lib/atomic-file.ts'
import { AppError } from '../../../lib/errors.ts'
import { getSystemErrorCode } from '../../../lib/system-error.ts'
import { isOpenInProcess } from '../connection/database-file.ts'
import { toFileError } from '../connection/file-system.ts'

/** What belongs to a database besides its file. It must be gone before another file takes the path. */
const COMPANIONS = ['-journal', '-shm', '-wal', '.key-check'] as const

/**
 * Moves the database at `path` into `quarantine/<name>-<time>` beside it and returns that folder.
 * With a `replacement`, that file takes its path at the same instant.
 */
export function quarantineDatabase(options: {
  readonly path: string
  readonly now: () => number
  readonly replacement?: string
}): string {
  const { path, replacement } = options
  if (readFileIdentity(path) === null) {
    throw new AppError('not_found', `There is no database at ${path}.`, { path })
  }
  if (isOpenInProcess(path))
    throw new AppError('busy', `The database at ${path} is in use.`, { path })
  try {
    const folder = newFolder(path, options.now())
    writeFileSync(join(folder, 'README.txt'), EXPLANATION)
    for (const companion of COMPANIONS) {
      if (readFileIdentity(path + companion) === null) continue
      renameSync(path + companion, join(folder, basename(path) + companion))
    }
    const aside = join(folder, basename(path))
    if (replacement === undefined) renameSync(path, aside)
    else replaceKeeping(path, aside, replacement)
    syncFolder(folder)
    syncFolder(dirname(path))
    return folder
  } catch (error) {
    throw toFileError(error, path)
  }
}

/** The path always holds one of the two files where hard links exist; elsewhere it is empty for an instant. */
function replaceKeeping(path: string, aside: string, replacement: string): void {
  try {
    linkSync(path, aside)
  } catch {
    renameSync(path, aside)
  }
  renameSync(replacement, path)
}

const EXPLANATION = `Recollect put this database aside because it could not be used as it was. Nothing in it was changed.
Keep it as long as you may still want something from it; nothing else needs it.
`

function newFolder(path: string, now: number): string {
  const time = new Date(now).toISOString().replaceAll(':', '-')
  const home = join(dirname(path), 'quarantine')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  for (let copy = 1; ; copy++) {
    const folder = join(home, `${basename(path)}-${time}${copy === 1 ? '' : `-${copy}`}`)
    try {
      mkdirSync(folder, { mode: 0o700 })
      return folder
    } catch (error) {
      if (getSystemErrorCode(error) !== 'EEXIST') throw error
    }
  }
}
