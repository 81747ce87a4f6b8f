import type { IdGenerator, IdsByPrefix } from '../../src/domain/ids.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Instant } from '../../src/lib/time.ts'

/** Time that moves only when told to, or when someone sleeps. */
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
