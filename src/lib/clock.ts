import type { IdKinds, Instant } from '../domain/ids.ts'

/** Time, as an argument: nothing below `main` reads the system's clock. */
export interface Clock {
  now(): Instant
  /** Resolves after `ms`, or rejects as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** New ids. They sort by `at`, and two made at the same instant sort in the order they were made. */
export interface Ids {
  next<Prefix extends keyof IdKinds>(prefix: Prefix, at: Instant): IdKinds[Prefix]
}
