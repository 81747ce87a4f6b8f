/** The worker thread of `wal-checkpointer.ts`. Answers each command with whether it succeeded. */
import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from './sqlite-driver.ts'
import type { CheckpointMode, CheckpointTarget } from './wal-checkpointer.ts'

/** How long a truncation waits for readers and writers of the WAL. */
const TRUNCATE_TIMEOUT_MS = 1_000

const { path, key } = workerData as CheckpointTarget // set by `wal-checkpointer.ts`
const connection = await openConnection(path, key)
connection.exec(`PRAGMA busy_timeout = ${TRUNCATE_TIMEOUT_MS}`)
const statements = {
  // A passive checkpoint never blocks readers or writers.
  move: connection.prepare('PRAGMA wal_checkpoint(PASSIVE)'),
  empty: connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)'),
} satisfies Record<CheckpointMode, unknown>

parentPort?.on('message', (order: CheckpointMode) => {
  parentPort?.postMessage(isDone(order))
})

function isDone(order: CheckpointMode): boolean {
  try {
    return statements[order].all()[0]?.busy === 0
  } catch {
    return false // the next commits trigger another attempt
  }
}
