/**
 * Consistent snapshots of files.
 *
 * A snapshot is valid when size and modification time are the same after the read, and that time is old enough that a
 * further change would alter it. A file that changes later therefore never looks like its snapshot.
 */

import { isUtf8 } from 'node:buffer'
import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { NEVER_ABORTED } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { sha256 } from '../../lib/hash.ts'
import type { FileProblem } from '../file.ts'
import type { FileReadResult, FileTail } from '../file-tree.ts'
import { createTooLargeTrouble, getModifiedAt } from './directory-walk.ts'
import { createFileTrouble, toFileTrouble } from './file-errors.ts'
import { isMissing, isOutsideError, openInside } from './path-guard.ts'

/** The timestamp granularity of current file systems; with coarser ones the hash decides. */
const SETTLED_MS = 20
const READS_MAX = 6
/** The length of the hashed ranges that identify a transcript. */
const MARK_BYTES = 1_024
const LINE_BREAK = 10

export type FileReadOptions = { readonly clock: Clock; readonly fileBytesMax: number }

type FileBytes = { readonly bytes: Buffer; readonly stats: Stats }

/** `folder` is a real path. */
export async function readStableFile(
  folder: string,
  path: string,
  options: FileReadOptions,
): Promise<FileReadResult> {
  try {
    const read = await withFile(folder, path, (file) => readSettledBytes(file, path, options))
    return 'bytes' in read ? decodeFile(path, read) : { kind: 'trouble', trouble: read }
  } catch (error) {
    return {
      kind: 'trouble',
      trouble: isOutsideError(error) ? createOutsideTrouble(path) : toFileTrouble(path, error),
    }
  }
}

async function readSettledBytes(
  file: FileHandle,
  path: string,
  { clock, fileBytesMax }: FileReadOptions,
): Promise<FileBytes | FileProblem> {
  for (let reads = 0; reads < READS_MAX; reads++) {
    const before = await file.stat()
    if (!before.isFile()) return createFileTrouble(path, 'unreadable', 'it is no file')
    if (before.size > fileBytesMax) return createTooLargeTrouble(path, before.size, fileBytesMax)
    // The clock has whole milliseconds, so it may be slightly behind.
    const age = clock.now() - before.mtimeMs
    if (Math.abs(age) < SETTLED_MS) {
      await clock.sleep(SETTLED_MS - age, NEVER_ABORTED)
      continue
    }
    // Reads one byte more than expected to detect growth.
    const bytes = await readBytes(file, 0, before.size + 1, before.size)
    if (bytes.length === before.size && isSame(before, await file.stat())) {
      return { bytes, stats: before }
    }
  }
  return createFileTrouble(path, 'modified_during_read', 'it was changed each time it was read')
}

function isSame(one: Stats, other: Stats): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs
}

function decodeFile(path: string, { bytes, stats }: FileBytes): FileReadResult {
  const decoded = decodeText(bytes)
  if (decoded.kind === 'binary') {
    return { kind: 'trouble', trouble: createFileTrouble(path, 'binary', 'it is no text') }
  }
  const { text, isSound } = decoded
  return {
    kind: 'read',
    text,
    hash: hashOf(bytes),
    sizeBytes: stats.size,
    modifiedAt: getModifiedAt(stats),
    trouble: isSound
      ? null
      : createFileTrouble(
          path,
          'encoding',
          'some of its bytes are no UTF-8 and are read as \uFFFD',
        ),
  }
}

/** `bytesMax` limits one read and the length of a line. */
export async function readFileTail(
  folder: string,
  path: string,
  from: number,
  bytesMax: number,
): Promise<FileTail | null> {
  try {
    return await withFile(folder, path, async (file) => {
      const stats = await file.stat()
      if (!stats.isFile()) throw new AppError('unavailable', `${path}: it is no file.`)
      const lines = await splitLines(file, from, stats.size, bytesMax)
      const { next } = lines
      const head = await readBytes(file, 0, MARK_BYTES)
      return {
        ...lines,
        head: hashOf(head.subarray(0, next)),
        headBefore: hashOf(head.subarray(0, from)),
        foot: hashOf(await bytesBefore(file, next)),
        footBefore: hashOf(await bytesBefore(file, from)),
        sizeBytes: stats.size,
        modifiedAt: getModifiedAt(stats),
      }
    })
  } catch (error) {
    if (isMissing(error)) return null
    if (error instanceof AppError) throw error
    const { message, reason } = toFileTrouble(path, error)
    throw new AppError('unavailable', message, { path, reason }, error)
  }
}

async function bytesBefore(file: FileHandle, end: number): Promise<Buffer> {
  const start = Math.max(0, end - MARK_BYTES)
  return readBytes(file, start, end - start)
}

type TailLines = Pick<FileTail, 'text' | 'next' | 'linesLeftOut'>

async function splitLines(
  file: FileHandle,
  from: number,
  size: number,
  bytesMax: number,
): Promise<TailLines> {
  if (from > size) return { text: '', next: 0, linesLeftOut: 0 }
  const bytes = await readBytes(file, from, Math.min(size - from, bytesMax))
  const end = bytes.lastIndexOf(LINE_BREAK) + 1
  if (end > 0) {
    return { text: textOf(bytes.subarray(0, end), from), next: from + end, linesLeftOut: 0 }
  }
  const next = await nextLine(file, from + bytes.length, size, bytesMax)
  return next === null
    ? { text: '', next: from, linesLeftOut: 0 }
    : { text: '\n', next, linesLeftOut: 1 }
}

/** The end of the line at `at`; null for an incomplete line. */
async function nextLine(
  file: FileHandle,
  at: number,
  size: number,
  bytesMax: number,
): Promise<number | null> {
  for (let start = at; start < size; ) {
    const bytes = await readBytes(file, start, Math.min(size - start, bytesMax))
    const end = bytes.indexOf(LINE_BREAK)
    if (end >= 0) return start + end + 1
    if (bytes.length === 0) return null
    start += bytes.length
  }
  return null
}

/** A range of whole lines holds whole characters. */
function textOf(bytes: Buffer, from: number): string {
  const text = bytes.toString('utf8')
  return from === 0 && text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Up to `length` bytes: fewer at the end of the file or after `enough`. */
export async function readBytes(
  file: FileHandle,
  from: number,
  length: number,
  enough = length,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < enough) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

async function withFile<Result>(
  folder: string,
  path: string,
  work: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await openInside(folder, path)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

export function createOutsideTrouble(path: string): FileProblem {
  return createFileTrouble(path, 'outside_root', 'a symbolic link on its way leads out of the root')
}

function hashOf(bytes: Uint8Array): string {
  return sha256(bytes)
}

type DecodedText =
  | { readonly kind: 'text'; readonly text: string; readonly isSound: boolean }
  | { readonly kind: 'binary' }

/** UTF-8, or UTF-16 with a byte order mark, which is dropped. Text contains no NUL. */
function decodeText(bytes: Buffer): DecodedText {
  const encoding = markedEncoding(bytes)
  if (encoding !== null) return decodeAs(encoding, bytes)
  if (bytes.includes(0)) return { kind: 'binary' }
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  return { kind: 'text', text: bytes.toString('utf8', start), isSound: isUtf8(bytes) }
}

function markedEncoding(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const [first, second, third, fourth] = bytes
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  // A four-byte mark is UTF-32, which is not supported.
  const isWide = third === 0 && fourth === 0
  return first === 0xff && second === 0xfe && !isWide ? 'utf-16le' : null
}

function decodeAs(encoding: 'utf-16le' | 'utf-16be', bytes: Buffer): DecodedText {
  const text = new TextDecoder(encoding).decode(bytes)
  if (text.includes('\0')) return { kind: 'binary' }
  return { kind: 'text', text, isSound: isWellDecoded(encoding, bytes) }
}

function isWellDecoded(encoding: string, bytes: Buffer): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
