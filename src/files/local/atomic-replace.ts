/** Files are never changed, but replaced: whoever reads sees all of the old one or all of the new one, after a crash too. */
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { type FileHandle, link, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { statOrNull, trySyncFolder } from '../../lib/atomic-file.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'
import { TEMPORARY_PREFIX } from './file-selection.ts'

/** What is remembered of people is nobody else's business. */
export const NEW_FILE_MODE = 0o600

export const NEW_FOLDER_MODE = 0o700
const PERMISSIONS = 0o7777
const LEFTOVER = new RegExp(`^\\${TEMPORARY_PREFIX}-.+\\.tmp$`)

export function createTemporaryName(): string {
  return `${TEMPORARY_PREFIX}-${randomUUID()}.tmp`
}

/**
 * `before` is what the file was when its new content was decided; null where there was none. False when it is something else by
 * now: then nothing is done, as somebody's words would be lost.
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

/** The owner first: a change of owner takes some permissions away. Only root may give files away. */
async function takeAfter(file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  if (process.getuid?.() === 0) await file.chown(uid, gid)
  await file.chmod(mode & PERMISSIONS)
}

/** A second name for a file fails when there is one already; a rename would not. */
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

/** What processes left that died while they wrote. Nobody else writes while the lock is held. */
export async function removeTemporaryFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (LEFTOVER.test(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}
