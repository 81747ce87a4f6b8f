/** Reads ZIP archives in memory: stored and deflated entries, without encryption or ZIP64. */
import { inflateRawSync } from 'node:zlib'
import { AppError } from '../../lib/errors.ts'

export type ZipEntry = {
  readonly name: string
  readonly sizeBytes: number
  /** Throws for a damaged entry, and for one that is larger than its header says. */
  read(): Uint8Array
}

const END_SIGNATURE = 0x06054b50
const ENTRY_SIGNATURE = 0x02014b50
const END_BYTES = 22
const COMMENT_BYTES_MAX = 65_535
const STORED = 0
const DEFLATED = 8

export function isZip(start: Uint8Array): boolean {
  return start[0] === 0x50 && start[1] === 0x4b && (start[2] === 3 || start[2] === 5)
}

/** Lists the files of an archive from its central directory. */
export function readZip(archive: Buffer): readonly ZipEntry[] {
  const end = findEnd(archive)
  if (end < 0) throw damaged('it has no central directory')
  const count = archive.readUInt16LE(end + 10)
  let at = archive.readUInt32LE(end + 16)
  const entries: ZipEntry[] = []
  for (let index = 0; index < count; index++) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw damaged('its central directory is invalid')
    }
    const nameLength = archive.readUInt16LE(at + 28)
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    const header = {
      isEncrypted: (archive.readUInt16LE(at + 8) & 1) === 1,
      method: archive.readUInt16LE(at + 10),
      compressed: archive.readUInt32LE(at + 20),
      sizeBytes: archive.readUInt32LE(at + 24),
      offset: archive.readUInt32LE(at + 42),
    }
    if (!name.endsWith('/')) {
      const { sizeBytes } = header
      entries.push({ name, sizeBytes, read: () => readEntry(archive, name, header) })
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return entries
}

type EntryHeader = {
  readonly isEncrypted: boolean
  readonly method: number
  readonly compressed: number
  readonly sizeBytes: number
  readonly offset: number
}

function readEntry(archive: Buffer, name: string, header: EntryHeader): Uint8Array {
  const { isEncrypted, method, compressed, sizeBytes, offset } = header
  if (isEncrypted || (method !== STORED && method !== DEFLATED)) {
    throw damaged(`${name} is encrypted or uses an unsupported compression`)
  }
  if (offset + 30 > archive.length) throw damaged(`${name} is truncated`)
  const start = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28)
  const bytes = archive.subarray(start, start + compressed)
  if (bytes.length < compressed) throw damaged(`${name} is truncated`)
  if (method === STORED) {
    // What is imported is limited by the sizes that the headers say.
    if (bytes.length !== sizeBytes) throw damaged(`${name} has another size than its header says`)
    return bytes
  }
  try {
    // The limit stops decompression bombs.
    return inflateRawSync(bytes, { maxOutputLength: Math.max(1, sizeBytes) })
  } catch (cause) {
    throw damaged(`${name} cannot be decompressed`, cause)
  }
}

/** Searches backwards, because a comment of any length may follow. */
function findEnd(archive: Buffer): number {
  const first = Math.max(0, archive.length - END_BYTES - COMMENT_BYTES_MAX)
  for (let at = archive.length - END_BYTES; at >= first; at--) {
    if (archive.readUInt32LE(at) === END_SIGNATURE) return at
  }
  return -1
}

function damaged(what: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `The ZIP archive cannot be read: ${what}.`, {}, cause)
}
