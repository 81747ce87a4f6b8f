/**
 * Confines file access to a folder.
 *
 * A path is checked lexically, then by the targets of its symbolic links, and an opened file is checked again by its
 * real location, because a link may have been created between the checks.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { AppError } from '../../lib/errors.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'

const PATH_CHARACTERS_MAX = 4_096
/** Windows lacks these flags; there, creating links needs special privileges. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0 } = constants

/** Returns the path if it cannot lexically leave a folder. */
export function parseRelativePath(path: string): string {
  const isSound =
    path.length <= PATH_CHARACTERS_MAX &&
    isAddressable(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (isSound) return path
  throw new AppError(
    'invalid_input',
    `${JSON.stringify(path.slice(0, 200))} is no path inside the folder. Paths are relative, with forward slashes.`,
    { field: 'path', reason: 'path' },
  )
}

/** False for separators, drives and terminators of any platform. */
export function isAddressable(path: string): boolean {
  return !/[\0\\]/.test(path) && !(process.platform === 'win32' && path.includes(':'))
}

export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/**
 * Resolves links. Throws when a link leads out of the folder, which must be a real path, even to a missing target: the
 * error must not reveal what exists outside.
 */
export async function resolveRealPath(folder: string, path: string): Promise<string> {
  try {
    const target = await realpath(join(folder, path))
    assertInside(folder, target, path)
    return target
  } catch (error) {
    if (isMissing(error) && path !== '') {
      const parent = dirname(path)
      if (parent !== '.') await resolveRealPath(folder, parent)
    }
    throw error
  }
}

export function assertInside(folder: string, target: string, path: string): void {
  if (isInside(folder, target)) return
  throw new AppError(
    'invalid_input',
    `${path} leads out of the folder by a symbolic link, and such links are not followed.`,
    { field: 'path', reason: 'link' },
  )
}

export function isOutsideError(error: unknown): boolean {
  return error instanceof AppError && error.facts.reason === 'link'
}

/** Opens for reading. Opening a pipe does not block; it is then refused because it is not a file. */
export async function openInside(folder: string, path: string): Promise<FileHandle> {
  const target = await resolveRealPath(folder, path)
  return openReal(folder, target, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
}

/** Opens a folder, so that it stays the checked one even if its path changes. Null where folders cannot be opened. */
export async function openFolderInside(folder: string, target: string): Promise<FileHandle | null> {
  if (process.platform === 'win32') return null
  return openReal(folder, target, target, O_RDONLY | O_NOFOLLOW | O_DIRECTORY)
}

async function openReal(
  folder: string,
  target: string,
  path: string,
  flags: number,
): Promise<FileHandle> {
  const handle = await open(target, flags)
  try {
    await refuseMoved(handle, folder, target, path)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Verifies by the real path of the open file where the system offers it; otherwise the path must still lead to the same
 * file.
 */
async function refuseMoved(
  handle: FileHandle,
  folder: string,
  target: string,
  path: string,
): Promise<void> {
  const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null)
  if (real !== null) {
    if (real !== target) assertInside(folder, real, path)
    return
  }
  const [again, opened] = [await realpath(target), await handle.stat({ bigint: true })]
  assertInside(folder, again, path)
  const there = await stat(again, { bigint: true })
  if (there.ino !== opened.ino || there.dev !== opened.dev) {
    throw new AppError('conflict', `${path} was replaced while it was opened. Try again.`)
  }
}

/** Missing, or removed meanwhile. */
export function isMissing(error: unknown): boolean {
  return MISSING.has(getSystemErrorCode(error))
}
const MISSING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'])
