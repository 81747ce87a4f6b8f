/**
 * Table maintenance: compaction, version cleanup and index builds. Every commit leaves a fragment,
 * which slows searches down, and a version, which takes space. After some commits, fragments are
 * compacted and old versions removed, between two writes. Versions are retained for a while for
 * their readers. LanceDB removes unfinished files of a killed process after a week, since they look
 * like those that another process is about to commit. The vector index is built concurrently with
 * writes, when a search has met more rows than it should compare exactly.
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
  /** Commits between compactions; each fragment costs a search about 0.2 ms. */
  readonly commitsMax?: number
  /** How long versions are retained for readers. */
  readonly keepVersionsMs?: number
}

export type TableMaintenance = {
  noteCommit(rows: number): void
  /** The vector index, where one exists. A call builds or rebuilds it when that is due. */
  wantIndex(): VectorIndexStats | null
  /** The last failure, for the status. */
  trouble(): string | null
  /** Starts no further work. */
  stop(): void
  /** Resolves when no work is in progress. */
  idle(): Promise<unknown>
}

type TableMaintenanceDependencies = {
  readonly lance: LanceModule
  readonly table: LanceTable
  readonly dimensions: number
  readonly clock: Clock
  /** Runs work between two writes. */
  inTurn(work: () => Promise<void>): Promise<void>
}

const COMMITS_MAX = 32
/**
 * Large tables are compacted less often, because compaction rewrites whole fragments: one commit
 * per so many rows.
 */
const ROWS_PER_COMMIT = 10_000
const KEEP_VERSIONS_MS = MINUTE_MS
/** Unindexed rows are compared exactly: up to this number, or this share of the table. */
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

  /** Starts nothing while the same work is in progress, or after the end, and records failures. */
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
  /** Compaction would invalidate an index that is being built, so the two exclude each other. */
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

  /**
   * Compacts fragments and indexes new rows; returns the time up to which versions were removed.
   */
  async function optimise(): Promise<number> {
    const olderThan = clock.now() - keepVersionsMs
    const work = async () => {
      since = { commits: 0, rows: 0 }
      const { compaction } = await table.optimize({ cleanupOlderThan: new Date(olderThan) })
      // The uncompacted fragments stay for current readers.
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

  /** After a burst of writes, the versions it has left must be removed as well. */
  async function settle(): Promise<void> {
    for (let removedUpTo = 0; removedUpTo < changedAt; ) {
      await clock.sleep(keepVersionsMs + 1, stopping.signal)
      const isQuiet = clock.now() - committedAt >= keepVersionsMs
      if (isQuiet) removedUpTo = await optimise()
    }
  }

  async function train(): Promise<void> {
    // After a failure, every search would restart the build; it waits for the next compaction.
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
