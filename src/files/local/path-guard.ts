/**
 * What keeps every access inside a folder.
 *
 * A path is first judged by its words, then by where its symbolic links lead, and what was opened is judged once more by where
 * it really lies: between two looks at a path somebody may have put a link into it.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { AppError } from '../../lib/errors.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'

const PATH_CHARACTERS_MAX = 4_096
/** Windows has no such flags; there, links need rights that few programs have. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0 } = constants

/** The path itself, when its words alone can't lead out of a folder. */
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

/** False for what some system takes for a separator, a drive or an end. */
export function isAddressable(path: string): boolean {
  return !/[\0\\]/.test(path) && !(process.platform === 'win32' && path.includes(':'))
}

export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/**
 * Where a path really lies. Throws when a link leads out of the folder, which must be a real path itself: also when there is
 * nothing at its end, as that would tell what there is outside.
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

/** For reading. A pipe that nobody writes to doesn't block: it is opened, and then seen to be no file. */
export async function openInside(folder: string, path: string): Promise<FileHandle> {
  const target = await resolveRealPath(folder, path)
  return openReal(folder, target, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
}

/** A folder that stays the one that was judged, whatever happens to its path. Null where systems can't open folders. */
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

/** Where the system tells where an open file lies, that is the answer; else the path must still lead to the same file. */
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

/** Gone since, or never there. */
export function isMissing(error: unknown): boolean {
  return MISSING.has(getSystemErrorCode(error))
}
const MISSING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'])
