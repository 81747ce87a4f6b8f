import type { IdGenerator, IdsByPrefix } from '../domain/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { Instant } from '../lib/time.ts'

/**
 * Time that moves only by `advance` and by sleeping, which returns at once.
 *
 * @example
 * import { FakeClock } from 'recollect/testing'
 *
 * const clock = new FakeClock(Date.parse('2026-01-01'))
 * clock.advance(3_600_000)
 */
export class FakeClock implements Clock {
  #now: number

  constructor(start = 1_700_000_000_000) {
    this.#now = start
  }

  now(): Instant {
    return this.#now as Instant
  }

  advance(ms: number): Instant {
    this.#now += ms
    return this.now()
  }

  async sleep(ms: number): Promise<void> {
    this.advance(ms)
  }
}

/** Ids that count, so that a failing run can be read. */
export function countingIds(): IdGenerator {
  let count = 0
  return {
    next<Prefix extends keyof IdsByPrefix>(prefix: Prefix) {
      count++
      return `${prefix}_${String(count).padStart(8, '0')}` as IdsByPrefix[Prefix]
    },
  }
}
