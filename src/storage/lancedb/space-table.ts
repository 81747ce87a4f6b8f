/** The table of one space, with serialized writes. */
import type { Clock } from '../../lib/clock.ts'
import { retry } from '../../lib/retry.ts'
import { runWithTimeout } from '../../lib/timeout.ts'
import type { ReplicaPoint } from '../vector-replica.ts'
import type { ArrowTable } from './arrow-table.ts'
import { isCommitConflict, type LanceModule, type LanceTable } from './lancedb-driver.ts'
import { toPointTable } from './point-rows.ts'
import {
  startTableMaintenance,
  type TableMaintenance,
  type TableMaintenanceOptions,
} from './table-maintenance.ts'
import { createWriteQueue } from './write-queue.ts'

export type SpaceTable = Pick<TableMaintenance, 'wantIndex' | 'trouble'> & {
  readonly table: LanceTable
  readonly dimensions: number
  upsert(points: readonly ReplicaPoint[]): Promise<void>
  /** Removes the rows that match any of the predicates, and returns their number. */
  remove(predicates: readonly string[]): Promise<number>
  /** Waits for writes, and briefly for an index build. The table must not be used afterwards. */
  close(): Promise<void>
}

const BATCH_BYTES_MAX = 32 * 1024 * 1024
const NUMBER_BYTES = 4
const ATTEMPTS_MAX = 8
const PAUSE_MS = 20
const CLOSE_WAIT_MS_MAX = 5_000

export async function openSpaceTable(
  lance: LanceModule,
  table: LanceTable,
  options: TableMaintenanceOptions & { readonly clock: Clock; readonly dimensions: number },
): Promise<SpaceTable> {
  const { clock, dimensions } = options
  const batchPointsMax = Math.max(1, Math.floor(BATCH_BYTES_MAX / (dimensions * NUMBER_BYTES)))
  const closing = new AbortController()
  const queue = createWriteQueue(writeAll, batchPointsMax)
  const upkeep = await startTableMaintenance(
    { lance, table, dimensions, clock, inTurn: queue.run },
    options,
  )

  async function writeAll(points: readonly ReplicaPoint[]): Promise<void> {
    for (let start = 0; start < points.length; start += batchPointsMax) {
      const batch = points.slice(start, start + batchPointsMax)
      await commit(batch.length, () => merge(toPointTable(dimensions, batch)))
    }
  }

  /**
   * Without the index on ids: with it, two processes that insert the same point would not conflict.
   */
  function merge(rows: ArrowTable): Promise<unknown> {
    return table
      .mergeInsert('id')
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .useIndex(false)
      .execute(rows)
  }

  /** Retries when another process has committed first. */
  async function commit<Result>(rows: number, work: () => Promise<Result>): Promise<Result> {
    const delayMs = (error: unknown, count: number) =>
      isCommitConflict(error) && count < ATTEMPTS_MAX - 1 ? PAUSE_MS * (count + 1) : null
    const result = await retry(work, { clock, delayMs, signal: closing.signal })
    upkeep.noteCommit(rows)
    return result
  }

  return {
    table,
    dimensions,
    wantIndex: upkeep.wantIndex,
    trouble: upkeep.trouble,
    upsert: queue.upsert,
    remove: (predicates) =>
      queue.run(async () => {
        let removed = 0
        for (const predicate of predicates) {
          const { numDeletedRows } = await commit(1, () => table.delete(predicate))
          removed += numDeletedRows
        }
        return removed
      }),
    async close() {
      upkeep.stop()
      await queue.idle()
      closing.abort()
      const onTimeout = () => new Error('still compacting')
      await runWithTimeout(CLOSE_WAIT_MS_MAX, upkeep.idle, { onTimeout, clock }).catch(() => {})
      table.close()
    },
  }
}
