/**
 * The retrievals of all requests: a few run at the same time, and of those that wait the newest is next. One that would
 * have to wait for longer than its request does is refused at once, so that its request goes on instead of waiting in vain.
 */
import { AppError } from '../../lib/errors.ts'
import { Semaphore } from '../../lib/semaphore.ts'

const RUNNING_MAX = 4

/** So many may wait whatever the measurements say. */
const WAITING_MIN = 8

/** What a measurement still weighs after the next one; and how many of them tell enough. */
const DECAY = 0.95
const MEASUREMENTS_MIN = 8

/** A pause between two retrievals says nothing about their duration. */
const INTERVAL_MS_MAX = 1_000

export class RetrievalQueue {
  readonly #slots = new Semaphore(RUNNING_MAX, 'lifo')
  readonly #now: () => number
  /** The time from one end to the next while others wait: its weighted sum, and the sum of the weights. */
  #elapsedMs = 0
  #weight = 0
  #lastEnd = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** `remainingMs`: how long the request still waits. */
  async run<Result>(
    signal: AbortSignal,
    remainingMs: number,
    task: () => Promise<Result>,
  ): Promise<Result> {
    const running = this.#slots.run(signal, async () => {
      try {
        return await task()
      } finally {
        this.#measure()
      }
    })
    // The newest is served first, so the oldest waits longest.
    if (this.#slots.waiting > this.#computeWaitingMax(remainingMs)) {
      this.#slots.dropOldest(
        new AppError('timeout', 'Too many lookups are waiting for this one to end in time.'),
      )
    }
    return running
  }

  #computeWaitingMax(remainingMs: number): number {
    if (this.#weight < MEASUREMENTS_MIN) return Number.POSITIVE_INFINITY
    return Math.max(WAITING_MIN, (remainingMs * this.#weight) / this.#elapsedMs)
  }

  #measure(): void {
    const now = this.#now()
    const interval = now - this.#lastEnd
    this.#lastEnd = now
    if (this.#slots.waiting === 0 || interval > INTERVAL_MS_MAX) return
    this.#elapsedMs = DECAY * this.#elapsedMs + interval
    this.#weight = DECAY * this.#weight + 1
  }
}
