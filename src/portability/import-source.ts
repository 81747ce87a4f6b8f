/** Opens an import source: detects its format and returns its lines or records. */
import { createReadStream, createWriteStream, existsSync, rmSync, type Stats } from 'node:fs'
import { mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError, type ErrorCode } from '../lib/errors.ts'
import { type Fields, isObject, parseJson } from '../lib/json.ts'
import { decodeLines, decodeUtf8 } from '../lib/utf8-lines.ts'
import { readChatgpt } from './importers/chatgpt.ts'
import { readClaude } from './importers/claude.ts'
import {
  type ForeignDatabase,
  type ForeignDatabaseKey,
  type OpenCipherDatabase,
  openForeignDatabase,
} from './importers/foreign-database.ts'
import { type ImportRecord, parseImportItem } from './importers/foreign-record.ts'
import {
  DETECTION_BYTES,
  detectFormat,
  detectTableFormat,
  IMPORT_FORMATS,
  type ImportFormat,
  isSqlite,
} from './importers/format-detection.ts'
import {
  isHindsightArchive,
  readHindsight,
  readHindsightArchive,
} from './importers/frameworks/hindsight.ts'
import { readLangmem } from './importers/frameworks/langmem.ts'
import { readLetta } from './importers/frameworks/letta.ts'
import { readZep } from './importers/frameworks/zep.ts'
import { readMarkdown } from './importers/markdown.ts'
import { readMem0 } from './importers/mem0.ts'
import { OMNIROUTE_TABLES, readOmniroute } from './importers/omniroute.ts'
import { OPENCLAW_TABLES, parsePluginMemory } from './importers/openclaw.ts'
import { OSAURUS_TABLES } from './importers/osaurus.ts'
import { parsePolyantMemory, readPolyant } from './importers/polyant.ts'
import { readGraph, readGraphLine } from './importers/server-memory.ts'
import { readOpenclawSettings, readOsaurusSettings } from './importers/source-settings.ts'
import { isZip, readZip } from './importers/zip-archive.ts'

/** Larger files would be held in memory several times. */
export const IN_MEMORY_IMPORT_BYTES_MAX = 100 * 1024 * 1024

export type ImportSource = {
  /** A file, a folder, the URL of a database, or a stream with a name for messages. */
  readonly source: string | { readonly bytes: AsyncIterable<Uint8Array>; readonly name: string }
  /** The format, where detection is not possible. */
  readonly from?: string
  /** Called with the number of bytes read so far, of `sizeBytes`. */
  readonly onBytes?: (bytes: number) => void
  /** Asked for when the source is an encrypted database. Null: there is no key. */
  readonly getKey?: () => Promise<ForeignDatabaseKey | null>
}

export type ImportReader = {
  readonly format: ImportFormat
  /** Null where it is unknown. */
  readonly sizeBytes: number | null
  /** Closes the source; a stream that was read to its end is closed already. */
  close(): void
} & (
  | { readonly kind: 'lines'; readonly lines: AsyncIterable<string> }
  | {
      readonly kind: 'records'
      /** Can be iterated again, except for records of a stream of lines. */
      readonly records: AsyncIterable<ImportRecord>
      /** The modification time of the file; null where unknown. */
      readonly observedAt: number | null
    }
)

/** Access to databases that need an optional package. */
export type ForeignDatabaseDrivers = {
  readonly openCipher: OpenCipherDatabase
  /** The rows of the table `memories` in a LanceDB folder, without vectors. */
  readonly readLanceTable: (folder: string) => AsyncIterable<Fields>
  /** The rows of the table `memories` of a PostgreSQL database, read in a read-only transaction. */
  readonly readPostgresTable: (url: string) => AsyncIterable<Fields>
  /** Throws for the database that this process has open. */
  readonly assertNotInUse: (path: string) => void
}

/** For engines that were created without an application: files are imported, databases of other systems are not. */
const NO_DRIVERS: ForeignDatabaseDrivers = {
  openCipher: () => Promise.reject(missingDriver()),
  readLanceTable: () => {
    throw missingDriver()
  },
  readPostgresTable: () => {
    throw missingDriver()
  },
  assertNotInUse: () => {},
}

function missingDriver(): AppError {
  return new AppError('missing_part', 'This engine was created without drivers for this database.')
}

/** The distinct owners that the records name. */
export async function listSourceOwners(reader: ImportReader): Promise<ReadonlySet<string>> {
  const owners = new Set<string>()
  if (reader.kind === 'lines' || reader.format === 'server-memory') return owners
  for await (const record of reader.records) {
    if (record.kind !== 'fault' && record.owner != null) owners.add(record.owner)
  }
  return owners
}

const POSTGRES_URL = /^postgres(?:ql)?:\/\//

export async function openImport(
  input: ImportSource,
  drivers: ForeignDatabaseDrivers = NO_DRIVERS,
): Promise<ImportReader> {
  const { source } = input
  const wanted = input.from === undefined ? null : parseFormat(input.from)
  if (typeof source === 'string' && POSTGRES_URL.test(source)) {
    return rowsReader(
      'polyant-postgres',
      () => drivers.readPostgresTable(source),
      parsePolyantMemory,
    )
  }
  const file = typeof source === 'string' ? await fileAt(source, drivers) : null
  if (typeof source === 'string' && file?.isDirectory() === true) {
    return openFolder(source, wanted, drivers)
  }
  const name = typeof source === 'string' ? basename(source) : source.name
  const { start, bytes } = await peekLines(
    typeof source === 'string' ? readFile(source) : source.bytes,
  )
  if (isSqlite(start) || wanted?.endsWith('-sqlite') === true) {
    const options = { wanted, file, drivers, getKey: input.getKey }
    if (typeof source !== 'string') return openSpooled(bytes, options)
    await bytes.return(undefined)
    return openDatabase(source, options)
  }
  if (isZip(start)) return openArchive(await wholeBytes(bytes, name), name, wanted, file)
  const format = wanted ?? detectFormat(start, name)
  if (format === null) {
    await bytes.return(undefined)
    throw unknownFormat(name, start)
  }
  const counted = countBytes(bytes, input.onBytes)
  const common = {
    format,
    sizeBytes: file?.size ?? null,
    close: () => void bytes.return(undefined),
  }
  if (format === 'recollect' || format === 'recollect-encrypted') {
    return { ...common, kind: 'lines', lines: decodeLines(counted, name) }
  }
  const isWhole = format !== 'server-memory' || isOneObject(start)
  if (isWhole && file !== null) refuseTooLarge(file.size, name)
  const read = detectReader(format, start)(counted, name)
  const records = isWhole ? repeatable(read) : read
  return { ...common, kind: 'records', records, observedAt: file?.mtimeMs ?? null }
}

/** Keeps the records of a file that is in memory anyway, so that they can be read twice. */
function repeatable(records: AsyncIterable<ImportRecord>): AsyncIterable<ImportRecord> {
  let collected: Promise<readonly ImportRecord[]> | null = null
  return {
    async *[Symbol.asyncIterator]() {
      collected ??= collect(records)
      yield* await collected
    },
  }
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

function rowsReader(
  format: ImportFormat,
  rows: () => AsyncIterable<Fields>,
  parse: (row: Fields, at: number) => ImportRecord,
): ImportReader {
  const records = {
    async *[Symbol.asyncIterator]() {
      let at = 0
      for await (const row of rows()) {
        at++
        const number = at
        yield* parseImportItem(number, () => parse(row, number))
      }
    },
  }
  return { kind: 'records', format, records, sizeBytes: null, observedAt: null, close: () => {} }
}

/** The only folders with a format of their own are those of LanceDB. */
function openFolder(
  path: string,
  wanted: ImportFormat | null,
  drivers: ForeignDatabaseDrivers,
): ImportReader {
  const isLance = path.endsWith('.lance') || existsSync(join(path, 'memories.lance'))
  if (wanted !== 'openclaw-lancedb' && !isLance) {
    throw new AppError(
      'invalid_input',
      `${path} is a folder that is not a LanceDB database. Import a file, or add a folder of notes with \`recollect files add\`.`,
      { path },
    )
  }
  const folder = path.endsWith('.lance') ? dirname(path) : path
  return rowsReader('openclaw-lancedb', () => drivers.readLanceTable(folder), parsePluginMemory)
}

/** Data exports come as archives with one file of interest; a Hindsight archive has one for each document. */
function openArchive(
  archive: Buffer,
  name: string,
  wanted: ImportFormat | null,
  file: Stats | null,
): ImportReader {
  const entries = readZip(archive)
  const total = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (wanted === 'hindsight' || (wanted === null && isHindsightArchive(entries))) {
    refuseTooLarge(total, name)
    const records = repeatable(toAsync(() => readHindsightArchive(entries)))
    return archiveReader('hindsight', records, file)
  }
  const entry = entries.find((each) => /(?:^|\/)conversations\.json$/.test(each.name))
  if (entry === undefined) {
    throw new AppError(
      'invalid_input',
      `${name} is an archive without a file that can be imported. Unpack it and import a file from it.`,
    )
  }
  refuseTooLarge(entry.sizeBytes, entry.name)
  const bytes = entry.read()
  const format = wanted ?? detectFormat(bytes, entry.name)
  if (format === null) throw unknownFormat(entry.name, bytes)
  const read = detectReader(format, bytes)(
    toAsync(() => [bytes]),
    entry.name,
  )
  return archiveReader(format, repeatable(read), file)
}

function archiveReader(
  format: ImportFormat,
  records: AsyncIterable<ImportRecord>,
  file: Stats | null,
): ImportReader {
  const [sizeBytes, observedAt] = [file?.size ?? null, file?.mtimeMs ?? null]
  return { kind: 'records', format, records, sizeBytes, observedAt, close: () => {} }
}

async function* toAsync<Item>(items: () => Iterable<Item>): AsyncGenerator<Item> {
  yield* items()
}

type Bytes = AsyncIterable<Uint8Array>
type Reader = (bytes: Bytes, name: string) => AsyncIterable<ImportRecord>

function detectReader(format: ImportFormat, start: Uint8Array): Reader {
  switch (format) {
    case 'omniroute-json':
      return ofJson(readOmniroute)
    case 'mem0':
      return ofJson(readMem0)
    case 'chatgpt':
      return ofJson(readChatgpt)
    case 'claude':
      return ofJson(readClaude)
    case 'polyant':
      return ofJson(readPolyant)
    case 'letta':
      return ofJson(readLetta)
    case 'hindsight':
      return ofJson(readHindsight)
    case 'zep':
      return ofJson(readZep)
    case 'langmem':
      return ofJson(readLangmem)
    case 'osaurus-settings':
      return ofJson((value) => [readOsaurusSettings(value)])
    case 'openclaw-settings':
      return ofJson((value) => [readOpenclawSettings(value)])
    case 'server-memory':
      return isOneObject(start) ? ofJson(readGraph) : ofGraphLines
    case 'markdown':
      return async function* (bytes, name) {
        yield* readMarkdown(await wholeText(bytes, name))
      }
    default:
      throw new AppError('internal', `The format ${format} cannot be read from text.`)
  }
}

/** A graph as one object, rather than one entity or relation per line. */
function isOneObject(start: Uint8Array): boolean {
  const first = parseJson(Buffer.from(start).toString('utf8').trimStart().split('\n', 1)[0] ?? '')
  return !isObject(first) || !Object.hasOwn(first, 'type')
}

function ofJson(parse: (value: unknown) => Iterable<ImportRecord>): Reader {
  return async function* (bytes, name) {
    const text = await wholeText(bytes, name)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (cause) {
      throw new AppError('invalid_input', `${name} is not valid JSON, or is truncated.`, {}, cause)
    }
    yield* parse(value)
  }
}

async function* ofGraphLines(bytes: Bytes, name: string): AsyncGenerator<ImportRecord> {
  let at = 0
  for await (const line of decodeLines(bytes, name)) {
    at++
    if (line.trim() !== '') yield* readGraphLine(parseJson(line), at)
  }
}

async function wholeText(bytes: Bytes, name: string): Promise<string> {
  const whole = await wholeBytes(bytes, name)
  return decodeUtf8(() => new TextDecoder('utf-8', { fatal: true }).decode(whole), name)
}

async function wholeBytes(bytes: Bytes, name: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    refuseTooLarge(size, name)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function refuseTooLarge(bytes: number, name: string): void {
  if (bytes <= IN_MEMORY_IMPORT_BYTES_MAX) return
  const limit = `${IN_MEMORY_IMPORT_BYTES_MAX / 1024 / 1024} MB`
  throw new AppError(
    'too_large',
    `${name} is larger than ${limit}, and files of this kind are read as a whole. Split it into several files.`,
    { bytes: IN_MEMORY_IMPORT_BYTES_MAX },
  )
}

const DATABASES = {
  'omniroute-sqlite': OMNIROUTE_TABLES,
  'osaurus-sqlite': OSAURUS_TABLES,
  'openclaw-sqlite': OPENCLAW_TABLES,
} as const

/** A database needs a file: a streamed one is read from a private temporary copy. */
async function openSpooled(bytes: Bytes, options: DatabaseOptions): Promise<ImportReader> {
  const folder = await mkdtemp(join(tmpdir(), 'recollect-import-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const path = join(folder, 'upload.sqlite')
    await pipeline(bytes, createWriteStream(path, { mode: 0o600 }))
    const reader = await openDatabase(path, options)
    return {
      ...reader,
      close: () => {
        reader.close()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

type DatabaseOptions = {
  readonly wanted: ImportFormat | null
  readonly file: Stats | null
  readonly drivers: ForeignDatabaseDrivers
  readonly getKey: ImportSource['getKey']
}

async function openDatabase(
  path: string,
  { wanted, file, drivers, getKey }: DatabaseOptions,
): Promise<ImportReader> {
  const database = await openForeignDatabase(path, {
    openCipher: drivers.openCipher,
    ...(getKey === undefined ? {} : { getKey }),
  })
  try {
    const format = wanted ?? detectTableFormat(database.tables)
    if (format === null || !Object.hasOwn(DATABASES, format)) {
      throw new AppError(
        'invalid_input',
        `${basename(path)} is a database of an unknown kind. Supported: ${Object.keys(DATABASES).join(', ')}.`,
        { path },
      )
    }
    return {
      kind: 'records',
      format,
      records: databaseRecords(database, DATABASES[format as keyof typeof DATABASES]), // checked above
      sizeBytes: file?.size ?? null,
      observedAt: file?.mtimeMs ?? null,
      close: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error
  }
}

type TableReader = {
  readonly required: readonly string[]
  readonly optional: readonly string[]
  readonly read: (row: Fields, at: number) => ImportRecord | readonly ImportRecord[]
}

function databaseRecords(
  database: ForeignDatabase,
  readers: Readonly<Record<string, TableReader>>,
): AsyncIterable<ImportRecord> {
  return {
    async *[Symbol.asyncIterator]() {
      for (const [table, reader] of Object.entries(readers)) {
        // Older and newer versions of a program lack some of its tables.
        if (!database.tables.includes(table)) continue
        let at = 0
        for (const row of database.rows(table, reader)) {
          at++
          const number = at
          yield* parseImportItem(number, () => reader.read(row, number))
        }
      }
    },
  }
}

function parseFormat(text: string): ImportFormat {
  const found = IMPORT_FORMATS.find((format) => format === text)
  if (found !== undefined) return found
  throw new AppError(
    'invalid_input',
    `The format must be one of ${IMPORT_FORMATS.join(', ')}; got "${text.slice(0, 80)}".`,
    { field: 'from' },
  )
}

function unknownFormat(name: string, start: Uint8Array): AppError {
  const isCompressed = start[0] === 0x1f && start[1] === 0x8b
  return new AppError(
    'invalid_input',
    isCompressed
      ? `${name} is compressed. Decompress it first.`
      : `The format of ${name} could not be detected. Specify one of ${IMPORT_FORMATS.join(', ')}.`,
  )
}

/** The first bytes, and the whole stream including them. */
async function peekLines(
  bytes: Bytes,
): Promise<{ readonly start: Uint8Array; readonly bytes: AsyncGenerator<Uint8Array> }> {
  const source = bytes[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let size = 0
  while (size < DETECTION_BYTES) {
    const { done, value } = await source.next()
    if (done === true) break
    chunks.push(value)
    size += value.length
  }
  const start = Buffer.concat(chunks)
  async function* all() {
    try {
      yield start
      for (let next = await source.next(); next.done !== true; next = await source.next()) {
        yield next.value
      }
    } finally {
      await source.return?.()
    }
  }
  return { start: start.subarray(0, DETECTION_BYTES), bytes: all() }
}

async function* countBytes(
  bytes: Bytes,
  onBytes: ImportSource['onBytes'],
): AsyncGenerator<Uint8Array> {
  let count = 0
  for await (const chunk of bytes) {
    count += chunk.length
    onBytes?.(count)
    yield chunk
  }
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path)
  } catch (error) {
    throw toFileError(error, path)
  }
}

async function fileAt(path: string, { assertNotInUse }: ForeignDatabaseDrivers): Promise<Stats> {
  // Closing a second file handle would release the POSIX locks that this process holds on the database.
  assertNotInUse(path)
  return stat(path).catch((error: unknown) => {
    throw toFileError(error, path)
  })
}

const FILE_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['not_found', 'File not found:'],
  ENOTDIR: ['not_found', 'File not found:'],
  EACCES: ['read_only', 'Access is denied:'],
  EPERM: ['read_only', 'Access is denied:'],
}

function toFileError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known = FILE_ERRORS[code]
  return known === undefined
    ? error
    : new AppError(known[0], `${known[1]} ${path}.`, { path }, error)
}
