/**
 * What a table needs from time to time.
 *
 * Every commit leaves a fragment, which makes searches slower, and a version, which takes space. So after some commits
 * fragments are put together and old versions removed, between two writes. Versions stay for a while, because somebody
 * may be reading them. What a killed process has left unfinished is removed by the package after a week, since it can't
 * be told from what another process is about to commit. The index of vectors is made beside the writes, when a search has
 * met more rows than it should compare one by one.
 */
import type { Clock } from '../../lib/clock.ts'
import { Mutex } from '../../lib/mutex.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { type LanceModule, type LanceTable, toReplicaError } from './lancedb-driver.ts'
import {
  ensureScalarIndexes,
  findVectorIndex,
  isTrainingDue,
  trainVectorIndex,
  type VectorIndexStats,
} from './table-indexes.ts'

export type TableMaintenanceOptions = {
  /** After how many commits fragments are put together; each one costs a search about 0.2 ms. */
  readonly commitsMax?: number
  /** How long versions stay that somebody may still be reading. */
  readonly keepVersionsMs?: number
}

export type TableMaintenance = {
  noteCommit(rows: number): void
  /** The index of vectors, where there is one. It is made, or made anew, when this is asked for and it is due. */
  wantIndex(): VectorIndexStats | null
  /** What failed last, for people. */
  trouble(): string | null
  /** Begins nothing any more. */
  stop(): void
  /** Resolves when nothing is under way. */
  idle(): Promise<unknown>
}

type TableMaintenanceDependencies = {
  readonly lance: LanceModule
  readonly table: LanceTable
  readonly dimensions: number
  readonly clock: Clock
  /** Runs something between two writes. */
  inTurn(work: () => Promise<void>): Promise<void>
}

const COMMITS_MAX = 32
/** Large tables may have more commits, because what is put together is written again as a whole: one for so many rows. */
const ROWS_PER_COMMIT = 10_000
const KEEP_VERSIONS_MS = MINUTE_MS
/** Rows that no index knows yet are compared one by one: up to so many, or a share of the table. */
const UNINDEXED_ROWS_MAX = 4_096
const UNINDEXED_SHARE_MAX = 0.2

export async function startTableMaintenance(
  parts: TableMaintenanceDependencies,
  options: TableMaintenanceOptions,
): Promise<TableMaintenance> {
  const { lance, table, clock, dimensions } = parts
  const { commitsMax = COMMITS_MAX, keepVersionsMs = KEEP_VERSIONS_MS } = options
  const stopping = new AbortController()
  let index: VectorIndexStats | null = null
  let rows = 0
  let since = { commits: 0, rows: 0 }
  let [committedAt, changedAt] = [0, 0]
  let trouble: string | null = null
  let mayTrain = true
  const tidying = oneAtATime(tidyUp)
  const settling = oneAtATime(settle)
  const training = oneAtATime(train)

  /** Starts nothing while the same is under way, or after the end, and keeps what went wrong. */
  function oneAtATime(work: () => Promise<void>) {
    let running: Promise<void> | null = null
    return {
      start(): void {
        if (running !== null || stopping.signal.aborted) return
        running = work()
          .catch(noteTrouble)
          .finally(() => {
            running = null
          })
      },
      idle: () => running,
    }
  }

  const mutex = new Mutex()
  /** An index that is being made would be of no use once fragments were put together, so these wait for each other. */
  function alone(work: () => Promise<void>): Promise<void> {
    return mutex.run(async () => (stopping.signal.aborted ? undefined : work()))
  }

  function noteTrouble(thrown: unknown): void {
    if (!stopping.signal.aborted) trouble = toReplicaError(thrown).message
  }

  async function look(): Promise<number> {
    const stats = await table.stats()
    rows = stats.numRows
    index = findVectorIndex(await table.listIndices())
    return stats.fragmentStats.numFragments
  }

  /** Puts fragments together, and has what is new indexed; returns up to when versions were removed. */
  async function optimise(): Promise<number> {
    const olderThan = clock.now() - keepVersionsMs
    const work = async () => {
      since = { commits: 0, rows: 0 }
      const { compaction } = await table.optimize({ cleanupOlderThan: new Date(olderThan) })
      // What was put together is still there in pieces, for those who are reading it.
      if (compaction.fragmentsRemoved > 0) changedAt = clock.now()
      await ensureScalarIndexes(lance, table)
    }
    await alone(() => parts.inTurn(work))
    return olderThan
  }

  async function tidyUp(): Promise<void> {
    await optimise()
    await look()
    trouble = null
    mayTrain = true
    settling.start()
  }

  /** When writes end after a burst, the versions that they have left behind must not stay. */
  async function settle(): Promise<void> {
    for (let removedUpTo = 0; removedUpTo < changedAt; ) {
      await clock.sleep(keepVersionsMs + 1, stopping.signal)
      const isQuiet = clock.now() - committedAt >= keepVersionsMs
      if (isQuiet) removedUpTo = await optimise()
    }
  }

  async function train(): Promise<void> {
    // When this fails, every search would start it again; after the next tidying is soon enough.
    mayTrain = false
    await alone(async () =>
      trainVectorIndex(lance, table, { dimensions, rows: await table.countRows() }),
    )
    await look()
    mayTrain = true
  }

  if ((await look()) > commitsMax) tidying.start()

  return {
    noteCommit(written) {
      committedAt = clock.now()
      changedAt = committedAt
      since = { commits: since.commits + 1, rows: since.rows + written }
      const unindexedMax = Math.max(UNINDEXED_ROWS_MAX, rows * UNINDEXED_SHARE_MAX)
      const isMuch = since.commits >= commitsMax + Math.floor(rows / ROWS_PER_COMMIT)
      if (isMuch || since.rows >= unindexedMax) tidying.start()
    },
    wantIndex() {
      if (mayTrain && isTrainingDue(index, rows)) training.start()
      return index
    },
    trouble: () => trouble,
    stop: () => stopping.abort(),
    idle: () => Promise.allSettled([tidying.idle(), settling.idle(), training.idle()]),
  }
}
