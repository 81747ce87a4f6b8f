import type { Instant } from './time.ts'

/** Time, as an argument: nothing below `main` reads the system's clock. */
export interface Clock {
  now(): Instant
  /** Resolves after `ms`, or rejects as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
