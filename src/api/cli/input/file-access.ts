/** Files that commands read and write. Written files appear under their name only when they are complete. */
import { link, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError, type ErrorCode } from '../../../lib/errors.ts'
import { getSystemErrorCode } from '../../../lib/system-error.ts'

const BUFFERED_CHARACTERS = 256 * 1024

/** Writes the lines and returns their number. A failure leaves an existing file unchanged. */
export async function writeLinesAtomically(
  path: string,
  lines: AsyncIterable<string>,
  options: { readonly replace: boolean },
): Promise<number> {
  const target = resolve(path)
  await refuseExisting(target, options.replace)
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.part`)
  try {
    const written = await write(temporary, lines)
    if (options.replace) await rename(temporary, target)
    else await moveToFree(temporary, target)
    return written
  } catch (error) {
    await rm(temporary, { force: true })
    throw toFileError(error, path)
  }
}

async function write(path: string, lines: AsyncIterable<string>): Promise<number> {
  const file = await open(path, 'w', 0o600)
  try {
    let count = 0
    let buffered = ''
    for await (const line of lines) {
      count++
      buffered += `${line}\n`
      if (buffered.length < BUFFERED_CHARACTERS) continue
      await file.appendFile(buffered)
      buffered = ''
    }
    await file.appendFile(buffered)
    await file.sync()
    return count
  } finally {
    await file.close()
  }
}

/** Creates a link, because a rename would replace a file created meanwhile. */
async function moveToFree(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (getSystemErrorCode(error) === 'EEXIST') throw exists(to)
    await refuseExisting(to, false)
    await rename(from, to) // a file system without links
    return
  }
  await rm(from)
}

async function refuseExisting(path: string, replace: boolean): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) {
    throw new AppError('invalid_input', `${path} is a folder; a file name is required.`, { path })
  }
  if (found !== null && !replace) throw exists(path)
}

function exists(path: string): AppError {
  return new AppError('conflict', `${path} already exists. Use --force to overwrite it.`, { path })
}

/** The text of a small file without its trailing line end. */
export async function readSecretFile(path: string): Promise<string> {
  return (await readTextFile(path)).replace(/\r?\n$/, '')
}

export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw toFileError(error, path)
  }
}

const FILE_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['not_found', 'No such file or folder:'],
  ENOTDIR: ['not_found', 'No such file or folder:'],
  EACCES: ['read_only', 'Access is denied:'],
  EPERM: ['read_only', 'Access is denied:'],
  EROFS: ['read_only', 'The file system is read-only:'],
  ENOSPC: ['disk_full', 'No space left to write'],
  EDQUOT: ['disk_full', 'Disk quota exceeded: cannot write'],
}

export function toFileError(error: unknown, path: string): unknown {
  const known = FILE_ERRORS[getSystemErrorCode(error)]
  if (known === undefined) return error
  return new AppError(known[0], `${known[1]} ${path}.`, { path }, error)
}
