/** Writes imported rows in batches, and one by one where a batch conflicts with existing rows. */

import type { Memory } from '../domain/memory.ts'
import type { Place, Scope } from '../domain/scope.ts'
import { getBlockingTombstoneIds } from '../domain/tombstone.ts'
import { AppError, toAppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { Change, CommitOutcome, Store, TableRow } from '../storage/store.ts'
import { createIdRemapper, loadOwnerRows } from './id-collisions.ts'
import { deriveId, mapRowIds } from './id-mapping.ts'

export type ImportResult = {
  readonly imported: number
  readonly updated: number
  readonly skipped: number
  readonly failed: number
  /** The reasons of the first failures. */
  readonly failures: readonly LineMessage[]
  /** The reasons of the first skipped units. */
  readonly skips: readonly LineMessage[]
}

/** `line` is the number of the line, item or row in the source. */
export type LineMessage = { readonly line: number; readonly message: string }

/** Rows that are imported together or not at all: one row, or a memory with its revisions. */
export type ImportUnit = { readonly line: number; readonly rows: readonly TableRow[] }

export type ImportUnitResult = 'imported' | 'updated' | 'skipped'

/** `elsewhere`: the conflicting id belongs to another owner or user. */
export type ConflictResolution = ImportUnitResult | 'elsewhere'

export type ImportConflict = Extract<CommitOutcome, { kind: 'conflict' }>

/** Decides about a unit that conflicts with existing rows. An error becomes the failure message of the unit. */
export type ResolveImportConflict = (
  ports: MemoryDependencies,
  unit: ImportUnit,
  conflict: ImportConflict,
) => Promise<ConflictResolution>

/** The result of a unit in a dry run: what an import would do with it now. */
export type PreviewImport = (
  ports: MemoryDependencies,
  unit: ImportUnit,
) => Promise<ImportUnitResult>

export type ImportBatchOptions = {
  readonly resolveConflict: ResolveImportConflict
  /** Only counts, and writes nothing. */
  readonly preview?: PreviewImport
  readonly onResult?: (unit: ImportUnit, result: ImportUnitResult) => void
}

/** Small enough that other requests are served between two commits. */
const BATCH_ROWS = 250

/** Failures beyond this are counted without a message. */
const MESSAGES_MAX = 100

/** Collects units, commits them in batches and counts the results. */
export class ImportBatch {
  readonly #ports: MemoryDependencies
  readonly #options: ImportBatchOptions
  readonly #previewed = new Set<string>()
  readonly #counts = { imported: 0, updated: 0, skipped: 0, failed: 0 }
  readonly #failures: LineMessage[] = []
  readonly #skips: LineMessage[] = []
  #batch: ImportUnit[] = []
  #rows = 0

  constructor(ports: MemoryDependencies, options: ImportBatchOptions) {
    this.#ports = ports
    this.#options = options
  }

  /** Resolves to true when this call wrote a batch. */
  async add(unit: ImportUnit): Promise<boolean> {
    this.#batch.push(unit)
    this.#rows += unit.rows.filter(({ table }) => table !== 'entry').length
    if (this.#rows < BATCH_ROWS) return false
    await this.flush()
    return true
  }

  /** Parses one unit. Null when there was nothing to import or the input was invalid; both are counted. */
  parse(line: number, read: () => readonly TableRow[] | null): ImportUnit | null {
    try {
      const rows = read()
      if (rows !== null) return { line, rows }
      this.#skip(line, NOTHING_TO_IMPORT)
    } catch (error) {
      this.fail(line, error)
    }
    return null
  }

  /** Counts an invalid input or a conflict. Any other error, such as a full disk, ends the import. */
  fail(line: number, error: unknown): void {
    const { code, message } = toAppError(error)
    if (code !== 'invalid_input' && code !== 'conflict') throw error
    this.#counts.failed++
    if (this.#failures.length < MESSAGES_MAX) this.#failures.push({ line, message })
  }

  async flush(): Promise<void> {
    const { store } = this.#ports
    const units = this.#batch
    this.#batch = []
    this.#rows = 0
    const allRows = units.flatMap(({ rows }) => rows)
    const remapIds = await createIdRemapper(store, allRows)
    const batch = units.map(({ line, rows }) => ({ line, rows: rows.map(remapIds) }))
    const refused = await findRefused(store, batch)
    for (const [unit, message] of refused) {
      this.fail(unit.line, new AppError('conflict', message))
    }
    const accepted = batch.filter((unit) => !refused.has(unit))
    if (accepted.length === 0) return
    const { preview } = this.#options
    if (preview !== undefined) {
      for (const unit of accepted) await this.#previewUnit(unit, preview)
      return
    }
    const outcome = await store.commit(accepted.flatMap(buildInsertChanges))
    if (outcome.kind === 'committed') {
      for (const unit of accepted) this.#count(unit, 'imported')
      await yieldToEventLoop()
      return
    }
    for (const unit of accepted) {
      await this.#importUnit(unit)
      await yieldToEventLoop()
    }
  }

  result(): ImportResult {
    return { ...this.#counts, failures: this.#failures, skips: this.#skips }
  }

  skip(line: number, message: string): void {
    this.#skip(line, message)
  }

  #skip(line: number, message: string): void {
    this.#counts.skipped++
    if (this.#skips.length < MESSAGES_MAX) this.#skips.push({ line, message })
  }

  #count(unit: ImportUnit, result: ImportUnitResult): void {
    if (result === 'skipped') this.#skip(unit.line, ALREADY_STORED)
    else this.#counts[result]++
    this.#options.onResult?.(unit, result)
  }

  /** A source may name the same record twice. */
  async #previewUnit(unit: ImportUnit, preview: PreviewImport): Promise<void> {
    const id = unit.rows[0]?.row.id ?? ''
    const isRepeated = this.#previewed.has(id)
    this.#previewed.add(id)
    this.#count(unit, isRepeated ? 'skipped' : await preview(this.#ports, unit))
  }

  async #importUnit(unit: ImportUnit): Promise<void> {
    try {
      this.#count(unit, await this.#commitUnit(unit))
    } catch (error) {
      this.fail(unit.line, error)
    }
  }

  async #commitUnit(unit: ImportUnit): Promise<ImportUnitResult> {
    const { store } = this.#ports
    // The memory of a revision may have failed earlier in this batch.
    if (isRevisionRow(unit) && !(await hasParentMemory(store, unit))) {
      throw new AppError('conflict', MISSING_MEMORY)
    }
    let attempt = unit
    for (let ids = 0; ids < REMAPPED_IDS_MAX; ids++) {
      const outcome = await store.commit(buildInsertChanges(attempt))
      if (outcome.kind === 'committed') return 'imported'
      const resolution = await this.#options.resolveConflict(this.#ports, attempt, outcome)
      if (resolution !== 'elsewhere') return resolution
      attempt = remapId(attempt, outcome.id)
    }
    // One message for every obstacle, so that it reveals nothing about other owners' rows.
    throw new AppError('conflict', 'The row conflicts with existing data and cannot be imported.')
  }
}

/** A derived id is free unless the file was crafted to collide with it. */
const REMAPPED_IDS_MAX = 3

function remapId({ line, rows }: ImportUnit, taken: string): ImportUnit {
  return {
    line,
    rows: rows.map((entry) =>
      mapRowIds(entry, (id) => (id === taken ? deriveId(getRowPlace(entry).owner, id) : id)),
    ),
  }
}

/** Whether the row exists in its place, in any version. */
export async function isRowPresent(store: Store, entry: TableRow): Promise<boolean> {
  const existing = await store.get(
    entry.table,
    getUserScope(getRowPlace(entry)),
    entry.row.id as never,
  ) // the id belongs to this table
  return existing !== null
}

function getRowPlace(entry: TableRow): Place {
  return entry.table === 'revision' ? entry.row.memory.place : entry.row.place
}

/** Rows are addressed by owner and user; the session only says where they were learned. */
function getUserScope({ owner, user }: Place): Scope {
  return { owner, user }
}

export function buildInsertChanges(unit: ImportUnit): readonly Change[] {
  return unit.rows.map((entry) => buildPutChange(entry, 'absent'))
}

export function buildPutChange(
  entry: TableRow,
  expect: Extract<Change, { op: 'put' }>['expect'],
): Change {
  return { op: 'put', ...entry, expect } as Change // table and row belong together in the entry
}

/** Ends an import between two batches. Imported rows stay, and importing again continues from there. */
export function throwIfImportAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  throw new AppError(
    'cancelled',
    'The import was stopped. Imported rows stay; import the same file again to continue.',
  )
}

const ALREADY_STORED = 'The row is already stored, in this or a newer version.'
const NOTHING_TO_IMPORT = 'The record holds nothing to import.'
const FORGOTTEN = 'The memory was forgotten after the export and stays forgotten.'

/** Deliberately does not say whether the memory is missing or belongs to another owner. */
const MISSING_MEMORY = 'The revision belongs to a memory that is not stored here.'

/** Finds memories that were erased after their export, and revisions without their memory. */
async function findRefused(
  store: Store,
  batch: readonly ImportUnit[],
): Promise<ReadonlyMap<ImportUnit, string>> {
  const forgotten = await findForgotten(store, batch)
  const memories = new Set<string>()
  const ofRevisions: Memory[] = []
  for (const unit of batch) {
    const memory = getMemory(unit)
    if (memory === null) continue
    if (isRevisionRow(unit)) ofRevisions.push(memory)
    else if (!forgotten.has(unit)) memories.add(buildMemoryIdentity(memory))
  }
  const missing = ofRevisions.filter((memory) => !memories.has(buildMemoryIdentity(memory)))
  for (const owner of new Set(missing.map(({ place }) => place.owner))) {
    const ids = missing.filter(({ place }) => place.owner === owner).map(({ id }) => id)
    for (const memory of await loadOwnerRows(store, 'memory', owner, [...new Set(ids)])) {
      memories.add(buildMemoryIdentity(memory))
    }
  }
  const refused = new Map<ImportUnit, string>()
  for (const unit of batch) {
    const memory = getMemory(unit)
    if (forgotten.has(unit)) refused.set(unit, FORGOTTEN)
    else if (memory !== null && isRevisionRow(unit) && !memories.has(buildMemoryIdentity(memory))) {
      refused.set(unit, MISSING_MEMORY)
    }
  }
  return refused
}

async function findForgotten(
  store: Store,
  batch: readonly ImportUnit[],
): Promise<ReadonlySet<ImportUnit>> {
  const forgotten = new Set<ImportUnit>()
  if ((await store.getReport()).rows.tombstone === 0) return forgotten
  for (const unit of batch) {
    const memory = getMemory(unit)
    if (memory === null || isRevisionRow(unit)) continue
    const exists = (await store.get('memory', getUserScope(memory.place), memory.id)) !== null
    if (!exists && (await isBlockedByTombstone(store, memory))) forgotten.add(unit)
  }
  return forgotten
}

/** The memory of a unit or of its revision. */
function getMemory({ rows: [first] }: ImportUnit): Memory | null {
  if (first?.table === 'memory') return first.row
  return first?.table === 'revision' ? first.row.memory : null
}

function isRevisionRow({ rows: [first] }: ImportUnit): boolean {
  return first?.table === 'revision'
}

async function hasParentMemory(store: Store, unit: ImportUnit): Promise<boolean> {
  const memory = getMemory(unit)
  return (
    memory !== null && (await store.get('memory', getUserScope(memory.place), memory.id)) !== null
  )
}

function buildMemoryIdentity({ id, place: { owner, user } }: Memory): string {
  return JSON.stringify([owner, user, id])
}

async function isBlockedByTombstone(store: Store, memory: Memory): Promise<boolean> {
  if (memory.status === 'forgotten') return false
  const ids = getBlockingTombstoneIds(memory.place, memory)
  const scope = getUserScope(memory.place)
  const { rows } = await store.find('tombstone', scope, { where: { ids }, limit: ids.length })
  return rows.some((tombstone) => tombstone.forgottenAt >= memory.updatedAt)
}
