import { closeSync, fsyncSync, openSync, type Stats, statSync } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { getSystemErrorCode } from './system-error.ts'

/** Until this returns, the file's content may still be lost to a power cut. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Until this returns, a rename in the folder may still be lost to a power cut. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return // folders cannot be synced there
  const file = openSync(folder, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** What a file is, whatever it is called: it changes when another file takes its path. Null when there is none. */
export function readFileIdentity(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`
}

/** The same without blocking, as far as the file system can: some refuse to sync folders. */
export async function trySyncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

export async function statOrNull(path: string): Promise<Stats | null> {
  return lstat(path).catch((error: unknown) => {
    if (getSystemErrorCode(error) === 'ENOENT' || getSystemErrorCode(error) === 'ENOTDIR')
      return null
    throw error
  })
}
