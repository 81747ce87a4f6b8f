import { MINUTE_MS } from './time.ts'

/**
 * A rate limit per minute that allows bursts: a bucket that starts full and refills steadily. A clock that was set back
 * adds nothing and takes nothing away.
 */
export class TokenBucket {
  readonly #now: () => number
  #perMinute: number
  #level: number
  #filledAt: number

  constructor(perMinute: number, now: () => number) {
    this.#now = now
    this.#perMinute = perMinute
    this.#level = perMinute
    this.#filledAt = now()
  }

  /** Changes the limit and with it the size of the bucket. */
  setLimit(perMinute: number): void {
    this.#refill()
    this.#perMinute = perMinute
    this.#level = Math.min(perMinute, this.#level)
  }

  get available(): number {
    this.#refill()
    return this.#level
  }

  /** Takes all of the tokens, or none when there are fewer. */
  tryTake(tokens: number): boolean {
    this.#refill()
    if (this.#level < tokens) return false
    this.#level -= tokens
    return true
  }

  /**
   * Takes the tokens even when there are fewer, and returns how many milliseconds the caller has to wait for them. So calls
   * are served in their order, and one that needs more than the whole bucket waits for a full one.
   */
  take(tokens: number): number {
    this.#refill()
    this.#level -= Math.min(tokens, this.#perMinute)
    return this.#level >= 0 ? 0 : Math.ceil((-this.#level * MINUTE_MS) / this.#perMinute)
  }

  /** Returns tokens that were taken but not used. */
  refund(tokens: number): void {
    this.#level = Math.min(this.#perMinute, this.#level + Math.min(tokens, this.#perMinute))
  }

  #refill(): void {
    const now = this.#now()
    const gained = (Math.max(0, now - this.#filledAt) * this.#perMinute) / MINUTE_MS
    this.#level = Math.min(this.#perMinute, this.#level + gained)
    this.#filledAt = now
  }
}
