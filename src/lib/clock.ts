import type { Instant } from './time.ts'

/** Time as an argument: only the composition in `app` reads the system's clock. */
export interface Clock {
  now(): Instant
  /** Resolves after `ms`, or rejects as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** Periodic work. Unlike a clock, timers follow monotonic time and cannot be set. */
export interface IntervalTimers {
  /** Runs `task` every `ms` until the returned function is called. */
  every(ms: number, task: () => void): () => void
}

/** The timers are unref'd: none of them keeps the process alive. */
export const systemIntervalTimers: IntervalTimers = {
  every: (ms, task) => {
    const timer = setInterval(task, ms).unref()
    return () => clearInterval(timer)
  },
}
