/**
 * Waits for something that may hang, as a store, but not again and again: while an answer is overdue, nobody waits for the
 * next one. It is asked again as soon as that answer comes, and by one caller every few seconds.
 */

import type { Clock } from './clock.ts'
import { AppError } from './errors.ts'
import { type TimedResult, withTimeout } from './timeout.ts'

const REST_MS = 5_000

export class CircuitBreaker {
  readonly #clock: Clock
  /** Null as long as it answers in time. */
  #restsUntil: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Like `withinTime`, but late at once while an answer is overdue. */
  async run<Result>(ms: number, work: () => Promise<Result>): Promise<TimedResult<Result>> {
    if (this.#isResting()) {
      const error = new AppError('unavailable', 'An earlier answer is overdue.')
      return { kind: 'failed', reason: error.message, error, isTimeout: true }
    }
    // The one that tries again waits alone.
    if (this.#restsUntil !== null) this.#rest()
    let isAnswered = false
    const outcome = await withTimeout(ms, () =>
      work().finally(() => {
        isAnswered = true
        this.#restsUntil = null
      }),
    )
    if (!isAnswered) this.#rest()
    return outcome
  }

  #rest(): void {
    this.#restsUntil = this.#clock.now() + REST_MS
  }

  #isResting(): boolean {
    if (this.#restsUntil === null) return false
    const left = this.#restsUntil - this.#clock.now()
    // A clock that was set back must not prolong it.
    return left > 0 && left <= REST_MS
  }
}
