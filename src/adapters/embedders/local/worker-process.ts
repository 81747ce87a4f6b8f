import {
  type ProcessListener,
  startWorkerBeside,
  type WorkerProcess,
} from '../../shared/worker-process.ts'
import type { WorkerAnswer, WorkerRequest } from './messages.ts'
// Makes the compiler emit the worker wherever this file is compiled to: nothing else imports it.
import type {} from './worker.ts'

export type WorkerListener = ProcessListener<WorkerAnswer>
export type LocalWorker = WorkerProcess<WorkerRequest, WorkerAnswer>

export function startWorkerProcess(): LocalWorker {
  return startWorkerBeside(import.meta.url)
}
