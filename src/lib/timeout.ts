/** Waiting for work, but not for longer than a given time. Work that is too slow goes on and nobody waits for it. */
import { createAbortedError, throwIfAborted } from './abort.ts'
import type { Clock } from './clock.ts'
import { AppError, toAppError } from './errors.ts'

export type TimedResult<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly error: AppError
      /** Whether the task was too slow, rather than failed. */
      readonly isTimeout: boolean
    }

/**
 * Runs the task with a signal that aborts after `timeoutMs`. Failures and timeouts are results here, because callers go
 * on without what they asked for; use `runWithTimeout` where they end the call.
 */
export async function withTimeout<Result>(
  timeoutMs: number,
  task: (signal: AbortSignal) => Promise<Result>,
): Promise<TimedResult<Result>> {
  let isTimeout = false
  const onTimeout = () => {
    isTimeout = true
    return new AppError('unavailable', `Timed out after ${timeoutMs} ms.`)
  }
  try {
    return { kind: 'done', result: await runWithTimeout(timeoutMs, task, { onTimeout }) }
  } catch (thrown) {
    const error = toAppError(thrown)
    return { kind: 'failed', reason: error.message, error, isTimeout }
  }
}

export type TimeoutOptions = {
  /** The error to throw when time is up. */
  readonly onTimeout: () => Error
  /** Aborts the task as well; the call then rejects with `cancelled`. */
  readonly signals?: readonly (AbortSignal | undefined)[]
  /** Measures the time; by default timers of the platform do. */
  readonly clock?: Clock
}

/** Runs the task with a signal that aborts after `timeoutMs`, and rejects at that moment, whatever the task does then. */
export async function runWithTimeout<Result>(
  timeoutMs: number,
  task: (signal: AbortSignal) => Promise<Result>,
  { onTimeout, signals = [], clock }: TimeoutOptions,
): Promise<Result> {
  for (const signal of signals) throwIfAborted(signal)
  const controller = new AbortController()
  let stop: (error: Error) => void = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = (error) => {
      reject(error)
      controller.abort()
    }
  })
  const onAbort = () => stop(createAbortedError())
  const cancelTimer = startTimer(timeoutMs, () => stop(onTimeout()), clock)
  for (const signal of signals) signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([task(controller.signal), stopped])
  } finally {
    cancelTimer()
    for (const signal of signals) signal?.removeEventListener('abort', onAbort)
  }
}

/** Whether the promise resolves within `ms`. Rejects when it rejects in that time. */
export async function resolvesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns what cancels it. */
function startTimer(ms: number, onElapsed: () => void, clock: Clock | undefined): () => void {
  if (clock === undefined) {
    const timer = setTimeout(onElapsed, ms)
    return () => clearTimeout(timer)
  }
  const controller = new AbortController()
  clock.sleep(ms, controller.signal).then(onElapsed, () => {})
  return () => controller.abort()
}
