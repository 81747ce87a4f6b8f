/**
 * Pairs, one at a time, to the process that scores them. The process is started by the first pair and lives until it is
 * closed. When the model can't be opened, calls fail with the same reason for a moment before it is tried again.
 */

import { createAbortedError, throwIfAborted } from '../../lib/abort.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { startWorkerProcess, type WorkerProcess } from '../runtime/worker-process.ts'
import type {
  CrossEncoderRequest,
  RerankerWorkerAnswer,
  RerankerWorkerRequest,
  TextPair,
} from './reranker-worker-protocol.ts'
// Makes the compiler emit the worker wherever this file is compiled to: nothing else imports it.

export type ScoringWorker = WorkerProcess<RerankerWorkerRequest, RerankerWorkerAnswer>

export type ScoringOptions = {
  readonly request: CrossEncoderRequest
  /** How long a worker may take for one pair before it is taken for stuck. */
  readonly answerMsMax: number
  /** Milliseconds from any beginning, for the pause after a failure. */
  readonly now: () => number
}

export type ScoringClient = {
  /** May be a number that is not finite, if the model gives one. */
  score(pair: TextPair, signal: AbortSignal): Promise<number>
  close(): Promise<void>
}

type ScoringJob = {
  readonly pair: TextPair
  readonly resolve: (score: number) => void
  readonly reject: (error: AppError) => void
}

type WorkerSession = {
  readonly worker: ScoringWorker
  isOpen: boolean
  /** The pair that is with the worker, even when nobody waits for it any more. */
  asked: { readonly job: ScoringJob; readonly timer: NodeJS.Timeout } | null
}

const PAUSE_MS = 1_000
const PAUSE_MS_MAX = MINUTE_MS

export function startScoringWorker(): ScoringWorker {
  return startWorkerProcess(import.meta.url)
}

export function openScoringClient(
  startWorker: () => ScoringWorker,
  options: ScoringOptions,
): ScoringClient {
  const { request, answerMsMax, now } = options
  /** In the order of their coming, the one that is with the worker included. */
  const waiting = new Set<ScoringJob>()
  let session: WorkerSession | null = null
  let failure: { readonly error: AppError; readonly retryAt: number } | null = null
  let failuresInARow = 0
  let isClosed = false

  function wake(): void {
    session ??= start()
    session?.worker.keepAlive(true)
    serveNext()
  }

  function start(): WorkerSession | null {
    try {
      const started: WorkerSession = { worker: startWorker(), isOpen: false, asked: null }
      // What a worker says that was given up meanwhile is not heard.
      started.worker.listen({
        onAnswer: (answer) => session === started && take(started, answer),
        onExit: (because) => session === started && lose(started, because),
      })
      started.worker.send({ kind: 'open', request })
      return started
    } catch (thrown) {
      failToOpen(startFailure(thrown))
      return null
    }
  }

  function take(current: WorkerSession, answer: RerankerWorkerAnswer): void {
    if (!current.isOpen) {
      if (answer.kind === 'opened') takeOpened(current)
      else {
        giveUp(current)
        failToOpen(errorOf(answer))
      }
      return
    }
    const { asked } = current
    if (asked === null) return
    clearTimeout(asked.timer)
    current.asked = null
    if (waiting.delete(asked.job)) settle(asked.job, answer)
    serveNext()
  }

  function takeOpened(current: WorkerSession): void {
    current.isOpen = true
    failure = null
    failuresInARow = 0
    serveNext()
  }

  function serveNext(): void {
    if (session === null || !session.isOpen || session.asked !== null) return
    const [job] = waiting
    if (job === undefined) restIfIdle()
    else ask(session, job)
  }

  function ask(current: WorkerSession, job: ScoringJob): void {
    const stuck = () => lose(current, `no answer within ${answerMsMax} ms`)
    current.asked = { job, timer: setTimeout(stuck, answerMsMax) }
    current.worker.send({ kind: 'score', pair: job.pair })
  }

  /** The application may end when nobody waits, although the worker lives. */
  function restIfIdle(): void {
    if (waiting.size > 0) return
    session?.worker.keepAlive(false)
    session?.asked?.timer.unref()
  }

  function lose(current: WorkerSession, because: string): void {
    giveUp(current)
    const message = `The process of the reranking model ended (${because}). The next call starts it again.`
    const error = new AppError('unavailable', message)
    if (current.isOpen) rejectAll(error)
    else failToOpen(error)
  }

  function failToOpen(error: AppError): void {
    const pause = Math.min(PAUSE_MS * 2 ** failuresInARow, PAUSE_MS_MAX)
    failuresInARow++
    failure = { error, retryAt: now() + pause }
    rejectAll(error)
  }

  function rejectAll(error: AppError): void {
    const all = [...waiting]
    waiting.clear()
    for (const { reject } of all) reject(copyOf(error))
  }

  /** Leaves nothing running: the next attempt begins with a new process. */
  function giveUp(current: WorkerSession): void {
    if (session !== current) return
    session = null
    if (current.asked !== null) clearTimeout(current.asked.timer)
    void current.worker.stop()
  }

  function refuseNow(signal: AbortSignal): void {
    throwIfAborted(signal)
    if (isClosed) throw new AppError('unavailable', 'The reranker is closed.')
    if (failure !== null && now() < failure.retryAt) throw copyOf(failure.error)
  }

  return {
    score: (pair, signal) =>
      new Promise((resolve, reject) => {
        refuseNow(signal)
        const cancel = () => {
          if (waiting.delete(job)) job.reject(createAbortedError())
          restIfIdle()
        }
        const done = () => signal.removeEventListener('abort', cancel)
        const job: ScoringJob = {
          pair,
          resolve: (score) => {
            done()
            resolve(score)
          },
          reject: (error) => {
            done()
            reject(error)
          },
        }
        waiting.add(job)
        signal.addEventListener('abort', cancel)
        wake()
      }),

    async close() {
      isClosed = true
      const worker = session?.worker
      if (session !== null) giveUp(session)
      rejectAll(new AppError('cancelled', 'The reranker was closed before it answered.'))
      await worker?.stop()
    },
  }
}

function settle(job: ScoringJob, answer: RerankerWorkerAnswer): void {
  if (answer.kind === 'scored') job.resolve(answer.score)
  else job.reject(errorOf(answer))
}

function errorOf(answer: RerankerWorkerAnswer): AppError {
  return answer.kind === 'failed'
    ? new AppError(answer.code, answer.message, answer.facts)
    : new AppError('internal', 'The process of the reranking model gave an answer out of order.')
}

function startFailure(thrown: unknown): AppError {
  const error = toAppError(thrown)
  if (error.code !== 'internal') return error
  const message = `The process of the reranking model could not be started: ${error.message}`
  return new AppError('unavailable', message, {}, thrown)
}

/** Every caller gets an error of its own, with its own stack. */
function copyOf(error: AppError): AppError {
  return new AppError(error.code, error.message, error.facts, error.cause)
}
