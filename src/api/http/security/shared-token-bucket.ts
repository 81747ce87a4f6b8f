/**
 * A share of an allowance that several servers take from. Requests are counted off a share that was taken ahead, so that
 * the store is asked once for many of them. What a server holds and doesn't use is the most by which all together may
 * go beyond the limit.
 */

import type { Clock } from '../../../lib/clock.ts'
import { CircuitBreaker } from '../../../lib/overdue-circuit-breaker.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import type { TakeTokens } from '../../../storage/store.ts'

export type RateDecision = {
  readonly isGranted: boolean
  /** What there is left, here and for all. */
  readonly remaining: number
}

/** One part in so many of what a minute brings is taken at once. */
const PARTS = 20
/** No request waits longer than this for the store. */
const WAIT_MS = 200
const KEYS_MAX = 10_000

type BucketShare = {
  held: number
  left: number
  /** Before this it is no use to ask again. */
  dryUntil: number
  asking: Promise<void> | null
}

export class SharedTokenBucket {
  readonly #clock: Clock
  readonly #take: TakeTokens
  readonly #patience: CircuitBreaker
  readonly #shares = new Map<string, BucketShare>()

  constructor(clock: Clock, take: TakeTokens) {
    this.#clock = clock
    this.#take = take
    this.#patience = new CircuitBreaker(clock)
  }

  /** Null when the store can't say: then everybody counts for themselves. */
  async take(key: string, requests: number, perMinute: number): Promise<RateDecision | null> {
    const share = this.#shareOf(key)
    // Those who ask at once wait for one answer, and then look again.
    while (share.asking !== null) await share.asking
    if (share.held < requests && this.#clock.now() >= share.dryUntil) {
      const asked = this.#patience.run(WAIT_MS, () => this.#fill(key, share, requests, perMinute))
      share.asking = asked.then(() => {
        share.asking = null
      })
      if ((await asked).kind === 'failed') return null
    }
    const isEnough = share.held >= requests
    if (isEnough) share.held -= requests
    return { isGranted: isEnough, remaining: share.left + share.held }
  }

  async #fill(key: string, share: BucketShare, requests: number, perMinute: number): Promise<void> {
    const least = requests - share.held
    const wanted = Math.max(least, Math.ceil(perMinute / PARTS))
    const { granted, left } = await this.#take(`requests ${key}`, { perMinute, wanted, least })
    share.held += granted
    share.left = left
    const missing = Math.max(0, requests - share.held - left)
    share.dryUntil = this.#clock.now() + (missing * MINUTE_MS) / perMinute
  }

  #shareOf(key: string): BucketShare {
    const known = this.#shares.get(key)
    if (known !== undefined) return known
    if (this.#shares.size >= KEYS_MAX) this.#shares.clear()
    const share: BucketShare = { held: 0, left: 0, dryUntil: 0, asking: null }
    this.#shares.set(key, share)
    return share
  }
}
