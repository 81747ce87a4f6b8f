/** What the database adapter needs of the file system, with errors a person can act on. */
import { closeSync, fsyncSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError, type ErrorCode } from '../../../domain/errors.ts'

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

export function readStart(path: string, bytes: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(bytes)
    return start.subarray(0, readSync(file, start, 0, bytes, 0))
  } finally {
    closeSync(file)
  }
}

/** What a file is, whatever it is called: it changes when another file takes its path. Null when there is none. */
export function identityOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`
}

/** The files beside `path` whose names go on from its own with `suffix`. */
export function siblings(path: string, suffix: string): readonly string[] {
  const start = basename(path) + suffix
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(start))
    .map((name) => join(dirname(path), name))
}

const FILE_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOSPC: ['disk_full', 'there is no space left'],
  EDQUOT: ['disk_full', 'the quota is used up'],
  EACCES: ['read_only', 'access is denied'],
  EPERM: ['read_only', 'access is denied'],
  EROFS: ['read_only', 'the file system is read-only'],
  EBUSY: ['busy', 'another process uses it'],
  EIO: ['unavailable', 'the disk reports an error'],
}

/** An error of the file system as one of ours; anything else as it is. */
export function toFileError(error: unknown, path: string): unknown {
  if (error instanceof AppError || !(error instanceof Error) || !('code' in error)) return error
  const known = FILE_ERRORS[String(error.code)]
  if (known === undefined) return error
  return new AppError(
    known[0],
    `${path}: ${known[1]}.`,
    { path, reason: String(error.code) },
    error,
  )
}
