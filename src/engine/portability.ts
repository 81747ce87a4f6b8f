/**
 * Export and import: JSON Lines, one header and then one row per line, complete and in an order that can be read
 * back row by row. Importing the same file twice changes nothing the second time.
 */
import { parseScope } from '../core/draft.ts'
import { AppError, toAppError } from '../core/errors.ts'
import { blockingTombstones } from '../core/forgetting.ts'
import type { OwnerId, Scope } from '../core/ids.ts'
import type { Memory } from '../core/memory.ts'
import { parseMemory, parseRevision, parseTombstone } from '../core/records.ts'
import type { Change, Row, Table } from '../ports/store.ts'
import { pages } from './paging.ts'
import type { EnginePorts } from './ports.ts'

const EXPORT_FORMAT = 'recollect-export'
const EXPORT_VERSION = 1

const TABLES: readonly Table[] = ['memory', 'revision', 'tombstone']
const BATCH_ROWS = 1_000
/** Details of the first failures are enough to mend a file; all of them are counted. */
const FAILURES_MAX = 100

export type Imported = {
  readonly imported: number
  readonly updated: number
  readonly skipped: number
  readonly failed: number
  readonly failures: readonly { readonly line: number; readonly message: string }[]
}

/** Lines of an export, without line ends. Without a scope: everything of every owner. */
export async function* exportLines(
  ports: EnginePorts,
  scope: Scope | null,
): AsyncGenerator<string> {
  yield JSON.stringify({
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    exportedAt: ports.clock.now(),
  })
  for (const each of scope === null ? await allOwners(ports) : [scope]) {
    for (const table of TABLES) {
      for await (const page of pages(ports.store, table, each, { where: {}, order: 'oldest' })) {
        for (const row of page) yield JSON.stringify({ table, row })
      }
    }
  }
}

async function allOwners({ store }: EnginePorts): Promise<readonly Scope[]> {
  const owners = new Set((await store.places()).map((place) => place.owner))
  return [...owners].map((owner) => parseScope({ owner }))
}

/** Takes the lines of an export in. A bad line is counted and told, and does not stop the others. */
export async function importLines(
  ports: EnginePorts,
  lines: AsyncIterable<string>,
  options: { readonly owner?: OwnerId; readonly onProgress?: (lines: number) => void } = {},
): Promise<Imported> {
  const tally = { imported: 0, updated: 0, skipped: 0, failed: 0 }
  const failures: { line: number; message: string }[] = []
  const fail = (line: number, error: unknown) => {
    tally.failed++
    const { code, message } = toAppError(error)
    if (code !== 'invalid_input' && code !== 'conflict') throw error
    if (failures.length < FAILURES_MAX) failures.push({ line, message })
  }
  let batch: NumberedRow[] = []
  let line = 0
  const flush = async () => {
    for (const { row, result, error } of await importBatch(ports, batch)) {
      if (error === undefined) tally[result]++
      else fail(row.line, error)
    }
    batch = []
    options.onProgress?.(line)
  }
  let hasHeader = false
  for await (const text of lines) {
    line++
    if (text.trim() === '') continue
    if (!hasHeader) {
      parseHeader(text)
      hasHeader = true
      continue
    }
    try {
      const parsed = parseLine(text, line, options.owner)
      // A trace is bound to its owner: under another one it would block nothing.
      if (parsed.table === 'tombstone' && options.owner !== undefined) tally.skipped++
      else batch.push(parsed)
    } catch (error) {
      fail(line, error)
    }
    if (batch.length >= BATCH_ROWS) await flush()
  }
  if (!hasHeader) throw new AppError('invalid_input', 'There is nothing to import: no line at all.')
  await flush()
  return { ...tally, failures }
}

type NumberedRow = { readonly line: number } & {
  [T in Table]: { readonly table: T; readonly row: Row<T> }
}[Table]

function parseLine(text: string, line: number, owner: OwnerId | undefined): NumberedRow {
  const value = parseJson(text)
  switch (value.table) {
    case 'memory':
      return { line, table: 'memory', row: moved(parseMemory(value.row), owner) }
    case 'revision': {
      const row = parseRevision(value.row)
      return { line, table: 'revision', row: { ...row, memory: moved(row.memory, owner) } }
    }
    case 'tombstone':
      return { line, table: 'tombstone', row: moved(parseTombstone(value.row), owner) }
    default:
      throw new AppError('invalid_input', `A line is about one of ${TABLES.join(', ')}.`)
  }
}

function parseJson(text: string): { readonly [field: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {
    /* told below, without the text: it may hold what must not be logged */
  }
  throw new AppError('invalid_input', 'The line is not a JSON object.')
}

function parseHeader(text: string): void {
  const { format, version } = isJsonObject(text) ? parseJson(text) : {}
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

function isJsonObject(text: string): boolean {
  try {
    return typeof parseJson(text) === 'object'
  } catch {
    return false
  }
}

function moved<R extends Pick<Memory, 'place'>>(row: R, owner: OwnerId | undefined): R {
  return owner === undefined ? row : { ...row, place: { ...row.place, owner } }
}

type RowResult = {
  readonly row: NumberedRow
  readonly result: 'imported' | 'updated' | 'skipped'
  readonly error?: unknown
}

/** All rows in one commit when none is there yet, which is the usual case; one by one otherwise. */
async function importBatch(
  ports: EnginePorts,
  batch: readonly NumberedRow[],
): Promise<readonly RowResult[]> {
  const forgotten = await forgottenSince(ports, batch)
  const results: RowResult[] = [...forgotten].map((row) => ({
    row,
    result: 'skipped',
    error: new AppError('conflict', 'It was forgotten here after the export, and stays forgotten.'),
  }))
  const welcome = batch.filter((row) => !forgotten.has(row))
  if (welcome.length === 0) return results
  const outcome = await ports.store.commit(welcome.map((row) => put(row, 'absent')))
  if (outcome.kind === 'committed') {
    return [...results, ...welcome.map((row) => ({ row, result: 'imported' as const }))]
  }
  for (const row of welcome) {
    try {
      results.push({ row, result: await importRow(ports, row) })
    } catch (error) {
      results.push({ row, result: 'skipped', error })
    }
  }
  return results
}

/** Memories that were erased here since they were exported, and their history. The bin has its own traces. */
async function forgottenSince(
  { store }: EnginePorts,
  batch: readonly NumberedRow[],
): Promise<ReadonlySet<NumberedRow>> {
  const blocked = new Set<NumberedRow>()
  if ((await store.report()).rows.tombstone === 0) return blocked
  const arriving = new Set<string>()
  for (const entry of batch) {
    if (entry.table === 'tombstone') continue
    const memory = entry.table === 'memory' ? entry.row : entry.row.memory
    const home = { owner: memory.place.owner, user: memory.place.user }
    const isHere = arriving.has(memory.id) || (await store.get('memory', home, memory.id)) !== null
    if (isHere) continue
    if (entry.table === 'revision' || (await isBlocked(store, memory))) blocked.add(entry)
    else arriving.add(memory.id)
  }
  return blocked
}

async function isBlocked(store: EnginePorts['store'], memory: Memory): Promise<boolean> {
  if (memory.status === 'forgotten') return false
  const home = { owner: memory.place.owner, user: memory.place.user }
  const ids = blockingTombstones(memory.place, memory)
  const { rows } = await store.find('tombstone', home, { where: { ids }, limit: ids.length })
  return rows.some((tombstone) => tombstone.forgottenAt >= memory.updatedAt)
}

async function importRow({ store }: EnginePorts, entry: NumberedRow): Promise<RowResult['result']> {
  const created = await store.commit([put(entry, 'absent')])
  if (created.kind === 'committed') return 'imported'
  if (created.because === 'key') {
    throw new AppError('conflict', 'Another memory holds the same key.', { id: created.id })
  }
  if (entry.table === 'revision') return 'skipped'
  const { owner, user } = entry.row.place
  const known = await store.get(entry.table, { owner, user }, entry.row.id as never) // its own table's id
  if (known === null) {
    throw new AppError('conflict', 'The id belongs to another owner or user.', { id: entry.row.id })
  }
  if (entry.row.version <= known.version) return 'skipped'
  const outcome = await store.commit([put(entry, { version: known.version })])
  if (outcome.kind === 'committed') return 'updated'
  throw new AppError('conflict', 'Another memory holds the same key.', { id: entry.row.id })
}

function put(entry: NumberedRow, expect: Extract<Change, { op: 'put' }>['expect']): Change {
  const { line: _, ...change } = entry
  return { op: 'put', ...change, expect } as Change // table and row belong together in the entry
}
