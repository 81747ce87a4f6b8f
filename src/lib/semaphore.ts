import { createAbortedError, throwIfAborted } from './abort.ts'

/**
 * Who is served next. `fifo`: the one that waits longest. `lifo`: the newest, for work with a deadline; under overload the
 * oldest would miss its deadline anyway, and all capacity would go into work that nobody waits for any more.
 */
export type QueueOrder = 'fifo' | 'lifo'

/** The stack of a `lifo` semaphore is compacted when it holds this many entries that stopped waiting. */
const ABORTED_MAX = 64

/** Limits how many tasks run at once. */
export class Semaphore {
  #free: number
  readonly #order: QueueOrder
  readonly #waiting = new Set<() => void>()
  /** For `lifo`. Entries that stopped waiting stay until they reach the top or outnumber the others. */
  #stack: (() => void)[] = []

  constructor(permits: number, order: QueueOrder = 'fifo') {
    this.#free = permits
    this.#order = order
  }

  /** An abort ends the wait for a permit with `cancelled`; the task itself gets to know of it only by its own signal. */
  async run<Result>(signal: AbortSignal, task: () => Promise<Result>): Promise<Result> {
    await this.#acquire(signal)
    try {
      return await task()
    } finally {
      this.#release()
    }
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal)
    if (this.#free > 0) {
      this.#free--
      return
    }
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = () => {
        this.#waiting.delete(start)
        reject(createAbortedError())
      }
      this.#waiting.add(start)
      if (this.#order === 'lifo') this.#stack.push(start)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** The permit goes straight to the next task, so that a new call cannot overtake it. */
  #release(): void {
    const next = this.#order === 'fifo' ? this.#oldest() : this.#newest()
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }

  #oldest(): (() => void) | undefined {
    for (const start of this.#waiting) return start
    return undefined
  }

  #newest(): (() => void) | undefined {
    if (this.#stack.length > 2 * this.#waiting.size + ABORTED_MAX) {
      this.#stack = this.#stack.filter((start) => this.#waiting.has(start))
    }
    let next = this.#stack.pop()
    while (next !== undefined && !this.#waiting.has(next)) next = this.#stack.pop()
    return next
  }
}
