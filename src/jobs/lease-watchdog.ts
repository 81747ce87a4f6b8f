/**
 * Watches leases that have run out by the clock. A clock can be set forward while whoever holds the lease is well and
 * about to renew it, so one is believed to be abandoned only when it has not changed for longer than a renewal takes,
 * counted in ticks, which no clock can set.
 */

import { LruCache } from '../lib/lru-cache.ts'

/** Those that are dropped are seen again. */
const SEEN_MAX = 10_000

export class LeaseWatchdog {
  readonly #ticksMin: number
  readonly #seen = new LruCache<string, { readonly version: number; readonly since: number }>({
    entriesMax: SEEN_MAX,
  })

  constructor(ticksMin: number) {
    this.#ticksMin = ticksMin
  }

  isAbandoned(lane: string, version: number, tick: number): boolean {
    return this.isUnchangedFor(this.#ticksMin, lane, version, tick)
  }

  isUnchangedFor(ticks: number, id: string, version: number, tick: number): boolean {
    const seen = this.#seen.get(id)
    if (seen?.version === version) return tick - seen.since >= ticks
    this.#seen.set(id, { version, since: tick })
    return false
  }
}
