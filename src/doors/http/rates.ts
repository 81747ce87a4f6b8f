/** How often a key may ask: a bucket for each that fills steadily, so that a burst is fine and a flood is not. */
import type { ServerResponse } from 'node:http'
import { AppError } from '../../core/errors.ts'
import { withinTime } from '../../engine/deadline.ts'
import type { Clock } from '../../ports/clock.ts'

const MINUTE_MS = 60_000
const KEYS_MAX = 10_000
/** How long the setting is used without asking for it again. */
const LIMIT_FRESH_MS = 1_000
const LIMIT_WAIT_MS = 200

type Bucket = { tokens: number; at: number }

export class Rates {
  readonly #clock: Clock
  readonly #readLimit: () => Promise<number>
  readonly #buckets = new Map<string, Bucket>()
  #limit: { readonly perMinute: number; readonly until: number } | null = null

  /** `readLimit`: requests in a minute; 0 for as many as one likes. */
  constructor(clock: Clock, readLimit: () => Promise<number>) {
    this.#clock = clock
    this.#readLimit = readLimit
  }

  /** Takes requests off the key's account, all or none, and says in headers how much is left. */
  async take(key: string, response: ServerResponse, requests = 1): Promise<void> {
    const now = this.#clock.now()
    const limit = await this.#limitAt(now)
    if (limit === 0) return
    const bucket = this.#bucketOf(key, limit, now)
    const isEnough = bucket.tokens >= requests
    if (isEnough) bucket.tokens -= requests
    const msPerToken = MINUTE_MS / limit
    response.setHeader('ratelimit-limit', limit)
    response.setHeader('ratelimit-remaining', Math.floor(bucket.tokens))
    response.setHeader('ratelimit-reset', Math.ceil(((limit - bucket.tokens) * msPerToken) / 1_000))
    if (isEnough) return
    const retryAfter = Math.max(1, Math.ceil(((requests - bucket.tokens) * msPerToken) / 1_000))
    throw new AppError(
      'too_many_requests',
      `This key may ask ${limit} times in a minute. Ask again in ${retryAfter} s.`,
      { retryAfter },
    )
  }

  async #limitAt(now: number): Promise<number> {
    if (this.#limit !== null && now < this.#limit.until) return this.#limit.perMinute
    const former = this.#limit?.perMinute
    // The limit of a moment ago is as good, while the store can't be asked.
    const perMinute =
      former === undefined ? await this.#readLimit() : await this.#readLimitSoon(former)
    this.#limit = { perMinute, until: now + LIMIT_FRESH_MS }
    return perMinute
  }

  async #readLimitSoon(former: number): Promise<number> {
    const read = await withinTime(LIMIT_WAIT_MS, () => this.#readLimit())
    return read.kind === 'done' ? read.result : former
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
