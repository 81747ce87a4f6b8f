import { constants, setPriority } from 'node:os'
import {
  startWorkerProcess,
  type WorkerListener,
  type WorkerProcess,
} from '../../runtime/worker-process.ts'
import type { EmbedderWorkerAnswer, EmbedderWorkerRequest } from './embedder-worker-protocol.ts'
// Makes the compiler emit the worker, which nothing else imports.
import type {} from './worker.ts'

export type EmbedderWorkerListener = WorkerListener<EmbedderWorkerAnswer>
export type EmbedderWorker = WorkerProcess<EmbedderWorkerRequest, EmbedderWorkerAnswer>

export function startEmbedderWorker(): EmbedderWorker {
  return startWorkerProcess(import.meta.url)
}

/** For work that nobody waits for: it gets what others leave of the processor. */
export function startLowPriorityWorker(): EmbedderWorker {
  const worker = startEmbedderWorker()
  if (worker.pid !== undefined) lowerPriority(worker.pid)
  return worker
}

/** At once, because threads that the process starts later take over its priority. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended, or lowering its priority is not permitted.
  }
}
