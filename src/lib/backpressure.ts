/**
 * Backpressure between requests and background work: background work runs in steps, one call of the store each, and before
 * each step it yields to requests that are under way. Both sides have a limit, so that a client that asks without pause
 * cannot keep background work from being done.
 */
import { yieldToEventLoop } from './event-loop.ts'

/** To be awaited before each step of background work. */
export type YieldTurn = () => Promise<void>

/** A request has priority for this long. One that takes longer waits for its provider, and steps do not slow it down. */
const PRIORITY_MS = 100

/** One piece of work yields for this long in total, all its steps together. */
const YIELD_MS_MAX = 100

/** For work whose backlog would grow by yielding. */
export const NO_YIELD: YieldTurn = async () => {}

export class RequestBackpressure {
  readonly #requests = new Set<{ readonly since: number }>()
  readonly #waiting = new Set<() => void>()

  /** Call this when a request begins, and what it returns when the request ends. */
  trackRequest(): () => void {
    const request = { since: performance.now() }
    this.#requests.add(request)
    return () => {
      if (this.#requests.delete(request)) for (const wake of this.#waiting) wake()
    }
  }

  /** Creates the function that one piece of work awaits before each of its steps. */
  yieldToRequests(): YieldTurn {
    let leftMs = YIELD_MS_MAX
    return async () => {
      await yieldToEventLoop()
      const began = performance.now()
      const until = began + leftMs
      for (;;) {
        const now = performance.now()
        const waitMs = Math.min(this.#priorityUntil(now), until) - now
        if (waitMs <= 0) break
        await this.#requestEndedOr(waitMs)
      }
      leftMs -= performance.now() - began
    }
  }

  #priorityUntil(now: number): number {
    let last = 0
    for (const request of this.#requests) {
      const until = request.since + PRIORITY_MS
      if (until <= now) this.#requests.delete(request)
      else last = Math.max(last, until)
    }
    return last
  }

  /** Resolves when a request ends, or after `ms`. */
  #requestEndedOr(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#waiting.add(wake)
    })
  }
}
