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
const BATCHES_PER_MINUTE = 20
/** Time limit for the store call. */
const STORE_TIMEOUT_MS = 200
const KEYS_MAX = 10_000

type BucketShare = {
  reserved: number
  left: number
  /** No retry before this time. */
  emptyUntil: number
  pendingFill: Promise<void> | null
}

export class SharedTokenBucket {
  readonly #clock: Clock
  readonly #take: TakeTokens
  readonly #circuitBreaker: CircuitBreaker
  readonly #shares = new LruCache<string, BucketShare>({ entriesMax: KEYS_MAX })

  constructor(clock: Clock, take: TakeTokens) {
    this.#clock = clock
    this.#take = take
    this.#circuitBreaker = createStallBreaker(clock)
  }

  /** Null while the store is unavailable: each server then counts for itself. */
  async take(key: string, requests: number, perMinute: number): Promise<RateDecision | null> {
    const share = this.#shareOf(key)
    // Concurrent requests share one store call and look at the batch again.
    while (share.pendingFill !== null) await share.pendingFill
    if (share.reserved < requests && this.#clock.now() >= share.emptyUntil) {
      const fill = this.#circuitBreaker.run(STORE_TIMEOUT_MS, () =>
        this.#fill(key, share, requests, perMinute),
      )
      share.pendingFill = fill.then(() => {
        share.pendingFill = null
      })
      if ((await fill).kind === 'failed') return null
    }
    const isGranted = share.reserved >= requests
    if (isGranted) share.reserved -= requests
    return { isGranted, remaining: share.left + share.reserved }
  }

  async #fill(key: string, share: BucketShare, requests: number, perMinute: number): Promise<void> {
    const least = requests - share.reserved
    const wanted = Math.max(least, Math.ceil(perMinute / BATCHES_PER_MINUTE))
    const { granted, left } = await this.#take(`requests ${key}`, { perMinute, wanted, least })
    share.reserved += granted
    share.left = left
    const missing = Math.max(0, requests - share.reserved - left)
    share.emptyUntil = this.#clock.now() + (missing * MINUTE_MS) / perMinute
  }

  #shareOf(key: string): BucketShare {
    return this.#shares.getOrCreate(key, () => ({
      reserved: 0,
      left: 0,
      emptyUntil: 0,
      pendingFill: null,
    }))
  }
}
