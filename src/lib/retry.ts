import type { Clock } from './clock.ts'
import { toAppError } from './errors.ts'

/** How long to wait before each further attempt: a store that is busy is so for moments, one that is down for long. */
const PAUSES_MS = [50, 250, 1_000] as const
const NEVER = new AbortController().signal

/** Does work again when it fails, unless it would fail the same way each time. */
export async function retry<Result>(clock: Clock, work: () => Promise<Result>): Promise<Result> {
  for (const pause of PAUSES_MS) {
    try {
      return await work()
    } catch (thrown) {
      if (toAppError(thrown).code === 'invalid_input') throw thrown
      await clock.sleep(pause, NEVER)
    }
  }
  return work()
}
