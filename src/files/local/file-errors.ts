/** Error messages for failures of the file system. */
import { AppError, type ErrorCode, toAppError } from '../../lib/errors.ts'
import { getSystemErrorCode } from '../../lib/system-error.ts'
import type { FileProblem } from '../file.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  ENOTDIR: 'what should be a folder is a file',
  EISDIR: 'it is a folder',
  EEXIST: 'something else has the name',
  ENOTEMPTY: 'it is a folder with something in it',
  ENAMETOOLONG: 'the name is too long',
  EINVAL: 'the system does not allow it',
  ELOOP: 'it is a symbolic link that leads nowhere or in circles',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'there is no space left',
  EDQUOT: 'the quota is used up',
  EFBIG: 'it would be larger than the file system allows',
  EBUSY: 'another process uses it',
  EIO: 'the disk reports an error',
  ESTALE: 'the network drive has lost it',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
}

const ERRORS_OF_WRITING: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'not_found',
  ENOTDIR: 'invalid_input',
  EISDIR: 'invalid_input',
  EEXIST: 'invalid_input',
  ENOTEMPTY: 'invalid_input',
  ENAMETOOLONG: 'invalid_input',
  EINVAL: 'invalid_input',
  ELOOP: 'invalid_input',
  EACCES: 'read_only',
  EPERM: 'read_only',
  EROFS: 'read_only',
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EFBIG: 'disk_full',
  EBUSY: 'busy',
}

const TROUBLES: Readonly<Record<string, FileProblem['reason']>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ENAMETOOLONG: 'missing',
  // It was not a link when it was inspected.
  ELOOP: 'modified_during_read',
  EMFILE: 'failed',
  ENFILE: 'failed',
}

/** The reason why a file is unreadable. Any other error is a bug and rethrown. */
export function toFileTrouble(path: string, error: unknown): FileProblem {
  const code = getSystemErrorCode(error)
  if (!SYSTEM_CODE.test(code)) throw error
  return createFileTrouble(path, TROUBLES[code] ?? 'unreadable', REASONS[code] ?? code)
}
const SYSTEM_CODE = /^E[A-Z0-9]+$/

export function createFileTrouble(
  path: string,
  because: FileProblem['reason'],
  reason: string,
): FileProblem {
  return { path, reason: because, message: `${path === '' ? 'The folder' : path}: ${reason}.` }
}

/** The same for writing, moving and removing. */
export function toWriteError(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error
  const code = getSystemErrorCode(error)
  if (!SYSTEM_CODE.test(code)) return toAppError(error)
  const name = path === '' ? 'The folder' : path
  return new AppError(
    ERRORS_OF_WRITING[code] ?? 'unavailable',
    `${name} was not changed: ${REASONS[code] ?? code}.`,
    { path, reason: code },
    error,
  )
}
