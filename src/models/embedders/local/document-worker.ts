/**
 * A second worker process for documents, at low priority, while queries and documents compete for the first one.
 *
 * A query overtakes queued documents but not the one being embedded, which may take longer than the whole search. When
 * queries keep arriving during document embedding, documents move to a second process. It holds another copy of the
 * model, so it starts on demand and stops when idle.
 */
import { AppError, toAppError } from '../../../lib/errors.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import type { Embedder, EmbedOptions } from '../../embedder.ts'

export type DocumentWorkerOptions = {
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** Idle time before the process stops. */
  readonly idleMs?: number
}

/** Queries that had to wait for documents within this window start the process. */
const COLLISIONS_MIN = 3
const COLLISIONS_MS = 10_000
const IDLE_MS = 30_000
/** Pause before a failed process is started again. */
const FAILED_MS = MINUTE_MS

export function withDocumentWorker(
  first: Embedder,
  openSecond: () => Embedder,
  options: DocumentWorkerOptions = {},
): Embedder {
  const { now = () => performance.now(), idleMs = IDLE_MS } = options
  const collisions: number[] = []
  let documentsInFirst = 0
  let second: Embedder | null = null
  let callsInSecond = 0
  let timer: NodeJS.Timeout | undefined
  let retryAt = Number.NEGATIVE_INFINITY
  let isClosed = false

  function noteCollision(): void {
    if (documentsInFirst === 0) return
    collisions.push(now())
    if (collisions.length > COLLISIONS_MIN) collisions.shift()
  }

  function areMany(): boolean {
    const [oldest] = collisions
    return collisions.length === COLLISIONS_MIN && now() - (oldest ?? 0) < COLLISIONS_MS
  }

  async function embedInFirst(texts: readonly string[], options: EmbedOptions) {
    documentsInFirst++
    try {
      return await first.embed(texts, options)
    } finally {
      documentsInFirst--
    }
  }

  async function embedInSecond(texts: readonly string[], options: EmbedOptions) {
    clearTimeout(timer)
    second ??= openSecond()
    const worker = second // a concurrent call that fails stops it
    callsInSecond++
    try {
      const [known, own] = [await first.describe(options.signal), worker.describe(options.signal)]
      if ((await own).model !== known.model) {
        throw new AppError('unavailable', 'The files of the local model were replaced.')
      }
      return await worker.embed(texts, options)
    } finally {
      callsInSecond--
      // The idle process ends in the background; the next call starts another one.
      if (callsInSecond === 0)
        timer = setTimeout(() => void stopSecond().catch(() => {}), idleMs).unref()
    }
  }

  async function stopSecond(): Promise<void> {
    clearTimeout(timer)
    const stopped = second
    second = null
    collisions.length = 0
    await stopped?.close()
  }

  return {
    describe: (signal) => first.describe(signal),

    async embed(texts, options) {
      if (options.purpose === 'query') {
        noteCollision()
        return first.embed(texts, options)
      }
      const mayMove = !isClosed && now() >= retryAt
      if (!mayMove || (second === null && !areMany())) return embedInFirst(texts, options)
      try {
        return await embedInSecond(texts, options)
      } catch (thrown) {
        if (toAppError(thrown).code !== 'unavailable' || isClosed) throw thrown
        retryAt = now() + FAILED_MS
        await stopSecond()
        return embedInFirst(texts, options)
      }
    },

    report: () => {
      const report = first.report()
      const waiting = [report, second?.report()].map((each) => Number(each?.facts.queuedTexts ?? 0))
      const queuedTexts = waiting.reduce((sum, count) => sum + count, 0)
      return { ...report, facts: { ...report.facts, queuedTexts } }
    },

    async close() {
      isClosed = true
      await Promise.all([first.close(), stopSecond()])
    },
  }
}
