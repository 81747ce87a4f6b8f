/** Ends calls that take too long, so that a service that hangs is told from one that works. */

import { raceAbort, throwIfAborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import type { Embedder } from '../embedder.ts'

export type EmbedderTimeouts = {
  readonly clock: Clock
  /** Somebody waits for a query. */
  readonly queryTimeoutMs?: number
  /** Nobody waits for documents, and there may be many in one call. */
  readonly documentTimeoutMs?: number
}

const QUERY_MS = MINUTE_MS
const DOCUMENT_MS = 120_000

export function withEmbedderTimeouts(embedder: Embedder, limits: EmbedderTimeouts): Embedder {
  const {
    clock,
    queryTimeoutMs: queryMs = QUERY_MS,
    documentTimeoutMs: documentMs = DOCUMENT_MS,
  } = limits

  async function within<Result>(
    limitMs: number,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    throwIfAborted(signal)
    const work = new AbortController()
    const timer = new AbortController()
    const stop = () => work.abort()
    signal?.addEventListener('abort', stop, { once: true })
    let isLate = false
    const timeUp = () => {
      isLate = true
      work.abort()
    }
    clock.sleep(limitMs, timer.signal).then(timeUp, () => {})
    try {
      return await raceAbort(start(work.signal), work.signal)
    } catch (thrown) {
      throw isLate && !signal?.aborted
        ? createTimeoutError(embedder.report().source, limitMs)
        : thrown
    } finally {
      timer.abort()
      signal?.removeEventListener('abort', stop)
    }
  }

  return {
    describe: (signal) => within(documentMs, signal, (stop) => embedder.describe(stop)),
    embed: (texts, { purpose, signal }) =>
      within(purpose === 'query' ? queryMs : documentMs, signal, (stop) =>
        embedder.embed(texts, { purpose, signal: stop }),
      ),
    report: () => embedder.report(),
    close: () => embedder.close(),
  }
}

function createTimeoutError(source: string, limitMs: number): AppError {
  const message = `${source} did not answer within ${limitMs / 1_000} seconds.`
  return new AppError('unavailable', message, { timeoutMs: limitMs })
}
