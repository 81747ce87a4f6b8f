/**
 * The client of a model that runs in a worker process. The first call starts the process; one request at a time is with the
 * worker, and all other calls wait in the client, where they can overtake each other and cost nothing when they are aborted.
 * When the model cannot be opened, calls fail with the same reason until a growing pause is over.
 */
import { createAbortedError, throwIfAborted } from '../../lib/abort.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { exponentialBackoffMs } from '../../lib/retry.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import type { WorkerProcess } from './worker-process.ts'
import type { WorkerFailure } from './worker-server.ts'

/** What a caller wants of the model, in as many requests as it takes. */
export type WorkerCall<Request, Answer> = {
  /** Null when the call is complete. */
  nextRequest(): Request | null
  /** Fails the call by throwing an AppError. */
  takeAnswer(answer: Answer): void
}

/** Decides which call is served next. */
export type WorkerCallQueue<Call> = {
  /** Throws when the queue is full. */
  add(call: Call): void
  next(): Call | undefined
  /** Whether the call was still queued. */
  remove(call: Call): boolean
  removeAll(): readonly Call[]
}

export type WorkerClientOptions<Request, Answer, Call> = {
  readonly startWorker: () => WorkerProcess<Request, Answer | WorkerFailure>
  /** The first request; the worker opens the model. */
  readonly openRequest: Request
  /** Takes the answer to `openRequest`; a returned error refuses the model. */
  readonly onOpened?: (answer: Answer, startupMs: number) => AppError | null
  readonly queue: WorkerCallQueue<Call>
  /** A worker that takes longer for one request counts as stuck. */
  readonly answerTimeoutMs: number
  /** Milliseconds from any origin, for the pause after a failure. */
  readonly now: () => number
  /** As messages name the model, such as `local model`, and what it does, such as `embedder`. */
  readonly modelName: string
  readonly serviceName: string
  /** Facts of the error when the process ends. */
  readonly facts?: AppError['facts']
}

export type WorkerClientState =
  | { readonly kind: 'cold' | 'warming' | 'ready' }
  | { readonly kind: 'failing'; readonly reason: string }

type Session<Request, Answer, Call> = {
  readonly worker: WorkerProcess<Request, Answer | WorkerFailure>
  readonly startedAt: number
  isOpen: boolean
  /** The call whose request is with the worker, even when nobody waits for it any more. */
  sent: { readonly call: Call; readonly timer: NodeJS.Timeout } | null
}

const RESTART_BACKOFF = { firstMs: 1_000, maxMs: MINUTE_MS }

export class WorkerClient<
  Request,
  Answer extends { readonly kind: string },
  Call extends WorkerCall<Request, Answer>,
> {
  readonly #options: WorkerClientOptions<Request, Answer, Call>
  readonly #settle = new Map<Call, (error?: AppError) => void>()
  #session: Session<Request, Answer, Call> | null = null
  #state: WorkerClientState = { kind: 'cold' }
  #openFailure: { readonly error: AppError; readonly retryAt: number } | null = null
  #openFailures = 0
  #isClosed = false

  constructor(options: WorkerClientOptions<Request, Answer, Call>) {
    this.#options = options
  }

  get state(): WorkerClientState {
    return this.#state
  }

  /** Resolves when the call is complete. */
  run(call: Call, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#assertAvailable(signal)
      this.#options.queue.add(call)
      const onAbort = () => {
        this.#finish(call, createAbortedError())
        this.#restIfIdle()
      }
      this.#settle.set(call, (error) => {
        signal?.removeEventListener('abort', onAbort)
        if (error === undefined) resolve()
        else reject(error)
      })
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#session ??= this.#start()
      this.#session?.worker.keepAlive(true)
      this.#serveNext()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#session?.worker
    if (this.#session !== null) this.#abandon(this.#session)
    const message = `The ${this.#options.serviceName} was closed before it responded.`
    this.#finishAll(new AppError('cancelled', message))
    await worker?.stop()
  }

  #assertAvailable(signal: AbortSignal | undefined): void {
    const { serviceName, now } = this.#options
    throwIfAborted(signal)
    if (this.#isClosed) throw new AppError('unavailable', `The ${serviceName} is closed.`)
    const failure = this.#openFailure
    if (failure !== null && now() < failure.retryAt) throw copyError(failure.error)
  }

  #start(): Session<Request, Answer, Call> | null {
    const { startWorker, openRequest, now } = this.#options
    this.#state = { kind: 'warming' }
    try {
      const worker = startWorker()
      const session: Session<Request, Answer, Call> = {
        ...{ worker, startedAt: now(), isOpen: false, sent: null },
      }
      // Messages of an abandoned worker are ignored.
      worker.listen({
        onAnswer: (answer) => this.#session === session && this.#receive(session, answer),
        onExit: (reason) => this.#session === session && this.#lose(session, reason),
      })
      worker.send(openRequest)
      return session
    } catch (thrown) {
      this.#failToOpen(this.#toStartError(thrown))
      return null
    }
  }

  #receive(session: Session<Request, Answer, Call>, answer: Answer | WorkerFailure): void {
    if (!session.isOpen) {
      this.#receiveOpened(session, answer)
      return
    }
    const { sent } = session
    if (sent === null) return
    clearTimeout(sent.timer)
    session.sent = null
    if (this.#settle.has(sent.call)) {
      try {
        if (isFailure(answer)) throw toAnswerError(answer)
        sent.call.takeAnswer(answer)
      } catch (thrown) {
        this.#finish(sent.call, toAppError(thrown))
      }
    }
    this.#serveNext()
  }

  #receiveOpened(session: Session<Request, Answer, Call>, answer: Answer | WorkerFailure): void {
    const { onOpened, now, modelName } = this.#options
    const startupMs = now() - session.startedAt
    const error = isFailure(answer)
      ? toAnswerError(answer)
      : answer.kind === 'opened'
        ? (onOpened?.(answer, startupMs) ?? null)
        : createOrderError(modelName)
    if (error !== null) {
      this.#abandon(session)
      this.#failToOpen(error)
      return
    }
    session.isOpen = true
    this.#state = { kind: 'ready' }
    this.#openFailure = null
    this.#openFailures = 0
    this.#serveNext()
  }

  #serveNext(): void {
    const session = this.#session
    if (session === null || !session.isOpen || session.sent !== null) return
    const { queue } = this.#options
    for (let call = queue.next(); call !== undefined; call = queue.next()) {
      const request = call.nextRequest()
      if (request !== null) {
        this.#send(session, call, request)
        return
      }
      this.#finish(call)
    }
    this.#restIfIdle()
  }

  #send(session: Session<Request, Answer, Call>, call: Call, request: Request): void {
    const { answerTimeoutMs } = this.#options
    const onStuck = () => this.#lose(session, `no answer within ${answerTimeoutMs} ms`)
    session.sent = { call, timer: setTimeout(onStuck, answerTimeoutMs) }
    session.worker.send(request)
  }

  /** Without waiting calls, neither the worker nor the timer keeps the application alive. */
  #restIfIdle(): void {
    if (this.#options.queue.next() !== undefined) return
    this.#session?.worker.keepAlive(false)
    this.#session?.sent?.timer.unref()
  }

  #lose(session: Session<Request, Answer, Call>, reason: string): void {
    const { modelName, facts = {} } = this.#options
    this.#abandon(session)
    const message = `The process of the ${modelName} ended (${reason}). The next call starts it again.`
    const error = new AppError('unavailable', message, facts)
    if (session.isOpen) this.#fail(error)
    else this.#failToOpen(error)
  }

  #failToOpen(error: AppError): void {
    const pauseMs = exponentialBackoffMs(this.#openFailures++, RESTART_BACKOFF)
    this.#openFailure = { error, retryAt: this.#options.now() + pauseMs }
    this.#fail(error)
  }

  #fail(error: AppError): void {
    this.#state = { kind: 'failing', reason: error.message }
    this.#finishAll(error)
  }

  #finish(call: Call, error?: AppError): void {
    this.#options.queue.remove(call)
    const settle = this.#settle.get(call)
    this.#settle.delete(call)
    settle?.(error)
  }

  #finishAll(error: AppError): void {
    for (const call of this.#options.queue.removeAll()) this.#finish(call, copyError(error))
  }

  /** Leaves nothing running: the next attempt starts with a new process. */
  #abandon(session: Session<Request, Answer, Call>): void {
    if (this.#session !== session) return
    this.#session = null
    if (session.sent !== null) clearTimeout(session.sent.timer)
    session.sent = null
    void session.worker.stop()
  }

  #toStartError(thrown: unknown): AppError {
    const error = toAppError(thrown)
    if (error.code !== 'internal') return error
    const message = `The process of the ${this.#options.modelName} could not be started: ${error.message}`
    return new AppError('unavailable', message, {}, thrown)
  }
}

/** First come, first served. */
export function createFifoQueue<Call>(): WorkerCallQueue<Call> {
  const calls = new Set<Call>()
  return {
    add: (call) => void calls.add(call),
    next: () => calls.values().next().value,
    remove: (call) => calls.delete(call),
    removeAll: () => {
      const all = [...calls]
      calls.clear()
      return all
    },
  }
}

/** For an answer of a kind that the request does not have. */
export function createOrderError(modelName: string): AppError {
  return new AppError('internal', `The process of the ${modelName} sent an unexpected message.`)
}

function isFailure(answer: { readonly kind: string }): answer is WorkerFailure {
  return answer.kind === 'failed'
}

function toAnswerError({ code, message, facts }: WorkerFailure): AppError {
  return new AppError(code, message, facts)
}

/** Every caller gets an error of its own, with its own stack. */
function copyError(error: AppError): AppError {
  return new AppError(error.code, error.message, error.facts, error.cause)
}
