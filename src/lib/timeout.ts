import { AppError, toAppError } from './errors.ts'

export type TimedResult<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly error: AppError
      /** Whether it was not waited for, rather than that it failed. */
      readonly isTimeout: boolean
    }

/** Does `work`, but waits no longer than `ms`. Failing and being late are ordinary outcomes, told in words. */
export async function withTimeout<Result>(
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<TimedResult<Result>> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort()
      reject(new AppError('unavailable', `It took longer than ${ms} ms.`))
    }, ms)
  })
  try {
    return { kind: 'done', result: await Promise.race([work(controller.signal), late]) }
  } catch (thrown) {
    const error = toAppError(thrown)
    return { kind: 'failed', reason: error.message, error, isTimeout: controller.signal.aborted }
  } finally {
    clearTimeout(timer)
  }
}
