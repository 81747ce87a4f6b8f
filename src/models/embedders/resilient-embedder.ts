/** Tries again what may heal: a service that is busy, down or out of reach for a moment. */

import { NEVER_ABORTED, raceAbort, throwIfAborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import type { Embedder } from '../embedder.ts'

export type EmbedderRetryOptions = {
  readonly clock: Clock
  /** 0 … 1, so that many who failed together don't come back together. */
  readonly random?: () => number
}

const RETRIES_MAX = 3
const FIRST_PAUSE_MS = 500
const PAUSE_MS_MAX = 8_000
const JITTER = 0.2
/** A service that asks for a longer pause is not waited for: the caller learns how long, and decides. */
const RETRY_AFTER_MS_MAX = MINUTE_MS

export function withRetries(embedder: Embedder, options: EmbedderRetryOptions): Embedder {
  const { clock, random = Math.random } = options
  let retries = 0

  async function tryAgain<Result>(
    attempt: () => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    for (let retry = 0; ; retry++) {
      try {
        return await attempt()
      } catch (thrown) {
        const pause = retry < RETRIES_MAX ? computeRetryDelay(thrown, retry, random()) : null
        if (pause === null) throw thrown
        throwIfAborted(signal)
        await raceAbort(clock.sleep(pause, signal ?? NEVER_ABORTED), signal)
        retries++
      }
    }
  }

  return {
    describe: (signal) => tryAgain(() => embedder.describe(signal), signal),
    embed: (texts, call) => tryAgain(() => embedder.embed(texts, call), call.signal),
    report: () => {
      const report = embedder.report()
      return { ...report, facts: { ...report.facts, retries } }
    },
    close: () => embedder.close(),
  }
}

/** How long to wait before the next try; null when there is none to be made. */
function computeRetryDelay(thrown: unknown, retry: number, random: number): number | null {
  if (!(thrown instanceof AppError) || thrown.code !== 'unavailable') return null
  if (thrown.facts.retryable === false) return null
  const jitter = 1 + JITTER * (2 * random - 1)
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** retry, PAUSE_MS_MAX) * jitter
  const { retryAfterMs } = thrown.facts
  if (typeof retryAfterMs !== 'number') return pause
  return retryAfterMs > RETRY_AFTER_MS_MAX ? null : Math.max(pause, retryAfterMs)
}
