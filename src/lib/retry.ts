/** Retries with pauses between the attempts. */
import { NEVER_ABORTED, raceAbort, throwIfAborted } from './abort.ts'
import type { Clock } from './clock.ts'
import { AppError, toAppError } from './errors.ts'

export { exponentialBackoffMs, withJitter } from './backoff.ts'

export type RetryOptions = {
  readonly clock: Clock
  /** How long to pause before retry number `retry` (0 is the first); null ends the attempts with the error. */
  readonly delayMs: (error: unknown, retry: number) => number | null
  /** Ends a pause with `cancelled`. */
  readonly signal?: AbortSignal | undefined
}

export async function retry<Result>(
  task: () => Promise<Result>,
  { clock, delayMs, signal }: RetryOptions,
): Promise<Result> {
  for (let count = 0; ; count++) {
    try {
      return await task()
    } catch (thrown) {
      const pause = delayMs(thrown, count)
      if (pause === null) throw thrown
      throwIfAborted(signal)
      await raceAbort(clock.sleep(pause, signal ?? NEVER_ABORTED), signal)
    }
  }
}

/** A busy store is free again within moments; one that is down stays down for longer than anybody waits here. */
const BRIEF_PAUSES_MS = [50, 250, 1_000] as const

/** Four attempts within 1.3 s. Input that breaks a rule fails at once: it would fail every time. */
export function retryBriefly<Result>(clock: Clock, task: () => Promise<Result>): Promise<Result> {
  const delayMs = (error: unknown, count: number) =>
    toAppError(error).code === 'invalid_input' ? null : (BRIEF_PAUSES_MS[count] ?? null)
  return retry(task, { clock, delayMs })
}

/**
 * The pause before the next request to a service: at least `pauseMs`, and as long as the service asked for. Null for what
 * another attempt cannot heal, and for services that ask for more than `retryAfterMsMax`: the caller learns how long, and decides.
 */
export function serviceRetryDelayMs(
  error: unknown,
  pauseMs: number,
  retryAfterMsMax: number,
): number | null {
  if (!(error instanceof AppError) || error.code !== 'unavailable') return null
  const { retryable, retryAfterMs } = error.facts
  if (retryable === false) return null
  if (typeof retryAfterMs !== 'number') return pauseMs
  return retryAfterMs > retryAfterMsMax ? null : Math.max(pauseMs, retryAfterMs)
}
