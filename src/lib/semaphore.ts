import { createAbortedError, throwIfAborted } from './abort.ts'

/**
 * `fifo`: in the order in which they came. `lifo`: the newest first, for work with a deadline; under overload the oldest
 * would be over its deadline before it ends, and all capacity would go into work that nobody waits for any more.
 */
export type QueueOrder = 'fifo' | 'lifo'

const STOPPED_MAX = 64

/** A semaphore: lets so many work at once, and the others wait. */
export class Semaphore {
  #free: number
  readonly #order: QueueOrder
  readonly #waiting = new Set<() => void>()
  /** For `lifo`; also those that have stopped waiting, until they come to the top or outnumber the others. */
  #stack: (() => void)[] = []

  constructor(count: number, order: QueueOrder = 'fifo') {
    this.#free = count
    this.#order = order
  }

  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#take(signal)
    try {
      return await work()
    } finally {
      this.#giveBack()
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal)
    if (this.#free > 0) {
      this.#free--
      return
    }
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.delete(begin)
        reject(createAbortedError())
      }
      this.#waiting.add(begin)
      if (this.#order === 'lifo') this.#stack.push(begin)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Straight to the next in line. */
  #giveBack(): void {
    const next = this.#order === 'fifo' ? first(this.#waiting) : this.#newest()
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }

  #newest(): (() => void) | undefined {
    if (this.#stack.length > 2 * this.#waiting.size + STOPPED_MAX) {
      this.#stack = this.#stack.filter((begin) => this.#waiting.has(begin))
    }
    let next = this.#stack.pop()
    while (next !== undefined && !this.#waiting.has(next)) next = this.#stack.pop()
    return next
  }
}

function first<Value>(values: ReadonlySet<Value>): Value | undefined {
  for (const value of values) return value
  return undefined
}
