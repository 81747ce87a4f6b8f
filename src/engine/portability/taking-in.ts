/** How rows from outside get into a store: many in one commit where nothing is in the way, one by one otherwise. */
import { AppError, toAppError } from '../../core/errors.ts'
import { blockingTombstones } from '../../core/forgetting.ts'
import type { Memory } from '../../core/memory.ts'
import type { Change, CommitOutcome, Row, Table } from '../../ports/store.ts'
import type { EnginePorts } from '../ports.ts'

export type Imported = {
  readonly imported: number
  readonly updated: number
  readonly skipped: number
  readonly failed: number
  /** The first of them; `line` is the number of the line, item or row in the source. */
  readonly failures: readonly { readonly line: number; readonly message: string }[]
}

export type TableRow = { [T in Table]: { readonly table: T; readonly row: Row<T> } }[Table]

/** What stands or falls together: a row, or a memory with its history. */
export type Unit = { readonly line: number; readonly rows: readonly TableRow[] }
export type UnitResult = 'imported' | 'updated' | 'skipped'

export type Conflict = Extract<CommitOutcome, { kind: 'conflict' }>

/** What is done with a unit that could not simply be added. Throws what is to be told of it. */
export type Settle = (ports: EnginePorts, unit: Unit, conflict: Conflict) => Promise<UnitResult>

const BATCH_ROWS = 1_000
/** Details of the first failures are enough to mend a file; all of them are counted. */
const FAILURES_MAX = 100

/** Collects units and commits them in batches, counting what becomes of them. */
export class Intake {
  readonly #ports: EnginePorts
  readonly #settle: Settle
  readonly #tally = { imported: 0, updated: 0, skipped: 0, failed: 0 }
  readonly #failures: { line: number; message: string }[] = []
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
      this.#tally.skipped++
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
    if (this.#failures.length < FAILURES_MAX) this.#failures.push({ line, message })
  }

  async flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#rows = 0
    const forgotten = await forgottenSince(this.#ports, batch)
    for (const unit of forgotten) {
      const message = 'It was forgotten here after the export, and stays forgotten.'
      this.fail(unit.line, new AppError('conflict', message))
    }
    const welcome = batch.filter((unit) => !forgotten.has(unit))
    if (welcome.length === 0) return
    const outcome = await this.#ports.store.commit(welcome.flatMap(adding))
    if (outcome.kind === 'committed') this.#tally.imported += welcome.length
    else for (const unit of welcome) await this.#one(unit)
  }

  result(): Imported {
    return { ...this.#tally, failures: this.#failures }
  }

  async #one(unit: Unit): Promise<void> {
    try {
      const outcome = await this.#ports.store.commit(adding(unit))
      const result =
        outcome.kind === 'committed' ? 'imported' : await this.#settle(this.#ports, unit, outcome)
      this.#tally[result]++
    } catch (error) {
      this.fail(unit.line, error)
    }
  }
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

/** Memories that were erased here since they were exported, and their history. The bin has its own traces. */
async function forgottenSince(
  { store }: EnginePorts,
  batch: readonly Unit[],
): Promise<ReadonlySet<Unit>> {
  const blocked = new Set<Unit>()
  if ((await store.report()).rows.tombstone === 0) return blocked
  const arriving = new Set<string>()
  for (const unit of batch) {
    const memory = memoryOf(unit)
    if (memory === null) continue
    const home = { owner: memory.place.owner, user: memory.place.user }
    const isHere = arriving.has(memory.id) || (await store.get('memory', home, memory.id)) !== null
    if (isHere) continue
    const isHistory = unit.rows[0]?.table === 'revision'
    if (isHistory || (await isBlocked(store, memory))) blocked.add(unit)
    else arriving.add(memory.id)
  }
  return blocked
}

/** The memory that a unit is about. */
function memoryOf({ rows: [first] }: Unit): Memory | null {
  if (first?.table === 'memory') return first.row
  return first?.table === 'revision' ? first.row.memory : null
}

async function isBlocked(store: EnginePorts['store'], memory: Memory): Promise<boolean> {
  if (memory.status === 'forgotten') return false
  const home = { owner: memory.place.owner, user: memory.place.user }
  const ids = blockingTombstones(memory.place, memory)
  const { rows } = await store.find('tombstone', home, { where: { ids }, limit: ids.length })
  return rows.some((tombstone) => tombstone.forgottenAt >= memory.updatedAt)
}
