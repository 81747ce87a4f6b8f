/**
 * Online migration of a whole store to another one.
 *
 * The source logs changes before the first row is copied. Changes made during the copy are applied in rounds, then both
 * stores are compared row by row. The last few changes are applied while writes are frozen. The source then refuses
 * writes before the target opens, so two stores never accept writes at the same time.
 */
import { randomUUID } from 'node:crypto'
import { throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import { runWithTimeout } from '../../lib/timeout.ts'
import type { ChangedRow, MigrationSource } from '../../storage/migration-source.ts'
import { type Store, TABLES, type Table } from '../../storage/store.ts'
import type { VectorIndex } from '../../storage/vector-index.ts'
import {
  buildMarkerEntry,
  buildMovedMessage,
  encodeMarker,
  MARKER_ID,
  type MigrationMarker,
  readMarker,
  removeMarker,
} from './migration-marker.ts'
import { compareRows, listAllOwners } from './row-comparison.ts'
import { StoreCopy } from './store-copy.ts'
import { VectorCopy } from './vector-copy.ts'

export type MigratableStore = Store & {
  readonly vectors?: VectorIndex | null
  readonly migrationSource: MigrationSource
}
export type StoreMigrationTarget = Store & { readonly vectors?: VectorIndex | null }

export type MigrationPhase = 'copying' | 'catching up' | 'comparing' | 'switching'

export type StoreMigrationOptions = {
  readonly source: MigratableStore
  readonly target: StoreMigrationTarget
  readonly now: () => number
  readonly onProgress?: (phase: MigrationPhase, done: number, total: number) => void
  readonly signal?: AbortSignal
}

export type StoreMigrationResult = {
  readonly from: string
  readonly to: string
  /** Row counts of the complete target. */
  readonly rows: Readonly<Record<Table, number>>
  readonly vectors: number
  /** Embedding spaces that have to be rebuilt, with the reason. */
  readonly vectorsRefused: readonly { readonly space: string; readonly because: string }[]
  /** How long writes were frozen; null when an earlier run froze them. */
  readonly writeFreezeMs: number | null
  readonly isResumed: boolean
}

/** The freeze follows a round with at most this many changes. */
const SMALL_ROUND = 50
const CHANGES_PER_ROUND = 2_000
/** More rounds mean that the store changes faster than it can be copied. */
const ROUNDS_MAX = 200
/** Writers that wait longer fail with `busy`. */
const FREEZE_TIMEOUT_MS = 4_000

export async function migrateStore(options: StoreMigrationOptions): Promise<StoreMigrationResult> {
  return new StoreMigration(options).run()
}

export type MigrationUndoResult = { readonly state: 'moving' | 'moved'; readonly to: string }

/** Takes a migrated store back into use or gives up a running migration. Null when there was neither. */
export async function undoMigration(source: MigratableStore): Promise<MigrationUndoResult | null> {
  const marker = (await readMarker(source))?.marker
  if (marker === undefined || marker.state === 'filling') return null
  await source.migrationSource.resumeWrites()
  await removeMarker(source)
  return { state: marker.state, to: marker.to }
}

class StoreMigration {
  readonly #options: StoreMigrationOptions
  readonly #vectors: VectorCopy
  #from = ''
  #to = ''

  constructor(options: StoreMigrationOptions) {
    this.#options = options
    const { source, target } = options
    const ends = { from: source.vectors ?? null, to: target.vectors ?? null }
    this.#vectors = new VectorCopy({ ...ends, memories: source })
  }

  async run(): Promise<StoreMigrationResult> {
    const { source, target } = this.#options
    const report = await source.getReport()
    this.#from = report.location
    this.#to = (await target.getReport()).location
    const { move, state, isResumed } = await this.#startOrResume()
    const total = TABLES.reduce((sum, table) => sum + report.rows[table], 0)
    const copy = await this.#openCopy(move, total)
    if (state === 'moved') return this.#finish({ writeFreezeMs: null, isResumed })
    const logState = await source.migrationSource.startChangeLog()
    await copy.copyAll({ restart: logState === 'begun' })
    await this.#catchUp(copy)
    const differing = await this.#compare(total)
    const writeFreezeMs = await this.#switchOver(copy, move, differing)
    return this.#finish({ writeFreezeMs, isResumed })
  }

  /** Resumes an unfinished migration or starts a new one. */
  async #startOrResume(): Promise<{
    move: string
    state: MigrationMarker['state']
    isResumed: boolean
  }> {
    const { source, target, now } = this.#options
    const own = await readMarker(source)
    const targetMarker = (await readMarker(target))?.marker
    if (own?.marker.state === 'filling') {
      const message = `The store at ${this.#from} is itself the target of an unfinished migration. Finish that one first.`
      throw new AppError('conflict', message)
    }
    const isSame = targetMarker?.state === 'filling' && targetMarker.move === own?.marker.move
    if (own !== null && isSame) {
      return { move: own.marker.move, state: own.marker.state, isResumed: true }
    }
    if (own?.marker.state === 'moved') {
      throw new AppError('read_only', buildMovedMessage(own.marker.to))
    }
    await assertEmpty(target, this.#to)
    const marker: MigrationMarker = { state: 'moving', move: randomUUID(), to: this.#to }
    const entry = buildMarkerEntry(marker, (own?.version ?? 0) + 1, now())
    const expect = own === null ? ('absent' as const) : { version: own.version }
    const outcome = await source.commit([{ op: 'put', table: 'entry', row: entry, expect }])
    if (outcome.kind === 'conflict') {
      throw new AppError('busy', 'Another process has just started to migrate this store.')
    }
    return { move: marker.move, state: 'moving', isResumed: false }
  }

  #openCopy(move: string, total: number): Promise<StoreCopy> {
    const { source, target, now, signal } = this.#options
    let copied = 0
    return StoreCopy.open(
      {
        ...{ source, target, now, vectors: this.#vectors },
        throwIfAborted: () => throwIfAborted(signal),
        onCopied: (rows) => {
          copied += rows
          this.#report('copying', copied, total)
        },
      },
      { state: 'filling', move, from: this.#from, cursor: 'start' },
    )
  }

  #report(phase: MigrationPhase, done: number, total: number): void {
    this.#options.onProgress?.(phase, done, total)
  }

  /** Applies logged changes until few are left. Resolves to the rows that were applied. */
  async #catchUp(copy: StoreCopy): Promise<readonly ChangedRow[]> {
    const { migrationSource } = this.#options.source
    const synced: ChangedRow[] = []
    for (let round = 0; round < ROUNDS_MAX; round++) {
      throwIfAborted(this.#options.signal)
      const { rows, sequenceNumbers } = await migrationSource.readChangeLog(CHANGES_PER_ROUND)
      this.#report('catching up', 0, rows.length)
      await copy.syncRows(rows)
      await migrationSource.acknowledgeChanges(sequenceNumbers)
      synced.push(...rows)
      if (rows.length <= SMALL_ROUND) return synced
    }
    throw createTooManyChangesError()
  }

  /** Compares every row of both stores. Rows that differ are copied again. */
  async #compare(total: number): Promise<readonly ChangedRow[]> {
    const { source, target, signal } = this.#options
    const differing: ChangedRow[] = []
    let done = 0
    await this.#vectors.refreshSpaces()
    for (const owner of await listAllOwners(source, target)) {
      for await (const { isDifferent, row } of compareRows(source, target, owner)) {
        if (isDifferent) differing.push(row)
        if (++done % 1_000 === 0) {
          throwIfAborted(signal)
          this.#report('comparing', done, total)
        }
      }
      await this.#vectors.copyOwner(owner)
    }
    return differing
  }

  /** Applies and compares what changed since the comparison, the last of it while writes are frozen. */
  async #switchOver(
    copy: StoreCopy,
    move: string,
    differing: readonly ChangedRow[],
  ): Promise<number> {
    const { source } = this.#options
    await copy.syncRows(differing)
    const since = await this.#catchUp(copy)
    const unresolved = await copy.findDifferences([...differing, ...since])
    await this.#catchUp(copy)
    this.#report('switching', 0, 1)
    const frozenSince = await source.migrationSource.freezeWrites(async ({ since, handOver }) => {
      await withFreezeTimeout(this.#applyLastChanges(copy, unresolved))
      const marker: MigrationMarker = { state: 'moved', move, to: this.#to }
      await handOver({
        entry: MARKER_ID,
        body: encodeMarker(marker),
        message: buildMovedMessage(this.#to),
      })
      return since
    })
    return Math.round(performance.now() - frozenSince)
  }

  /** Checks only the changed rows; comparing all rows again would extend the freeze with the size of the store. */
  async #applyLastChanges(copy: StoreCopy, unresolved: readonly ChangedRow[]): Promise<void> {
    const { source } = this.#options
    const { rows, sequenceNumbers } = await source.migrationSource.readChangeLog(CHANGES_PER_ROUND)
    if (sequenceNumbers.length === CHANGES_PER_ROUND) throw createTooManyChangesError()
    await copy.syncRows([...rows, ...unresolved])
    const differing = await copy.findDifferences([...rows, ...unresolved])
    if (differing.length === 0) return
    const tables = new Set(differing.map(({ table }) => table))
    throw new AppError(
      'internal',
      `The two stores differ in: ${[...tables].join(', ')}. The source is still in use; run the migration again to resume.`,
    )
  }

  async #finish(
    outcome: Pick<StoreMigrationResult, 'writeFreezeMs' | 'isResumed'>,
  ): Promise<StoreMigrationResult> {
    const { target } = this.#options
    await removeMarker(target)
    const { rows } = await target.getReport()
    const spaces = (await target.vectors?.spaces()) ?? []
    const refused = [...this.#vectors.refused].map(([space, because]) => ({ space, because }))
    return {
      ...{ from: this.#from, to: this.#to, rows, ...outcome },
      vectors: spaces.reduce((sum, { vectors }) => sum + vectors, 0),
      vectorsRefused: refused,
    }
  }
}

function createTooManyChangesError(): AppError {
  return new AppError(
    'busy',
    'The store changes faster than it can be copied. Run the migration again at a quieter time to resume.',
  )
}

async function assertEmpty(target: Store, location: string): Promise<void> {
  if ((await target.listPlaces()).length === 0) return
  throw new AppError(
    'conflict',
    `The store at ${location} is not empty. Choose another target, or remove its contents.`,
  )
}

/** The work itself goes on: whoever was too late has nobody to answer to. */
function withFreezeTimeout<T>(work: Promise<T>): Promise<T> {
  const onTimeout = () =>
    new AppError(
      'busy',
      'The last changes could not be applied in time. The source is still in use; run the migration again to resume.',
    )
  return runWithTimeout(FREEZE_TIMEOUT_MS, () => work, { onTimeout })
}
