/** File system helpers with errors that a person can act on. */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError, type ErrorCode } from '../../../lib/errors.ts'

export function readFileHeader(path: string, bytes: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(bytes)
    return start.subarray(0, readSync(file, start, 0, bytes, 0))
  } finally {
    closeSync(file)
  }
}

/** The files beside `path` whose names are its name followed by `suffix`. */
export function listSiblingFiles(path: string, suffix: string): readonly string[] {
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

/** Converts an error of the file system to an `AppError`; returns other errors unchanged. */
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
