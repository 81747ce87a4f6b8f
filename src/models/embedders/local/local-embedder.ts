/**
 * The built-in embedder: a model on this machine, in a process of its own, so that the event loop never waits for it.
 *
 * One text at a time is on its way to the worker, all others wait here: queries can overtake, cancelled texts cost
 * nothing, and a text's vector never depends on its company (activations are quantised per batch). The model is loaded
 * at the first call. When that fails, calls fail with the same reason for a moment before it is tried again.
 */
import { AppError, toAppError } from '../../../lib/errors.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { truncateText } from '../../../text/well-formed-text.ts'
import type { Embedder, EmbedderState, EmbeddingPurpose } from '../../embedder.ts'
import { withDocumentWorker } from './document-worker.ts'
import {
  type EmbedderWorker,
  startEmbedderWorker,
  startLowPriorityWorker,
} from './embedder-worker-process.ts'
import type { EmbedderWorkerAnswer, LoadedModel } from './embedder-worker-protocol.ts'
import {
  DEFAULT_TOKENS_MAX,
  type LocalEmbedderOptions,
  parseLocalOptions,
} from './local-embedder-options.ts'
import { createRequestQueue, type EmbeddingRequest } from './request-queue.ts'

const SOURCE = 'transformers'
const PAUSE_MS = 1_000
const PAUSE_MS_MAX = MINUTE_MS

type WorkerSession = {
  readonly worker: EmbedderWorker
  readonly startedAt: number
  isOpen: boolean
  /** The call whose text is with the worker. */
  asked: { readonly call: EmbeddingRequest; readonly timer: NodeJS.Timeout } | null
}

type OpenFailure = { readonly error: AppError; readonly retryAt: number }

export function openLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  return withDocumentWorker(
    openLocalEmbedderWith(startEmbedderWorker, options),
    () => openLocalEmbedderWith(startLowPriorityWorker, options),
    options.now === undefined ? {} : { now: options.now },
  )
}

export function openLocalEmbedderWith(
  startWorker: () => EmbedderWorker,
  options: LocalEmbedderOptions = {},
): Embedder {
  const settings = parseLocalOptions(options)
  const calls = createRequestQueue(settings.queueMax)
  let state: EmbedderState = { kind: 'cold' }
  let session: WorkerSession | null = null
  let known: LoadedModel | null = null
  let warmUpMs: number | null = null
  let failure: OpenFailure | null = null
  let failuresInARow = 0
  let isClosed = false

  function call(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal | undefined,
  ): Promise<readonly Float32Array[]> {
    return new Promise((resolve, reject) => {
      refuseNow(signal)
      const cancel = () => {
        if (calls.remove(made)) made.reject(cancelled())
        restIfIdle()
      }
      const done = () => signal?.removeEventListener('abort', cancel)
      const made: EmbeddingRequest = {
        texts,
        purpose,
        vectors: [],
        resolve: (vectors) => {
          done()
          resolve(vectors)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      }
      calls.add(made)
      signal?.addEventListener('abort', cancel, { once: true })
      wake()
    })
  }

  function refuseNow(signal: AbortSignal | undefined): void {
    if (signal?.aborted) throw cancelled()
    if (isClosed) throw new AppError('unavailable', 'The embedder is closed.')
    if (failure !== null && settings.now() < failure.retryAt) throw copyOf(failure.error)
  }

  function wake(): void {
    session ??= start()
    session?.worker.keepAlive(true)
    serveNext()
  }

  function start(): WorkerSession | null {
    state = { kind: 'warming' }
    try {
      const worker = startWorker()
      const started: WorkerSession = {
        worker,
        startedAt: settings.now(),
        isOpen: false,
        asked: null,
      }
      // What a worker says that was given up meanwhile is not heard.
      worker.listen({
        onAnswer: (answer) => session === started && take(started, answer),
        onExit: (because) => session === started && lose(started, because),
      })
      worker.send({ kind: 'open', request: settings.request })
      return started
    } catch (thrown) {
      failToOpen(startFailure(thrown))
      return null
    }
  }

  function take(current: WorkerSession, answer: EmbedderWorkerAnswer): void {
    if (answer.kind === 'opened') {
      takeModel(current, answer.model)
      return
    }
    if (!current.isOpen) {
      giveUp(current)
      failToOpen(errorOf(answer))
      return
    }
    const { asked } = current
    if (asked === null) return
    clearTimeout(asked.timer)
    current.asked = null
    takeVector(asked.call, answer)
    serveNext()
  }

  function takeModel(current: WorkerSession, model: LoadedModel): void {
    if (known !== null && known.model !== model.model) {
      giveUp(current)
      failToOpen(
        new AppError(
          'unavailable',
          `The model ${settings.name} was exchanged while it was in use. Start again to embed with the new one.`,
          { model: settings.name },
        ),
      )
      return
    }
    current.isOpen = true
    known = model
    warmUpMs = Math.round(settings.now() - current.startedAt)
    failure = null
    failuresInARow = 0
    state = { kind: 'ready' }
    serveNext()
  }

  function takeVector(asked: EmbeddingRequest, answer: EmbedderWorkerAnswer): void {
    const problem =
      answer.kind === 'embedded' ? faultOf(answer.vector, known?.dimensions) : errorOf(answer)
    if (problem === null && answer.kind === 'embedded') asked.vectors.push(answer.vector)
    else if (problem !== null && calls.remove(asked)) asked.reject(problem)
  }

  function serveNext(): void {
    if (session === null || !session.isOpen || session.asked !== null) return
    for (let next = calls.next(); next !== undefined; next = calls.next()) {
      const text = next.texts[next.vectors.length]
      if (text !== undefined) {
        ask(session, next, text)
        return
      }
      calls.remove(next)
      next.resolve(next.vectors)
    }
    restIfIdle()
  }

  function ask(current: WorkerSession, asking: EmbeddingRequest, text: string): void {
    const stuck = () => lose(current, `no answer within ${settings.answerTimeoutMs} ms`)
    const timer = setTimeout(stuck, settings.answerTimeoutMs)
    current.asked = { call: asking, timer }
    current.worker.send({
      kind: 'embed',
      text: truncateText(text, settings.textLengthMax),
      purpose: asking.purpose,
    })
  }

  /** The application may end when nobody waits, although the worker lives. */
  function restIfIdle(): void {
    if (calls.next() === undefined) session?.worker.keepAlive(false)
  }

  function lose(current: WorkerSession, because: string): void {
    giveUp(current)
    const message = `The process of the local model ended (${because}). The next call starts it again.`
    const error = new AppError('unavailable', message, { model: settings.name })
    if (current.isOpen) rejectAll(error)
    else failToOpen(error)
  }

  function failToOpen(error: AppError): void {
    const pause = Math.min(PAUSE_MS * 2 ** failuresInARow, PAUSE_MS_MAX)
    failuresInARow++
    failure = { error, retryAt: settings.now() + pause }
    rejectAll(error)
  }

  function rejectAll(error: AppError): void {
    state = { kind: 'failing', reason: error.message }
    for (const waiting of calls.removeAll()) waiting.reject(copyOf(error))
  }

  /** Leaves nothing running: the next attempt begins with a new process. */
  function giveUp(current: WorkerSession): void {
    if (session !== current) return
    session = null
    if (current.asked !== null) clearTimeout(current.asked.timer)
    current.asked = null
    void current.worker.stop()
  }

  return {
    async describe(signal) {
      if (signal?.aborted) throw cancelled()
      if (known === null) await call([], 'query', signal)
      if (known === null) throw new Error('A model was opened without being known.')
      const { model, dimensions, tokensMax } = known
      const { languages } = settings
      return {
        ...{ source: SOURCE, model, dimensions, tokensMax },
        ...(languages === null ? {} : { languages }),
      }
    },

    async embed(texts, { purpose, signal }) {
      if (texts.length === 0) return []
      return call([...texts], purpose, signal)
    },

    report: () => ({
      source: SOURCE,
      model: known?.model ?? settings.name,
      state,
      facts: {
        threads: known?.threads ?? settings.request.threads,
        tokensMax: known?.tokensMax ?? settings.request.tokensMax ?? DEFAULT_TOKENS_MAX,
        queuedTexts: calls.pendingTexts(),
        ...(known === null ? {} : { runtime: known.runtime, dimensions: known.dimensions }),
        ...(warmUpMs === null ? {} : { warmUpMs }),
        ...(known?.nativeRuntimeError ? { nativeRuntimeError: known.nativeRuntimeError } : {}),
      },
    }),

    async close() {
      isClosed = true
      const worker = session?.worker
      if (session !== null) giveUp(session)
      for (const waiting of calls.removeAll()) {
        waiting.reject(new AppError('cancelled', 'The embedder was closed before it answered.'))
      }
      await worker?.stop()
    },
  }
}

function faultOf(vector: Float32Array, dimensions: number | undefined): AppError | null {
  if (vector.length === dimensions && vector.every(Number.isFinite)) return null
  return new AppError('unavailable', 'The local model gave a vector that can’t be used.', {
    dimensions: vector.length,
  })
}

function errorOf(answer: EmbedderWorkerAnswer): AppError {
  return answer.kind === 'failed'
    ? new AppError(answer.code, answer.message, answer.facts)
    : new AppError('internal', 'The process of the local model gave an answer out of order.')
}

function startFailure(thrown: unknown): AppError {
  const error = toAppError(thrown)
  if (error.code !== 'internal') return error
  const message = `The process of the local model could not be started: ${error.message}`
  return new AppError('unavailable', message, {}, thrown)
}

/** Every caller gets an error of its own, with its own stack. */
function copyOf(error: AppError): AppError {
  return new AppError(error.code, error.message, error.facts, error.cause)
}

function cancelled(): AppError {
  return new AppError('cancelled', 'Embedding was stopped before it ended.')
}
