/** Stopping on request, the same way everywhere: with an AppError `cancelled`, and at once. */
import { AppError } from './errors.ts'

/** For those who must give a signal and have none. */
export const NEVER_ABORTED = new AbortController().signal

export function createAbortedError(): AppError {
  return new AppError('cancelled', 'The call was stopped before it ended.')
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw createAbortedError()
}

/** What the promise gives, or `cancelled` as soon as the signal aborts, even when the work goes on behind it. */
export async function raceAbort<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work
  // Nobody may be left to hear of a failure after the cancellation.
  work.catch(() => {})
  throwIfAborted(signal)
  let stop = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(createAbortedError())
  })
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, stopped])
  } catch (thrown) {
    throw signal.aborted ? createAbortedError() : thrown
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Work that several callers wait for. It is cancelled when the last of them has given up, not before. */
export class SharedTask<Result> {
  readonly #controller = new AbortController()
  readonly #work: Promise<Result>
  #waiting = 0

  constructor(start: (signal: AbortSignal) => Promise<Result>) {
    this.#work = start(this.#controller.signal)
    this.#work.catch(() => {})
  }

  /** Nobody waits any more: whoever comes now must start anew. */
  get isAbandoned(): boolean {
    return this.#controller.signal.aborted
  }

  async join(signal: AbortSignal | undefined): Promise<Result> {
    this.#waiting++
    try {
      return await raceAbort(this.#work, signal)
    } finally {
      this.#waiting--
      if (this.#waiting === 0) this.#controller.abort()
    }
  }
}

/** Ends early, without an error, when the signal fires. */
export function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
}
