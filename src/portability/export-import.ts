/**
 * Export and import as JSON Lines: a header, then one row per line, ordered so that the file can be read back row by
 * row. Importing the same file twice changes nothing the second time.
 */
import type { OwnerId } from '../domain/ids.ts'
import { type Scope, SYSTEM_OWNER } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { isObject, parseJson } from '../lib/json.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { TableRow } from '../storage/store.ts'
import { decryptLines, encryptLines, isEncrypted } from './export-encryption.ts'
import {
  buildPutChange,
  type ConflictResolution,
  ImportBatch,
  type ImportConflict,
  type ImportResult,
  type ImportUnit,
  isRowPresent,
  throwIfImportAborted,
} from './import-rows.ts'
import { EXPORT_FORMAT } from './importers/format-detection.ts'
import {
  exportRoots,
  exportRows,
  isPortable,
  PORTABLE_TABLE_CODECS,
  PORTABLE_TABLES,
  type PortableTableName,
} from './portable-tables.ts'

export type { ImportResult } from './import-rows.ts'

/** Version 2 added turns and settings. */
const EXPORT_VERSION = 2

/** Yields lines without line ends. A null scope exports all owners and the system's settings. */
export function exportLines(
  ports: MemoryDependencies,
  scope: Scope | null,
  options: { readonly passphrase?: string } = {},
): AsyncGenerator<string> {
  const lines = exportPlainLines(ports, scope)
  return options.passphrase === undefined ? lines : encryptLines(lines, options.passphrase)
}

async function* exportPlainLines(
  ports: MemoryDependencies,
  scope: Scope | null,
): AsyncGenerator<string> {
  yield JSON.stringify({
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    exportedAt: ports.clock.now(),
    owner: scope?.owner ?? null,
  })
  for (const each of scope === null ? await listExportScopes(ports) : [scope]) {
    for (const table of PORTABLE_TABLES) {
      // The null scope at the end exports the settings of all owners, so the owners export none.
      const isOfOwner = scope === null && each !== null && table === 'entry'
      const rows = isOfOwner
        ? exportRoots(ports.store, each.owner)
        : exportRows(ports.store, table, each)
      for await (const row of rows) yield JSON.stringify({ table, row })
    }
  }
}

/** Every owner, then null for the entries of the system. */
async function listExportScopes({ store }: MemoryDependencies): Promise<readonly (Scope | null)[]> {
  const owners = new Set((await store.listPlaces()).map((place) => place.owner))
  owners.delete(SYSTEM_OWNER)
  return [...[...owners].map((owner) => ({ owner: owner as OwnerId })), null] // validated when stored
}

export type ImportOptions = {
  /** Assigns all rows to this owner; rows of other owners become copies with derived ids. */
  readonly owner?: OwnerId
  readonly onProgress?: (lines: number) => void
  /** Required for an encrypted export. */
  readonly passphrase?: string
  readonly signal?: AbortSignal
}

/** Imports the lines of an export. Invalid lines are counted and reported without stopping the import. */
export async function importLines(
  ports: MemoryDependencies,
  lines: AsyncIterable<string>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const batch = new ImportBatch(ports, { resolveConflict })
  let line = 0
  let hasHeader = false
  for await (const text of decryptIfNeeded(lines, options.passphrase)) {
    throwIfImportAborted(options.signal)
    line++
    if (text.trim() === '') continue
    if (!hasHeader) {
      parseHeader(text)
      hasHeader = true
      continue
    }
    const unit = batch.parse(line, () => {
      const entry = parseLine(text, options.owner)
      return entry === null ? null : [entry]
    })
    if (unit !== null && (await batch.add(unit))) options.onProgress?.(line)
  }
  if (!hasHeader)
    throw new AppError(
      'invalid_input',
      'The import holds no lines. Pass a file that `recollect export` wrote.',
    )
  await batch.flush()
  options.onProgress?.(line)
  return batch.result()
}

/** Decrypts the lines if the first one says that they are encrypted. */
async function* decryptIfNeeded(
  lines: AsyncIterable<string>,
  passphrase: string | undefined,
): AsyncGenerator<string> {
  const source = lines[Symbol.asyncIterator]()
  try {
    let first = await source.next()
    while (first.done !== true && first.value.trim() === '') {
      yield first.value
      first = await source.next()
    }
    if (first.done === true) return
    const whole = prependLine(first.value, source)
    yield* isEncrypted(first.value) ? decryptLines(whole, passphrase) : whole
  } finally {
    await source.return?.()
  }
}

async function* prependLine(first: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield first
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

/** Null for rows that cannot be assigned to another owner. */
function parseLine(text: string, owner: OwnerId | undefined): TableRow | null {
  const value = parseJson(text)
  // The message must not quote the line, which may hold private text.
  if (!isObject(value)) throw new AppError('invalid_input', 'The line is not a JSON object.')
  const { table } = value
  if (!isPortable(table)) {
    throw new AppError('invalid_input', `\`table\` must be one of ${PORTABLE_TABLES.join(', ')}.`)
  }
  return parseRow(table, value.row, owner)
}

function parseRow<T extends PortableTableName>(
  table: T,
  value: unknown,
  owner: OwnerId | undefined,
): TableRow | null {
  const { parse, getOwner, copyTo } = PORTABLE_TABLE_CODECS[table]
  const parsed = parse(value)
  const keepsOwner = owner === undefined || getOwner(parsed) === owner
  const row = keepsOwner ? parsed : copyTo(parsed, owner)
  return row === null ? null : ({ table, row } as TableRow) // both are of the same table
}

function parseHeader(text: string): void {
  const header = parseJson(text)
  const { format, version } = isObject(header) ? header : {}
  if (format !== EXPORT_FORMAT) {
    throw new AppError(
      'invalid_input',
      'The file is not a Recollect export: its first line is not an export header.',
    )
  }
  if (typeof version !== 'number' || version > EXPORT_VERSION) {
    throw new AppError(
      'invalid_input',
      `The export has format version ${String(version)}; this version of Recollect reads up to ${EXPORT_VERSION}. Update Recollect to import it.`,
    )
  }
}

/** The higher version of an existing row wins; rows of other owners and taken keys are never overwritten. */
async function resolveConflict(
  { store }: MemoryDependencies,
  { rows: [entry] }: ImportUnit,
  conflict: ImportConflict,
): Promise<ConflictResolution> {
  if (conflict.reason === 'key') throw createKeyTakenError(conflict.id)
  if (entry === undefined) return 'skipped'
  if (entry.table === 'revision')
    return (await isRowPresent(store, entry)) ? 'skipped' : 'elsewhere'
  const { owner, user } = entry.row.place
  const existing = await store.get(entry.table, { owner, user }, entry.row.id as never) // the id belongs to this table
  if (existing === null) return 'elsewhere'
  if (entry.row.version <= existing.version) return 'skipped'
  const outcome = await store.commit([buildPutChange(entry, { version: existing.version })])
  if (outcome.kind === 'committed') return 'updated'
  throw createKeyTakenError(entry.row.id)
}

function createKeyTakenError(id: string): AppError {
  return new AppError('conflict', 'Another memory holds the same key.', { id })
}
