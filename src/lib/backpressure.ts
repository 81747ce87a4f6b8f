/**
 * What nobody waits for gives way to requests: it is done in pieces, one call of the store each, and a request that comes
 * in between goes first. But never for long, so that whoever asks without pause doesn't keep anything from being kept.
 */
import { yieldToEventLoop } from './event-loop.ts'

/** To be awaited before each piece of some work. */
export type YieldTurn = () => Promise<void>

/** For so long a request is hurried along. Whoever waits longer waits for its provider, and is not held up by a piece. */
const HURRIED_MS = 100

/** For so long one work gives way, all its pieces together. */
const PATIENCE_MS = 100

/** Where so much waits that giving way would let it grow: then each work is done at one go, and requests wait for it. */
export const NO_YIELD: YieldTurn = async () => {}

export class RequestBackpressure {
  /** When the requests came that are under way. */
  readonly #hurried = new Set<{ readonly since: number }>()
  readonly #waiting = new Set<() => void>()

  /** A request has come. Returns what is to be called when it has ended; if nobody does, it is not hurried for long. */
  trackRequest(): () => void {
    const request = { since: performance.now() }
    this.#hurried.add(request)
    return () => {
      if (this.#hurried.delete(request)) for (const look of this.#waiting) look()
    }
  }

  /** For one work. */
  yieldToRequests(): YieldTurn {
    let patience = PATIENCE_MS
    return async () => {
      await yieldToEventLoop()
      const began = performance.now()
      const until = began + patience
      for (;;) {
        const now = performance.now()
        const wait = Math.min(this.#hurriedUntil(now), until) - now
        if (wait <= 0) break
        await this.#oneEnded(wait)
      }
      patience -= performance.now() - began
    }
  }

  #hurriedUntil(now: number): number {
    let last = 0
    for (const request of this.#hurried) {
      const until = request.since + HURRIED_MS
      if (until <= now) this.#hurried.delete(request)
      else last = Math.max(last, until)
    }
    return last
  }

  /** Or the time has passed. */
  #oneEnded(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve()
      }
      const timer = setTimeout(look, ms)
      this.#waiting.add(look)
    })
  }
}
