/** Cancellation by AbortSignal. Whatever is aborted fails with an AppError `cancelled`. */
import { setMaxListeners } from 'node:events'
import { AppError } from './errors.ts'

/** For callees that require a signal where the caller has none. */
export const NEVER_ABORTED = new AbortController().signal
setMaxListeners(0, NEVER_ABORTED) // shared by any number of concurrent callees

const ABORTED = 'The call was aborted before it completed.'

export function createAbortedError(message = ABORTED): AppError {
  return new AppError('cancelled', message)
}

export function throwIfAborted(signal: AbortSignal | undefined, message?: string): void {
  if (signal?.aborted) throw createAbortedError(message)
}

/** Settles like the promise, or rejects as soon as the signal aborts, even though the work behind the promise goes on. */
export async function raceAbort<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return promise
  promise.catch(() => {}) // nobody handles a failure that comes after the abort
  throwIfAborted(signal)
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(createAbortedError())
  })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } catch (thrown) {
    throw signal.aborted ? createAbortedError() : thrown
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Resolves after `ms`, or as soon as the signal aborts. Returns false when it was aborted. */
export function sleep(ms: number, signal: AbortSignal = NEVER_ABORTED): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onAbort = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve(true)
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
