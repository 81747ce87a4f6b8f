import { AppError } from '../core/errors.ts'

/**
 * `fifo`: in the order in which they came. `lifo`: the newest first, for work with a deadline; under overload the oldest
 * would be over its deadline before it ends, and all capacity would go into work that nobody waits for any more.
 */
export type QueueOrder = 'fifo' | 'lifo'

/** A semaphore: lets so many work at once, and the others wait. */
export class Slots {
  #free: number
  readonly #order: QueueOrder
  readonly #waiting = new Set<() => void>()

  constructor(count: number, order: QueueOrder = 'fifo') {
    this.#free = count
    this.#order = order
  }

  async use<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#take(signal)
    try {
      return await work()
    } finally {
      this.#giveBack()
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw stopped()
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
        reject(stopped())
      }
      this.#waiting.add(begin)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Straight to the next in line. */
  #giveBack(): void {
    const next = this.#order === 'fifo' ? first(this.#waiting) : last(this.#waiting)
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }
}

function first<Value>(values: ReadonlySet<Value>): Value | undefined {
  for (const value of values) return value
  return undefined
}

function last<Value>(values: ReadonlySet<Value>): Value | undefined {
  let found: Value | undefined
  for (const value of values) found = value
  return found
}

function stopped(): AppError {
  return new AppError('cancelled', 'The call was stopped before it began.')
}
