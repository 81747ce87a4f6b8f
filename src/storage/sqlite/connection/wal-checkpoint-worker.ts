/** The thread of `checkpoints.ts`. Answers each order with whether it was carried out. */
import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from './sqlite-driver.ts'
import type { CheckpointMode, CheckpointTarget } from './wal-checkpointer.ts'

/** For so long it waits for whoever reads or writes, before it leaves something in the log. */
const EMPTYING_MS = 1_000

const { path, key } = workerData as CheckpointTarget // given by `checkpoints.ts`
const connection = await openConnection(path, key)
connection.exec(`PRAGMA busy_timeout = ${EMPTYING_MS}`)
const statements = {
  // Passive: it moves what it can and never keeps anybody from reading or writing.
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
    return false // it is tried again after the next commits
  }
}
