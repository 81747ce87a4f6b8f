/** How rows from outside get into a store: many in one commit where nothing is in the way, one by one otherwise. */

import type { Memory } from '../domain/memory.ts'
import type { Place, Scope } from '../domain/scope.ts'
import { getBlockingTombstoneIds } from '../domain/tombstone.ts'
import { throwIfAborted } from '../lib/abort.ts'
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
  /** Why the first of those that failed did. */
  readonly failures: readonly LineMessage[]
  /** Why the first of those that were skipped were. */
  readonly skips: readonly LineMessage[]
}

/** `line` is the number of the line, item or row in the source. */
export type LineMessage = { readonly line: number; readonly message: string }

/** What stands or falls together: a row, or a memory with its history. */
export type ImportUnit = { readonly line: number; readonly rows: readonly TableRow[] }

export type ImportUnitResult = 'imported' | 'updated' | 'skipped'

/** `elsewhere`: the id that is in the way is not in the place that the unit goes to. */
export type ConflictResolution = ImportUnitResult | 'elsewhere'

export type ImportConflict = Extract<CommitOutcome, { kind: 'conflict' }>

/** What is done with a unit that could not simply be added. Throws what is to be told of it. */
export type ResolveImportConflict = (
  ports: MemoryDependencies,
  unit: ImportUnit,
  conflict: ImportConflict,
) => Promise<ConflictResolution>

/** So few that others are answered between two commits. */
const BATCH_ROWS = 250

/** Details of the first are enough to mend a file; all of them are counted. */
const NOTES_MAX = 100

/** Collects units and commits them in batches, counting what becomes of them. */
export class ImportBatch {
  readonly #ports: MemoryDependencies
  readonly #settle: ResolveImportConflict
  readonly #tally = { imported: 0, updated: 0, skipped: 0, failed: 0 }
  readonly #failures: LineMessage[] = []
  readonly #skips: LineMessage[] = []
  #batch: ImportUnit[] = []
  #rows = 0

  constructor(ports: MemoryDependencies, settle: ResolveImportConflict) {
    this.#ports = ports
    this.#settle = settle
  }

  /** Returns whether a batch has just been written. */
  async add(unit: ImportUnit): Promise<boolean> {
    this.#batch.push(unit)
    this.#rows += unit.rows.length
    if (this.#rows < BATCH_ROWS) return false
    await this.flush()
    return true
  }

  /** What `parse` makes of the input, or null when that was nothing, or not to be understood; both are counted. */
  parsed(line: number, parse: () => readonly TableRow[] | null): ImportUnit | null {
    try {
      const rows = parse()
      if (rows !== null) return { line, rows }
      this.#skip(line, NOTHING)
    } catch (error) {
      this.fail(line, error)
    }
    return null
  }

  /** Counts what is wrong with the input. Anything else, as a full disk, ends the import. */
  fail(line: number, error: unknown): void {
    const { code, message } = toAppError(error)
    if (code !== 'invalid_input' && code !== 'conflict') throw error
    this.#tally.failed++
    if (this.#failures.length < NOTES_MAX) this.#failures.push({ line, message })
  }

  async flush(): Promise<void> {
    const { store } = this.#ports
    const arriving = this.#batch
    this.#batch = []
    this.#rows = 0
    const adapt = await createIdRemapper(
      store,
      arriving.flatMap(({ rows }) => rows),
    )
    const batch = arriving.map(({ line, rows }) => ({ line, rows: rows.map(adapt) }))
    const refused = await findRefused(store, batch)
    for (const [unit, message] of refused) {
      this.fail(unit.line, new AppError('conflict', message))
    }
    const welcome = batch.filter((unit) => !refused.has(unit))
    if (welcome.length === 0) return
    const outcome = await store.commit(welcome.flatMap(buildInsertChanges))
    if (outcome.kind === 'committed') this.#tally.imported += welcome.length
    else
      for (const unit of welcome) {
        await this.#one(unit)
        await yieldToEventLoop()
      }
    await yieldToEventLoop()
  }

  result(): ImportResult {
    return { ...this.#tally, failures: this.#failures, skips: this.#skips }
  }

  #skip(line: number, message: string): void {
    this.#tally.skipped++
    if (this.#skips.length < NOTES_MAX) this.#skips.push({ line, message })
  }

  async #one(unit: ImportUnit): Promise<void> {
    try {
      const placed = await this.#placed(unit)
      if (placed === 'skipped') this.#skip(unit.line, KNOWN)
      else this.#tally[placed]++
    } catch (error) {
      this.fail(unit.line, error)
    }
  }

  async #placed(unit: ImportUnit): Promise<ImportUnitResult> {
    const { store } = this.#ports
    // What was in the same batch may have failed since.
    if (isRevisionRow(unit) && !(await hasParentMemory(store, unit))) {
      throw new AppError('conflict', ORPHAN)
    }
    let attempt = unit
    for (let ids = 0; ids < IDS_TRIED_MAX; ids++) {
      const outcome = await store.commit(buildInsertChanges(attempt))
      if (outcome.kind === 'committed') return 'imported'
      const settled = await this.#settle(this.#ports, attempt, outcome)
      if (settled !== 'elsewhere') return settled
      attempt = stripId(attempt, outcome.id)
    }
    // The same for whatever is in the way: nobody learns what others have.
    throw new AppError('conflict', "It can't be taken in here.")
  }
}

/** A derived id is free, unless a file was made to have it taken. */
const IDS_TRIED_MAX = 3

function stripId({ line, rows }: ImportUnit, taken: string): ImportUnit {
  return {
    line,
    rows: rows.map((entry) =>
      mapRowIds(entry, (id) => (id === taken ? deriveId(getRowPlace(entry).owner, id) : id)),
    ),
  }
}

/** Whether the row is in the place that it is to go to, in whichever version. */
export async function isRowPresent(store: Store, entry: TableRow): Promise<boolean> {
  const known = await store.get(
    entry.table,
    getUserScope(getRowPlace(entry)),
    entry.row.id as never,
  ) // its own table's id
  return known !== null
}

function getRowPlace(entry: TableRow): Place {
  return entry.table === 'revision' ? entry.row.memory.place : entry.row.place
}

/** A row stays with its owner and user; the session is only where it was learned. */
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

/** Ends an import between two batches. What was taken in stays, and the next import goes on from there. */
export function throwIfImportAborted(signal: AbortSignal | undefined): void {
  throwIfAborted(
    signal,
    'The import was stopped. What was imported stays; importing again goes on from there.',
  )
}

const KNOWN = 'It is here already, as it is or in a newer version.'
const NOTHING = 'There is nothing in it that is taken in here.'
const FORGOTTEN = 'It was forgotten here after the export, and stays forgotten.'

/** Whether it is nowhere or somebody else's is not told. */
const ORPHAN = 'It is an earlier version of a memory that is not here.'

/**
 * What must not come in, and why: memories that were erased here since they were exported (the bin has its own traces),
 * and history without its memory.
 */
async function findRefused(
  store: Store,
  batch: readonly ImportUnit[],
): Promise<ReadonlyMap<ImportUnit, string>> {
  const forgotten = await findForgotten(store, batch)
  const memories = new Set<string>()
  const histories: Memory[] = []
  for (const unit of batch) {
    const memory = getMemory(unit)
    if (memory === null) continue
    if (isRevisionRow(unit)) histories.push(memory)
    else if (!forgotten.has(unit)) memories.add(buildMemoryIdentity(memory))
  }
  const missing = histories.filter((memory) => !memories.has(buildMemoryIdentity(memory)))
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
      refused.set(unit, ORPHAN)
    }
  }
  return refused
}

async function findForgotten(
  store: Store,
  batch: readonly ImportUnit[],
): Promise<ReadonlySet<ImportUnit>> {
  const blocked = new Set<ImportUnit>()
  if ((await store.getReport()).rows.tombstone === 0) return blocked
  for (const unit of batch) {
    const memory = getMemory(unit)
    if (memory === null || isRevisionRow(unit)) continue
    const isKnown = (await store.get('memory', getUserScope(memory.place), memory.id)) !== null
    if (!isKnown && (await isBlockedByTombstone(store, memory))) blocked.add(unit)
  }
  return blocked
}

/** The memory that a unit is about. */
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
  const home = getUserScope(memory.place)
  const { rows } = await store.find('tombstone', home, { where: { ids }, limit: ids.length })
  return rows.some((tombstone) => tombstone.forgottenAt >= memory.updatedAt)
}
