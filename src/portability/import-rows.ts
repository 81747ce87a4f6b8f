/** How rows from outside get into a store: many in one commit where nothing is in the way, one by one otherwise. */
import { AppError, toAppError } from '../domain/errors.ts'
import type { Memory } from '../domain/memory.ts'
import type { Place, Scope } from '../domain/scope.ts'
import { blockingTombstones } from '../domain/tombstone.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import { nextTurn } from '../lib/event-loop.ts'
import type { Change, CommitOutcome, Store, TableRow } from '../storage/store.ts'
import { rowsAtOwner, withoutIdsOfOthers } from './id-collisions.ts'
import { derivedId, renamedEntry } from './id-mapping.ts'

export type Imported = {
  readonly imported: number
  readonly updated: number
  readonly skipped: number
  readonly failed: number
  /** Why the first of those that failed did. */
  readonly failures: readonly LineNote[]
  /** Why the first of those that were skipped were. */
  readonly skips: readonly LineNote[]
}

/** `line` is the number of the line, item or row in the source. */
export type LineNote = { readonly line: number; readonly message: string }

/** What stands or falls together: a row, or a memory with its history. */
export type Unit = { readonly line: number; readonly rows: readonly TableRow[] }

export type UnitResult = 'imported' | 'updated' | 'skipped'

/** `elsewhere`: the id that is in the way is not in the place that the unit goes to. */
export type Settled = UnitResult | 'elsewhere'

export type Conflict = Extract<CommitOutcome, { kind: 'conflict' }>

/** What is done with a unit that could not simply be added. Throws what is to be told of it. */
export type Settle = (ports: EnginePorts, unit: Unit, conflict: Conflict) => Promise<Settled>

/** So few that others are answered between two commits. */
const BATCH_ROWS = 250

/** Details of the first are enough to mend a file; all of them are counted. */
const NOTES_MAX = 100

/** Collects units and commits them in batches, counting what becomes of them. */
export class Intake {
  readonly #ports: EnginePorts
  readonly #settle: Settle
  readonly #tally = { imported: 0, updated: 0, skipped: 0, failed: 0 }
  readonly #failures: LineNote[] = []
  readonly #skips: LineNote[] = []
  #batch: Unit[] = []
  #rows = 0

  constructor(ports: EnginePorts, settle: Settle) {
    this.#ports = ports
    this.#settle = settle
  }

  /** Returns whether a batch has just been written. */
  async add(unit: Unit): Promise<boolean> {
    this.#batch.push(unit)
    this.#rows += unit.rows.length
    if (this.#rows < BATCH_ROWS) return false
    await this.flush()
    return true
  }

  /** What `parse` makes of the input, or null when that was nothing, or not to be understood; both are counted. */
  parsed(line: number, parse: () => readonly TableRow[] | null): Unit | null {
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
    const adapt = await withoutIdsOfOthers(
      store,
      arriving.flatMap(({ rows }) => rows),
    )
    const batch = arriving.map(({ line, rows }) => ({ line, rows: rows.map(adapt) }))
    const refused = await refusedOf(store, batch)
    for (const [unit, message] of refused) {
      this.fail(unit.line, new AppError('conflict', message))
    }
    const welcome = batch.filter((unit) => !refused.has(unit))
    if (welcome.length === 0) return
    const outcome = await store.commit(welcome.flatMap(adding))
    if (outcome.kind === 'committed') this.#tally.imported += welcome.length
    else
      for (const unit of welcome) {
        await this.#one(unit)
        await nextTurn()
      }
    await nextTurn()
  }

  result(): Imported {
    return { ...this.#tally, failures: this.#failures, skips: this.#skips }
  }

  #skip(line: number, message: string): void {
    this.#tally.skipped++
    if (this.#skips.length < NOTES_MAX) this.#skips.push({ line, message })
  }

  async #one(unit: Unit): Promise<void> {
    try {
      const placed = await this.#placed(unit)
      if (placed === 'skipped') this.#skip(unit.line, KNOWN)
      else this.#tally[placed]++
    } catch (error) {
      this.fail(unit.line, error)
    }
  }

  async #placed(unit: Unit): Promise<UnitResult> {
    const { store } = this.#ports
    // What was in the same batch may have failed since.
    if (isHistory(unit) && !(await hasItsMemory(store, unit))) {
      throw new AppError('conflict', ORPHAN)
    }
    let attempt = unit
    for (let ids = 0; ids < IDS_TRIED_MAX; ids++) {
      const outcome = await store.commit(adding(attempt))
      if (outcome.kind === 'committed') return 'imported'
      const settled = await this.#settle(this.#ports, attempt, outcome)
      if (settled !== 'elsewhere') return settled
      attempt = withoutId(attempt, outcome.id)
    }
    // The same for whatever is in the way: nobody learns what others have.
    throw new AppError('conflict', "It can't be taken in here.")
  }
}

/** A derived id is free, unless a file was made to have it taken. */
const IDS_TRIED_MAX = 3

function withoutId({ line, rows }: Unit, taken: string): Unit {
  return {
    line,
    rows: rows.map((entry) =>
      renamedEntry(entry, (id) => (id === taken ? derivedId(placeOf(entry).owner, id) : id)),
    ),
  }
}

/** Whether the row is in the place that it is to go to, in whichever version. */
export async function isHere(store: Store, entry: TableRow): Promise<boolean> {
  const known = await store.get(entry.table, homeOf(placeOf(entry)), entry.row.id as never) // its own table's id
  return known !== null
}

function placeOf(entry: TableRow): Place {
  return entry.table === 'revision' ? entry.row.memory.place : entry.row.place
}

/** A row stays with its owner and user; the session is only where it was learned. */
function homeOf({ owner, user }: Place): Scope {
  return { owner, user }
}

export function adding(unit: Unit): readonly Change[] {
  return unit.rows.map((entry) => put(entry, 'absent'))
}

export function put(entry: TableRow, expect: Extract<Change, { op: 'put' }>['expect']): Change {
  return { op: 'put', ...entry, expect } as Change // table and row belong together in the entry
}

/** Ends an import between two batches. What was taken in stays, and the next import goes on from there. */
export function throwIfStopped(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  throw new AppError(
    'cancelled',
    'The import was stopped. What was taken in stays; importing again goes on from there.',
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
async function refusedOf(store: Store, batch: readonly Unit[]): Promise<ReadonlyMap<Unit, string>> {
  const forgotten = await forgottenSince(store, batch)
  const memories = new Set<string>()
  const histories: Memory[] = []
  for (const unit of batch) {
    const memory = memoryOf(unit)
    if (memory === null) continue
    if (isHistory(unit)) histories.push(memory)
    else if (!forgotten.has(unit)) memories.add(nameAtHome(memory))
  }
  const missing = histories.filter((memory) => !memories.has(nameAtHome(memory)))
  for (const owner of new Set(missing.map(({ place }) => place.owner))) {
    const ids = missing.filter(({ place }) => place.owner === owner).map(({ id }) => id)
    for (const memory of await rowsAtOwner(store, 'memory', owner, [...new Set(ids)])) {
      memories.add(nameAtHome(memory))
    }
  }
  const refused = new Map<Unit, string>()
  for (const unit of batch) {
    const memory = memoryOf(unit)
    if (forgotten.has(unit)) refused.set(unit, FORGOTTEN)
    else if (memory !== null && isHistory(unit) && !memories.has(nameAtHome(memory))) {
      refused.set(unit, ORPHAN)
    }
  }
  return refused
}

async function forgottenSince(store: Store, batch: readonly Unit[]): Promise<ReadonlySet<Unit>> {
  const blocked = new Set<Unit>()
  if ((await store.report()).rows.tombstone === 0) return blocked
  for (const unit of batch) {
    const memory = memoryOf(unit)
    if (memory === null || isHistory(unit)) continue
    const isKnown = (await store.get('memory', homeOf(memory.place), memory.id)) !== null
    if (!isKnown && (await isBlocked(store, memory))) blocked.add(unit)
  }
  return blocked
}

/** The memory that a unit is about. */
function memoryOf({ rows: [first] }: Unit): Memory | null {
  if (first?.table === 'memory') return first.row
  return first?.table === 'revision' ? first.row.memory : null
}

function isHistory({ rows: [first] }: Unit): boolean {
  return first?.table === 'revision'
}

async function hasItsMemory(store: Store, unit: Unit): Promise<boolean> {
  const memory = memoryOf(unit)
  return memory !== null && (await store.get('memory', homeOf(memory.place), memory.id)) !== null
}

function nameAtHome({ id, place: { owner, user } }: Memory): string {
  return JSON.stringify([owner, user, id])
}

async function isBlocked(store: Store, memory: Memory): Promise<boolean> {
  if (memory.status === 'forgotten') return false
  const ids = blockingTombstones(memory.place, memory)
  const home = homeOf(memory.place)
  const { rows } = await store.find('tombstone', home, { where: { ids }, limit: ids.length })
  return rows.some((tombstone) => tombstone.forgottenAt >= memory.updatedAt)
}
