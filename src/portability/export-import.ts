/**
 * Export and import: JSON Lines, one header and then one row per line, complete and in an order that can be read
 * back row by row. Importing the same file twice changes nothing the second time.
 */

import type { OwnerId } from '../domain/ids.ts'
import { type Scope, SYSTEM_OWNER } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { isObject } from '../lib/json.ts'
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
import { parseJsonOrNull } from './importers/foreign-record.ts'
import { EXPORT_FORMAT } from './importers/format-detection.ts'
import {
  exportRoots,
  exportRows,
  isPortable,
  PORTABLE_TABLE_CODECS,
  PORTABLE_TABLES,
  type PortableTableName,
} from './portable-tables.ts'

export type { ImportResult as Imported } from './import-rows.ts'

/** 2: with turns and settings. */
const EXPORT_VERSION = 2

/** Lines of an export, without line ends. Without a scope: everything of every owner, and the system's settings. */
export function exportLines(
  ports: MemoryDependencies,
  scope: Scope | null,
  options: { readonly passphrase?: string } = {},
): AsyncGenerator<string> {
  const lines = plainLines(ports, scope)
  return options.passphrase === undefined ? lines : encryptLines(lines, options.passphrase)
}

async function* plainLines(ports: MemoryDependencies, scope: Scope | null): AsyncGenerator<string> {
  yield JSON.stringify({
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    exportedAt: ports.clock.now(),
    owner: scope?.owner ?? null,
  })
  for (const each of scope === null ? await allScopes(ports) : [scope]) {
    for (const table of PORTABLE_TABLES) {
      // Settings of everybody come at once, with the system's, and not a second time with each owner.
      const isOfOwner = scope === null && each !== null && table === 'entry'
      const rows = isOfOwner
        ? exportRoots(ports.store, each.owner)
        : exportRows(ports.store, table, each)
      for await (const row of rows) yield JSON.stringify({ table, row })
    }
  }
}

/** Each owner, and null for what belongs to none of them. */
async function allScopes({ store }: MemoryDependencies): Promise<readonly (Scope | null)[]> {
  const owners = new Set((await store.listPlaces()).map((place) => place.owner))
  owners.delete(SYSTEM_OWNER)
  return [...[...owners].map((owner) => ({ owner: owner as OwnerId })), null] // checked when stored
}

export type ImportOptions = {
  /** Give everything to this owner, whoever's it was; what was another's becomes a copy with ids of its own. */
  readonly owner?: OwnerId
  readonly onProgress?: (lines: number) => void
  /** Of an encrypted export. */
  readonly passphrase?: string
  readonly signal?: AbortSignal
}

/** Takes the lines of an export in. A bad line is counted and told, and does not stop the others. */
export async function importLines(
  ports: MemoryDependencies,
  lines: AsyncIterable<string>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const intake = new ImportBatch(ports, resolveConflict)
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
    const unit = intake.parsed(line, () => {
      const entry = parseLine(text, options.owner)
      return entry === null ? null : [entry]
    })
    if (unit !== null && (await intake.add(unit))) options.onProgress?.(line)
  }
  if (!hasHeader) throw new AppError('invalid_input', 'There is nothing to import: no line at all.')
  await intake.flush()
  options.onProgress?.(line)
  return intake.result()
}

/** The lines as they were before encryption, if they are encrypted. */
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

/** Null when it means nothing under the owner that everything is given to. */
function parseLine(text: string, owner: OwnerId | undefined): TableRow | null {
  const value = parseJsonOrNull(text)
  // Told without the text: it may hold what must not be logged.
  if (!isObject(value)) throw new AppError('invalid_input', 'The line is not a JSON object.')
  const { table } = value
  if (!isPortable(table)) {
    throw new AppError('invalid_input', `A line is about one of ${PORTABLE_TABLES.join(', ')}.`)
  }
  return parseRow(table, value.row, owner)
}

function parseRow<T extends PortableTableName>(
  table: T,
  value: unknown,
  owner: OwnerId | undefined,
): TableRow | null {
  const { parse, owner: ownerOf, moved } = PORTABLE_TABLE_CODECS[table]
  const parsed = parse(value)
  const isAtHome = owner === undefined || ownerOf(parsed) === owner
  const row = isAtHome ? parsed : moved(parsed, owner)
  return row === null ? null : ({ table, row } as TableRow) // both are of the same table
}

function parseHeader(text: string): void {
  const header = parseJsonOrNull(text)
  const { format, version } = isObject(header) ? header : {}
  if (format !== EXPORT_FORMAT) {
    throw new AppError(
      'invalid_input',
      'This is not a Recollect export: its first line is no header.',
    )
  }
  if (typeof version !== 'number' || version > EXPORT_VERSION) {
    throw new AppError(
      'invalid_input',
      `The export has format version ${String(version)}; this Recollect reads up to ${EXPORT_VERSION}.`,
    )
  }
}

/** A row whose id or key is taken: the higher version wins, and nothing is taken from others. */
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
  const known = await store.get(entry.table, { owner, user }, entry.row.id as never) // its own table's id
  if (known === null) return 'elsewhere'
  if (entry.row.version <= known.version) return 'skipped'
  const outcome = await store.commit([buildPutChange(entry, { version: known.version })])
  if (outcome.kind === 'committed') return 'updated'
  throw createKeyTakenError(entry.row.id)
}

function createKeyTakenError(id: string): AppError {
  return new AppError('conflict', 'Another memory holds the same key.', { id })
}
