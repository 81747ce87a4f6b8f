/** Durable files: atomic replacement, and syncing of files and folders. */
import { closeSync, fsyncSync, openSync, type Stats, statSync } from 'node:fs'
import { chmod, lstat, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { getSystemErrorCode } from './system-error.ts'

/**
 * Replaces a file by a rename, so that readers see either the old or the new content, even after a crash. The new file has
 * exactly this mode; a symbolic link at `path` is replaced and not followed.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { mode }: { readonly mode: number },
): Promise<void> {
  const temporary = `${path}.${process.pid}.part`
  try {
    await writeFile(temporary, data, { mode, flush: true })
    await chmod(temporary, mode) // the umask of the process may have removed permissions
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await trySyncFolder(dirname(path))
}

/** A power cut can lose the content of a file until it is synced. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** A power cut can undo a rename until the folder is synced. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return // Windows cannot sync folders
  const file = openSync(folder, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Like `syncFolder`, without blocking, and without failing on file systems that refuse it. */
export async function trySyncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** Identifies a file whatever its name: it changes when another file takes its path. Null when there is none. */
export function readFileIdentity(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`
}

/** Null when there is no file. Does not follow a symbolic link. */
export async function statOrNull(path: string): Promise<Stats | null> {
  return lstat(path).catch((error: unknown) => {
    const code = getSystemErrorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  })
}
