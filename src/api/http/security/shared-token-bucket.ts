/**
 * A token bucket shared by several servers. Each server takes a batch of tokens in advance, so that
 * one store call serves many requests. Unused batches are the most by which the limit can be
 * exceeded.
 */

import { type CircuitBreaker, createStallBreaker } from '../../../lib/circuit-breaker.ts'
import type { Clock } from '../../../lib/clock.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import type { TakeTokens } from '../../../storage/store.ts'

export type RateDecision = {
  readonly isGranted: boolean
  /** Tokens left, of the local batch and of the shared bucket. */
  readonly remaining: number
}

/** The fraction of the tokens of a minute that one batch takes. */
const PARTS = 20
/** Time limit for the store call. */
const WAIT_MS = 200
const KEYS_MAX = 10_000

type BucketShare = {
  held: number
  left: number
  /** No retry before this time. */
  dryUntil: number
  asking: Promise<void> | null
}

export class SharedTokenBucket {
  readonly #clock: Clock
  readonly #take: TakeTokens
  readonly #patience: CircuitBreaker
  readonly #shares = new LruCache<string, BucketShare>({ entriesMax: KEYS_MAX })

  constructor(clock: Clock, take: TakeTokens) {
    this.#clock = clock
    this.#take = take
    this.#patience = createStallBreaker(clock)
  }

  /** Null while the store is unavailable: each server then counts for itself. */
  async take(key: string, requests: number, perMinute: number): Promise<RateDecision | null> {
    const share = this.#shareOf(key)
    // Concurrent requests share one store call and look at the batch again.
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
    return this.#shares.getOrCreate(key, () => ({ held: 0, left: 0, dryUntil: 0, asking: null }))
  }
}
