/** Instants, time units and arithmetic with both. */
import type { Branded } from './brand.ts'

/** Milliseconds since the epoch. ISO text exists only on the wire. */
export type Instant = Branded<number, 'instant'>

/** The range of dates; anything else could not be written as ISO text. */
export const INSTANT_MAX = 8_640_000_000_000_000

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** `ms` must be whole: fractions of a millisecond are no instants. */
export function addMs(instant: Instant, ms: number): Instant {
  return (instant + ms) as Instant // a sum of whole milliseconds
}

/**
 * How long a pause of at most `maxMs` still lasts; 0 when it is over. More than `maxMs` can be left only when the clock
 * was set back, and then the pause counts as over: a clock must not prolong it by hours.
 */
export function remainingMs(until: number, now: number, maxMs: number): number {
  const left = until - now
  return left > 0 && left <= maxMs ? left : 0
}

/** 1 at no idle time, halving with every half-life. A clock that was set back makes nothing fresher than new. */
export function exponentialDecay(idleMs: number, halfLifeDays: number): number {
  return 2 ** (-Math.max(0, idleMs) / DAY_MS / halfLifeDays)
}
