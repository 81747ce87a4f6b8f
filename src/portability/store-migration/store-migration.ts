/**
 * Moves everything from one store to another while it is used.
 *
 * Changes are noted before the first row is copied. What was noted while rows were copied is brought over in rounds, then
 * both ends are compared row by row. The rest is brought over while writes wait; it is little, so that is short. Then the
 * old store takes no more writes, and only then is the new one open: at no time do two stores take them.
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
  /** Of the new store, once it was complete. */
  readonly rows: Readonly<Record<Table, number>>
  readonly vectors: number
  /** Vectors that have to be made again, and why. */
  readonly rejectedVectorSpaces: readonly { readonly space: string; readonly reason: string }[]
  /** For how long writes waited; null when an earlier run had held them. */
  readonly writeFreezeMs: number | null
  readonly isResumed: boolean
}

/** A round that is this small is the last one before writes are held. */
const SMALL_ROUND = 50
const NOTES_PER_ROUND = 2_000
/** Rounds without end mean that the store changes faster than it can be copied. */
const ROUNDS_MAX = 200
/** Whoever waits for longer is told that the store is busy. */
const HELD_MS_MAX = 4_000
const STOPPED = 'Stopped; the same command goes on from here.'

export async function migrateStore(options: StoreMigrationOptions): Promise<StoreMigrationResult> {
  return new StoreMigration(options).run()
}

export type MigrationUndoResult = { readonly state: 'moving' | 'moved'; readonly to: string }

/** Takes a store that was left into use again, or gives up leaving it. Null when it was neither. */
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
    const { move, state, isResumed } = await this.#begin()
    const total = TABLES.reduce((sum, table) => sum + report.rows[table], 0)
    const filler = await this.#filler(move, total)
    if (state === 'moved') return this.#finish({ writeFreezeMs: null, isResumed })
    const watching = await source.migrationSource.startChangeLog()
    await filler.copyAll({ anew: watching === 'begun' })
    await this.#catchUp(filler)
    const differing = await this.#compare(total)
    const heldMs = await this.#switch(filler, move, differing)
    return this.#finish({ writeFreezeMs: heldMs, isResumed })
  }

  /** The same move again if it was begun and not ended, else a new one. */
  async #begin(): Promise<{ move: string; state: MigrationMarker['state']; isResumed: boolean }> {
    const { source, target, now } = this.#options
    const here = await readMarker(source)
    const there = (await readMarker(target))?.marker
    if (here?.marker.state === 'filling') {
      throw new AppError('conflict', `The store at ${this.#from} is itself not complete.`)
    }
    const isSame = there?.state === 'filling' && there.move === here?.marker.move
    if (here !== null && isSame) {
      return { move: here.marker.move, state: here.marker.state, isResumed: true }
    }
    if (here?.marker.state === 'moved')
      throw new AppError('read_only', buildMovedMessage(here.marker.to))
    await assertEmpty(target, this.#to)
    const marker: MigrationMarker = { state: 'moving', move: randomUUID(), to: this.#to }
    const entry = buildMarkerEntry(marker, (here?.version ?? 0) + 1, now())
    const expect = here === null ? ('absent' as const) : { version: here.version }
    const outcome = await source.commit([{ op: 'put', table: 'entry', row: entry, expect }])
    if (outcome.kind === 'conflict') {
      throw new AppError('busy', 'Another process has just begun to move this store.')
    }
    return { move: marker.move, state: 'moving', isResumed: false }
  }

  #filler(move: string, total: number): Promise<StoreCopy> {
    const { source, target, now, signal } = this.#options
    let copied = 0
    return StoreCopy.open(
      {
        ...{ source, target, now, vectors: this.#vectors },
        throwIfStopped: () => throwIfAborted(signal, STOPPED),
        onCopied: (rows) => {
          copied += rows
          this.#tell('copying', copied, total)
        },
      },
      { state: 'filling', move, from: this.#from, cursor: 'start' },
    )
  }

  #tell(phase: MigrationPhase, done: number, total: number): void {
    this.#options.onProgress?.(phase, done, total)
  }

  /** Brings over what was noted, until little is left. Says which rows that were. */
  async #catchUp(filler: StoreCopy): Promise<readonly ChangedRow[]> {
    const { migrationSource } = this.#options.source
    const brought: ChangedRow[] = []
    for (let round = 0; round < ROUNDS_MAX; round++) {
      throwIfAborted(this.#options.signal, STOPPED)
      const { rows, sequenceNumbers: numbers } =
        await migrationSource.readChangeLog(NOTES_PER_ROUND)
      this.#tell('catching up', 0, rows.length)
      await filler.bringOver(rows)
      await migrationSource.acknowledgeChanges(numbers)
      brought.push(...rows)
      if (rows.length <= SMALL_ROUND) return brought
    }
    throw createTooManyChangesError()
  }

  /** Every row of both ends. What differs has changed since, or was missed: either way it is brought over again. */
  async #compare(total: number): Promise<readonly ChangedRow[]> {
    const { source, target, signal } = this.#options
    const differing: ChangedRow[] = []
    let done = 0
    await this.#vectors.look()
    for (const owner of await listAllOwners(source, target)) {
      for await (const { isDifferent, row } of compareRows(source, target, owner)) {
        if (isDifferent) differing.push(row)
        if (++done % 1_000 === 0) {
          throwIfAborted(signal, STOPPED)
          this.#tell('comparing', done, total)
        }
      }
      await this.#vectors.copyOwner(owner)
    }
    return differing
  }

  /**
   * Everything was compared, except what has changed since. That is brought over and compared until little is left, and
   * the last of it while writes wait.
   */
  async #switch(
    filler: StoreCopy,
    move: string,
    differing: readonly ChangedRow[],
  ): Promise<number> {
    const { source } = this.#options
    await filler.bringOver(differing)
    const since = await this.#catchUp(filler)
    const open = await filler.differing([...differing, ...since])
    await this.#catchUp(filler)
    this.#tell('switching', 0, 1)
    const heldFrom = await source.migrationSource.freezeWrites(
      async ({ since, handOver: depart }) => {
        await withFreezeTimeout(this.#last(filler, open))
        const marker: MigrationMarker = { state: 'moved', move, to: this.#to }
        await depart({
          entry: MARKER_ID,
          body: encodeMarker(marker),
          message: buildMovedMessage(this.#to),
        })
        return since
      },
    )
    return Math.round(performance.now() - heldFrom)
  }

  /** Only what has changed: what was compared before is the same still, and counting it would take the longer the more there is. */
  async #last(filler: StoreCopy, open: readonly ChangedRow[]): Promise<void> {
    const { source } = this.#options
    const { rows, sequenceNumbers: numbers } =
      await source.migrationSource.readChangeLog(NOTES_PER_ROUND)
    if (numbers.length === NOTES_PER_ROUND) throw createTooManyChangesError()
    await filler.bringOver([...rows, ...open])
    const differing = await filler.differing([...rows, ...open])
    if (differing.length === 0) return
    const wrong = new Set(differing.map(({ table }) => table))
    throw new AppError(
      'internal',
      `The two stores differ in: ${[...wrong].join(', ')}. Nothing was switched; run this again to go on.`,
    )
  }

  async #finish(
    held: Pick<StoreMigrationResult, 'writeFreezeMs' | 'isResumed'>,
  ): Promise<StoreMigrationResult> {
    const { target } = this.#options
    await removeMarker(target)
    const { rows } = await target.getReport()
    const spaces = (await target.vectors?.spaces()) ?? []
    const rejected = [...this.#vectors.refused].map(([space, reason]) => ({ space, reason }))
    return {
      ...{ from: this.#from, to: this.#to, rows, ...held },
      vectors: spaces.reduce((sum, { vectors }) => sum + vectors, 0),
      rejectedVectorSpaces: rejected,
    }
  }
}

function createTooManyChangesError(): AppError {
  return new AppError(
    'busy',
    'The store changes faster than it can be copied. Run this again at a quieter time; it goes on where it was.',
  )
}

async function assertEmpty(target: Store, location: string): Promise<void> {
  if ((await target.listPlaces()).length === 0) return
  throw new AppError(
    'conflict',
    `The store at ${location} is not empty. Choose another place, or remove what is there.`,
  )
}

/** The work itself goes on: whoever was too late has nobody to answer to. */
function withFreezeTimeout<T>(work: Promise<T>): Promise<T> {
  const onTimeout = () =>
    new AppError(
      'busy',
      'The last changes could not be brought over in time. Nothing was switched; run this again to go on.',
    )
  return runWithTimeout(HELD_MS_MAX, () => work, { onTimeout })
}
