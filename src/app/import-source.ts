/** Opens an import source: detects its format and returns its lines or records. */
import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ImportReader, ImportSource } from '../api/cli/host.ts'
import { decodeLines } from '../api/cli/input/text-input.ts'
import type { ScopeInput } from '../domain/scope.ts'
import type { EngineAdmin } from '../engine/engine-admin.ts'
import { AppError, type ErrorCode } from '../lib/errors.ts'
import { type Fields, isObject, parseJson } from '../lib/json.ts'
import type { ImportResult } from '../portability/import-rows.ts'
import { readChatgpt } from '../portability/importers/chatgpt.ts'
import { readClaude } from '../portability/importers/claude.ts'
import {
  type ForeignDatabase,
  openForeignDatabase,
} from '../portability/importers/foreign-database.ts'
import { type ImportRecord, parseImportItem } from '../portability/importers/foreign-record.ts'
import {
  DETECTION_BYTES,
  detectFormat,
  detectTableFormat,
  IMPORT_FORMATS,
  type ImportFormat,
  isSqlite,
} from '../portability/importers/format-detection.ts'
import { readMarkdown } from '../portability/importers/markdown.ts'
import { readMem0 } from '../portability/importers/mem0.ts'
import { OMNIROUTE_TABLES, readOmniroute } from '../portability/importers/omniroute.ts'
import { OPENCLAW_TABLES } from '../portability/importers/openclaw.ts'
import { OSAURUS_TABLES } from '../portability/importers/osaurus.ts'
import { readGraph, readGraphLine } from '../portability/importers/server-memory.ts'
import type { RecordImportOptions } from '../portability/record-import.ts'
import { isOpenInProcess } from '../storage/sqlite/connection/database-file.ts'

/** Larger files would be held in memory several times. */
export const IN_MEMORY_IMPORT_BYTES_MAX = 100 * 1024 * 1024

/** The part of the engine that an import uses. */
export type ImportEngine = Pick<EngineAdmin, 'import'> & {
  importRecords(
    scope: ScopeInput,
    records: AsyncIterable<ImportRecord>,
    options?: RecordImportOptions,
  ): Promise<ImportResult>
}

export type ImportFileOptions = ImportSource & {
  /**
   * The target of data from other systems. Our own exports name their owners, unless `intoOwner` is
   * set.
   */
  readonly scope: ScopeInput
  readonly intoOwner?: string
  readonly keepOwners?: boolean
  readonly passphrase?: string
  readonly onProgress?: (done: number) => void
  readonly signal?: AbortSignal
}

/** The whole import: opens the source and imports it. */
export async function importFile(
  engine: ImportEngine,
  options: ImportFileOptions,
): Promise<ImportResult & { readonly format: ImportFormat }> {
  const { scope, intoOwner, passphrase, keepOwners, onProgress, signal } = options
  const common = {
    ...(onProgress === undefined ? {} : { onProgress }),
    ...(signal === undefined ? {} : { signal }),
  }
  const opened = await openImport(options)
  try {
    const imported =
      opened.kind === 'lines'
        ? await engine.import(opened.lines, {
            ...common,
            ...(intoOwner === undefined ? {} : { owner: intoOwner }),
            ...(passphrase === undefined ? {} : { passphrase }),
          })
        : await engine.importRecords(
            intoOwner === undefined ? scope : { ...scope, owner: intoOwner },
            opened.records,
            {
              ...common,
              ...(keepOwners === undefined ? {} : { keepOwners }),
              ...(opened.observedAt === null ? {} : { observedAt: opened.observedAt }),
            },
          )
    return { ...imported, format: opened.format }
  } finally {
    opened.close()
  }
}

export async function openImport(input: ImportSource): Promise<ImportReader> {
  const { source } = input
  const wanted = input.from === undefined ? null : parseFormat(input.from)
  const file = typeof source === 'string' ? await fileAt(source) : null
  const name = typeof source === 'string' ? basename(source) : source.name
  const { start, bytes } = await peekLines(typeof source === 'string' ? read(source) : source.bytes)
  if (isSqlite(start) || wanted?.endsWith('-sqlite')) {
    await bytes.return(undefined)
    if (typeof source !== 'string') {
      throw new AppError(
        'invalid_input',
        'A database must be imported from a file, not from a stream.',
      )
    }
    return openDatabase(source, wanted, file)
  }
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
  const records = detectReader(format, start)(counted, name)
  return { ...common, kind: 'records', records, observedAt: file?.mtimeMs ?? null }
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
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    refuseTooLarge(size, name)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new AppError('invalid_input', `${name} is not UTF-8 text.`, {}, cause)
  }
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

async function openDatabase(
  path: string,
  wanted: ImportFormat | null,
  file: Stats | null,
): Promise<ImportReader> {
  const database = await openForeignDatabase(path)
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

async function* databaseRecords(
  database: ForeignDatabase,
  readers: Readonly<Record<string, TableReader>>,
): AsyncGenerator<ImportRecord> {
  try {
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
  } finally {
    database.close()
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
  const isArchive = start[0] === 0x50 && start[1] === 0x4b && start[2] === 3
  const isZipped = start[0] === 0x1f && start[1] === 0x8b
  return new AppError(
    'invalid_input',
    isArchive || isZipped
      ? `${name} is an archive. Unpack it and import a file from it.`
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

async function* read(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path)
  } catch (error) {
    throw toFileError(error, path)
  }
}

async function fileAt(path: string): Promise<Stats> {
  // Closing a second file handle would release the POSIX locks that this process holds on the database.
  if (isOpenInProcess(path)) {
    throw new AppError('invalid_input', `${path} is the database currently in use.`, { path })
  }
  const found = await stat(path).catch((error: unknown) => {
    throw toFileError(error, path)
  })
  if (found.isDirectory()) {
    throw new AppError('invalid_input', `${path} is a folder, not a file.`, { path })
  }
  return found
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
