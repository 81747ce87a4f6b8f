/** Replaces files atomically: readers see all of the old or all of the new content, even after a crash. */
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { type FileHandle, link, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { statOrNull, trySyncFolder } from '../../lib/atomic-file.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'
import { TEMPORARY_PREFIX } from './file-selection.ts'

/** Memories are private, so only the owner of the file may read it. */
export const NEW_FILE_MODE = 0o600

export const NEW_FOLDER_MODE = 0o700
const PERMISSIONS = 0o7777
const LEFTOVER = new RegExp(`^\\${TEMPORARY_PREFIX}-.+\\.tmp$`)

export function createTemporaryName(): string {
  return `${TEMPORARY_PREFIX}-${randomUUID()}.tmp`
}

/**
 * `before` is the state that the new content was derived from; null for a missing file. False when the file has changed
 * since: replacing it would lose that change.
 */
export async function replaceFile(
  folder: string,
  name: string,
  bytes: Uint8Array,
  before: Stats | null,
): Promise<boolean> {
  const temporary = join(folder, createTemporaryName())
  const target = join(folder, name)
  try {
    await writeWhole(temporary, bytes, before)
    if (before === null) return await putIfFree(temporary, target)
    if (!isSame(before, await statOrNull(target))) return false
    await rename(temporary, target)
    return true
  } finally {
    await rm(temporary, { force: true })
    await trySyncFolder(folder)
  }
}

async function writeWhole(path: string, bytes: Uint8Array, like: Stats | null): Promise<void> {
  const file = await open(path, 'wx', NEW_FILE_MODE)
  try {
    await file.writeFile(bytes)
    if (like !== null) await takeAfter(file, like)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Sets the owner first, because that resets some permissions. Only root may change owners. */
async function takeAfter(file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  if (process.getuid?.() === 0) await file.chown(uid, gid)
  await file.chmod(mode & PERMISSIONS)
}

/** Creating a link fails when the target exists; a rename would replace it. */
async function putIfFree(temporary: string, target: string): Promise<boolean> {
  try {
    await link(temporary, target)
    return true
  } catch (error) {
    const code = getSystemErrorCode(error)
    if (code === 'EEXIST') return false
    if (!WITHOUT_LINKS.has(code)) throw error
    if ((await statOrNull(target)) !== null) return false
    await rename(temporary, target)
    return true
  }
}
const WITHOUT_LINKS: ReadonlySet<string> = new Set([
  ...['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'],
])

function isSame(before: Stats, now: Stats | null): boolean {
  return (
    now !== null &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtimeMs === before.mtimeMs
  )
}

/** Removes temporary files of crashed writers. The lock excludes live ones. */
export async function removeTemporaryFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (LEFTOVER.test(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}
