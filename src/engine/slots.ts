import { AppError } from '../core/errors.ts'

/** Lets so many work at once, and the others wait in the order in which they came. */
export class Slots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
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
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }
}

function stopped(): AppError {
  return new AppError('cancelled', 'The call was stopped before it began.')
}
