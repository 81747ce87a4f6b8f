/**
 * Rate limit per key: a token bucket that allows bursts. Servers share it where their store can.
 */
import type { ServerResponse } from 'node:http'
import { type CircuitBreaker, createStallBreaker } from '../../../lib/circuit-breaker.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { TokenBucket } from '../../../lib/token-bucket.ts'
import type { TakeTokens } from '../../../storage/store.ts'
import { type RateDecision, SharedTokenBucket } from './shared-token-bucket.ts'

const KEYS_MAX = 10_000
/** The setting is cached for this long. */
const LIMIT_FRESH_MS = 1_000
const LIMIT_WAIT_MS = 200
const UNLIMITED = 0

export class RateLimiter {
  readonly #clock: Clock
  readonly #readLimit: () => Promise<number>
  readonly #sharedBucket: SharedTokenBucket | null
  readonly #circuitBreaker: CircuitBreaker
  readonly #buckets = new LruCache<string, TokenBucket>({ entriesMax: KEYS_MAX })
  #limit: { readonly perMinute: number; readonly until: number } | null = null

  /** `readLimit`: requests per minute, 0 for unlimited. */
  constructor(clock: Clock, readLimit: () => Promise<number>, take: TakeTokens | null = null) {
    this.#clock = clock
    this.#sharedBucket = take === null ? null : new SharedTokenBucket(clock, take)
    this.#readLimit = readLimit
    this.#circuitBreaker = createStallBreaker(clock)
  }

  /** Takes requests from the key's bucket, all or none, and sets the rate-limit headers. */
  async take(key: string, response: ServerResponse, requests = 1): Promise<void> {
    const now = this.#clock.now()
    const limit = await this.#limitAt(now)
    if (limit === UNLIMITED) return
    // While the store is unavailable, each server counts for itself.
    const shared = (await this.#sharedBucket?.take(key, requests, limit)) ?? null
    const { isGranted: isAllowed, remaining } = shared ?? this.#takeLocally(key, requests, limit)
    const msPerToken = MINUTE_MS / limit
    response.setHeader('ratelimit-limit', limit)
    response.setHeader('ratelimit-remaining', Math.floor(remaining))
    response.setHeader(
      'ratelimit-reset',
      Math.max(0, Math.ceil(((limit - remaining) * msPerToken) / 1_000)),
    )
    if (isAllowed) return
    const retryAfter = Math.max(1, Math.ceil(((requests - remaining) * msPerToken) / 1_000))
    throw new AppError(
      'too_many_requests',
      `Rate limit exceeded: ${limit} requests per minute. Retry in ${retryAfter} s.`,
      { retryAfter },
    )
  }

  /** Invalidates the cached limit. */
  invalidateLimit(): void {
    if (this.#limit !== null) this.#limit = { ...this.#limit, until: 0 }
  }

  #takeLocally(key: string, requests: number, limit: number): RateDecision {
    const create = () => new TokenBucket(limit, () => this.#clock.now())
    const bucket = this.#buckets.getOrCreate(key, create)
    bucket.setLimit(limit)
    return { isGranted: bucket.tryTake(requests), remaining: bucket.available }
  }

  async #limitAt(now: number): Promise<number> {
    if (this.#limit !== null && now < this.#limit.until) return this.#limit.perMinute
    const read = await this.#circuitBreaker.run(LIMIT_WAIT_MS, () => this.#readLimit())
    if (read.kind === 'failed') {
      // While the store is unavailable, the last known limit applies; without one, requests pass.
      return this.#limit?.perMinute ?? UNLIMITED
    }
    this.#limit = { perMinute: read.result, until: now + LIMIT_FRESH_MS }
    return read.result
  }
}
