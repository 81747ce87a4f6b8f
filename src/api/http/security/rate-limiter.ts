/**
 * How often a key may ask: a bucket for each that fills steadily, so that a burst is fine and a flood is not. Servers on
 * the same data share it where their store can do that.
 */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { CircuitBreaker } from '../../../lib/overdue-circuit-breaker.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import type { TakeTokens } from '../../../storage/store.ts'
import { type RateDecision, SharedTokenBucket } from './shared-token-bucket.ts'

const KEYS_MAX = 10_000
/** How long the setting is used without asking for it again. */
const LIMIT_FRESH_MS = 1_000
const LIMIT_WAIT_MS = 200
const UNLIMITED = 0

type Bucket = { tokens: number; at: number }

export class RateLimiter {
  readonly #clock: Clock
  readonly #readLimit: () => Promise<number>
  readonly #shares: SharedTokenBucket | null
  readonly #patience: CircuitBreaker
  readonly #buckets = new Map<string, Bucket>()
  #limit: { readonly perMinute: number; readonly until: number } | null = null

  /** `readLimit`: requests in a minute; 0 for as many as one likes. */
  constructor(clock: Clock, readLimit: () => Promise<number>, take: TakeTokens | null = null) {
    this.#clock = clock
    this.#shares = take === null ? null : new SharedTokenBucket(clock, take)
    this.#readLimit = readLimit
    this.#patience = new CircuitBreaker(clock)
  }

  /** Takes requests off the key's account, all or none, and says in headers how much is left. */
  async take(key: string, response: ServerResponse, requests = 1): Promise<void> {
    const now = this.#clock.now()
    const limit = await this.#limitAt(now)
    if (limit === UNLIMITED) return
    // While the store can't be asked, each server counts for itself.
    const shared = (await this.#shares?.take(key, requests, limit)) ?? null
    const { isGranted: isEnough, remaining: left } =
      shared ?? this.#takeHere(key, requests, limit, now)
    const msPerToken = MINUTE_MS / limit
    response.setHeader('ratelimit-limit', limit)
    response.setHeader('ratelimit-remaining', Math.floor(left))
    response.setHeader(
      'ratelimit-reset',
      Math.max(0, Math.ceil(((limit - left) * msPerToken) / 1_000)),
    )
    if (isEnough) return
    const retryAfter = Math.max(1, Math.ceil(((requests - left) * msPerToken) / 1_000))
    throw new AppError(
      'too_many_requests',
      `This key may ask ${limit} times in a minute. Ask again in ${retryAfter} s.`,
      { retryAfter },
    )
  }

  /** The limit is read again the next time. */
  invalidateLimit(): void {
    if (this.#limit !== null) this.#limit = { ...this.#limit, until: 0 }
  }

  #takeHere(key: string, requests: number, limit: number, now: number): RateDecision {
    const bucket = this.#bucketOf(key, limit, now)
    const isEnough = bucket.tokens >= requests
    if (isEnough) bucket.tokens -= requests
    return { isGranted: isEnough, remaining: bucket.tokens }
  }

  async #limitAt(now: number): Promise<number> {
    if (this.#limit !== null && now < this.#limit.until) return this.#limit.perMinute
    const read = await this.#patience.run(LIMIT_WAIT_MS, () => this.#readLimit())
    if (read.kind === 'failed') {
      // The limit of a moment ago is as good, while the store can't be asked. Without any, nobody is held up.
      return this.#limit?.perMinute ?? UNLIMITED
    }
    this.#limit = { perMinute: read.result, until: now + LIMIT_FRESH_MS }
    return read.result
  }

  #bucketOf(key: string, limit: number, now: number): Bucket {
    const known = this.#buckets.get(key)
    if (known === undefined) {
      if (this.#buckets.size >= KEYS_MAX) this.#buckets.clear()
      const bucket = { tokens: limit, at: now }
      this.#buckets.set(key, bucket)
      return bucket
    }
    const gained = (Math.max(0, now - known.at) * limit) / MINUTE_MS
    known.tokens = Math.min(limit, known.tokens + gained)
    known.at = now
    return known
  }
}
