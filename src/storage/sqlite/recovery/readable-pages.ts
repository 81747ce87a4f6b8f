/**
 * Gets the readable pages out of a damaged database file, working on a copy. For encrypted files the cipher must
 * do the reading, and it gives up at the first page that it cannot decrypt; such pages are therefore replaced, in
 * the copy, by pages of an empty database with the same key.
 */
import {
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { AppError } from '../../../lib/errors.ts'
import { readFileHeader } from '../connection/file-system.ts'
import {
  type DatabaseKey,
  openCipher,
  openConnection,
  type SqliteConnection,
} from '../connection/sqlite-driver.ts'
import { PAGE_BYTES } from '../schema/migrations.ts'
import { type DatabasePages, parsePages } from './btree-pages.ts'

export type ReadablePages = {
  readonly pages: DatabasePages
  /** False when the first page is lost, and with it the schema and what is in use. */
  readonly hasFirstPage: boolean
  /** Whether recent writes that were still beside the file could be added to it. */
  readonly hasWalFrames: boolean
}

const CIPHER_RESERVED_BYTES = 64
/** Each replaced page costs one more reading of the file; zeroed pages are recognised beforehand. */
const REPLACED_PAGES_MAX = 500

/** Reads the copy of a database at `path`, which is changed by it; `salt` is its cipher's, in hex. */
export async function readReadablePages(
  path: string,
  key: DatabaseKey | null,
  salt: string | null,
): Promise<ReadablePages> {
  padToPages(path)
  const hadWal = statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined
  const hasFirstPage = (await growUntilAccepted(path, key)) !== 'NOTADB'
  const donor = `${path}-donor`
  try {
    if (key !== null || !hasFirstPage) await writeDonor(donor, key, salt, pageCount(path))
    if (!hasFirstPage) replaceFirstPage(path, donor)
    const hasRecentWrites = !hadWal || (await applyWal(path, key))
    const pages = key === null ? plainPages(path) : await decryptedPages(path, key, donor)
    return { pages, hasFirstPage, hasWalFrames: hasRecentWrites }
  } finally {
    rmSync(donor, { force: true })
  }
}

/**
 * SQLite refuses a file that is shorter than its first page says. Growing the copy by empty pages gets past that;
 * how many are needed can only be tried, because the first page may be encrypted.
 */
async function growUntilAccepted(path: string, key: DatabaseKey | null): Promise<string | null> {
  const count = pageCount(path)
  for (const factor of [1, 2, 4, 8, 16, 32]) {
    truncateSync(path, count * factor * PAGE_BYTES)
    const fault = await classifyFault(path, key)
    if (fault !== 'CORRUPT') return fault
  }
  truncateSync(path, count * PAGE_BYTES)
  return 'NOTADB' // whatever else is wrong with the first page, it is of no use
}

function plainPages(path: string): DatabasePages {
  return parsePages(readFileSync(path), PAGE_BYTES, 0)
}

/** A file that was cut off in the middle of a page. */
function padToPages(path: string): void {
  const { size } = statSync(path)
  if (size % PAGE_BYTES !== 0) truncateSync(path, Math.ceil(size / PAGE_BYTES) * PAGE_BYTES)
}

function pageCount(path: string): number {
  return statSync(path).size / PAGE_BYTES
}

async function applyWal(path: string, key: DatabaseKey | null): Promise<boolean> {
  let connection: SqliteConnection | null = null
  try {
    connection = await openConnection(path, key)
    const [result] = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
    return result?.busy === 0
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'damaged') throw error
    return false
  } finally {
    connection?.close()
  }
}

/** SQLite's name for what is wrong with the beginning of the file; null when nothing is. */
async function classifyFault(path: string, key: DatabaseKey | null): Promise<string | null> {
  let connection: SqliteConnection | null = null
  try {
    connection = await openConnection(path, key)
    connection.prepare('PRAGMA schema_version').all()
    return null
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'damaged') throw error
    return String(error.facts.sqlite)
  } finally {
    connection?.close()
  }
}

/** An otherwise empty database of `count` pages that the same key opens. */
async function writeDonor(
  path: string,
  key: DatabaseKey | null,
  salt: string | null,
  count: number,
): Promise<void> {
  const connection =
    key === null ? await openConnection(path, null) : await openCipher(path, key, salt)
  try {
    connection.exec(`
      PRAGMA journal_mode = OFF;
      PRAGMA synchronous = OFF;
      CREATE TABLE filler (bytes BLOB);
    `)
    const insert = connection.prepare('INSERT INTO filler VALUES (zeroblob(?))')
    for (let pages = 2; pages < count; ) {
      insert.run(Math.max(1, count - pages - 8) * (PAGE_BYTES - 200))
      pages = Number(Object.values(connection.prepare('PRAGMA page_count').all()[0] ?? {})[0])
    }
    // The copy is opened like the original was, with its recent writes beside it.
    connection.exec('PRAGMA journal_mode = WAL')
  } finally {
    connection.close()
  }
}

function replaceFirstPage(path: string, donor: string): void {
  overwrite(path, readFileHeader(donor, PAGE_BYTES))
}

async function decryptedPages(
  path: string,
  key: DatabaseKey,
  donor: string,
): Promise<DatabasePages> {
  const raw = readFileSync(path)
  const spare = readFileSync(donor)
  const count = raw.length / PAGE_BYTES
  const lost = new Set<number>()
  const lose = (number: number) => {
    lost.add(number)
    spare.copy(raw, (number - 1) * PAGE_BYTES, (number - 1) * PAGE_BYTES, number * PAGE_BYTES)
  }
  for (let number = 2; number <= count; number++) if (isZero(raw, number)) lose(number)
  let bytes: Buffer = raw
  for (let from = 1, round = 0; round < REPLACED_PAGES_MAX; round++) {
    overwrite(path, raw)
    bytes = await decrypt(path, key)
    // Behind the first page that cannot be decrypted everything comes back empty.
    const end = Math.min(count, bytes.length / PAGE_BYTES)
    let stop = from
    while (stop <= end && (lost.has(stop) || !isZero(bytes, stop))) stop++
    if (stop > end) break
    lose(stop)
    from = stop + 1
  }
  for (const number of lost) pageOf(bytes, number).fill(0)
  return parsePages(bytes, PAGE_BYTES, CIPHER_RESERVED_BYTES)
}

async function decrypt(path: string, key: DatabaseKey): Promise<Buffer> {
  const database = await openCipher(path, key)
  try {
    return database.serialize()
  } finally {
    database.close()
  }
}

function overwrite(path: string, bytes: Buffer): void {
  const file = openSync(path, 'r+')
  try {
    writeSync(file, bytes, 0, bytes.length, 0)
  } finally {
    closeSync(file)
  }
}

function isZero(bytes: Buffer, number: number): boolean {
  return pageOf(bytes, number).every((byte) => byte === 0)
}

/** Empty beyond the end. */
function pageOf(bytes: Buffer, number: number): Buffer {
  return bytes.subarray((number - 1) * PAGE_BYTES, number * PAGE_BYTES)
}
