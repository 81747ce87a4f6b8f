/**
 * A second worker process for documents, at low priority, for as long as questions and documents compete for the first.
 *
 * A question overtakes documents, but not the one that is being embedded, and that may take longer than the whole search.
 * So when questions keep arriving while documents are embedded, documents move to a process of their own. It costs a second
 * copy of the model in memory, so it is started only then, and ends when no documents came for a while.
 */
import { AppError, toAppError } from '../../../lib/errors.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import type { Embedder, EmbedOptions } from '../../embedder.ts'

export type DocumentWorkerOptions = {
  /** Milliseconds from any beginning. */
  readonly now?: () => number
  /** How long the process stays without documents. */
  readonly idleMs?: number
}

/** So many questions that met documents, within so long, are no accident. */
const COLLISIONS_MIN = 3
const COLLISIONS_MS = 10_000
const IDLE_MS = 30_000
/** A process that failed is not tried again before this. */
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
    const worker = second // another call that fails meanwhile stops it
    callsInSecond++
    try {
      const [known, own] = [await first.describe(options.signal), worker.describe(options.signal)]
      if ((await own).model !== known.model) {
        throw new AppError('unavailable', 'The files of the local model were replaced.')
      }
      return await worker.embed(texts, options)
    } finally {
      callsInSecond--
      // Nobody waits for an idle process to end, and the next call opens another one.
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
