/**
 * Limits what a killed process loses: how many responses may end before they are recorded, and for how long. While
 * recording is fast, a few responses end at once and are recorded in the background, which adds no latency. Otherwise
 * each response is recorded before it ends. A stalled store delays nobody: responses end at once until it recovers.
 */

import { resolvesWithin } from '../../lib/timeout.ts'

/** How many ended responses may be unrecorded. */
const UNRECORDED_MAX = 4
/** Recording is slow while the oldest unrecorded or the last recorded response has taken longer. */
const FAST_MS_MAX = 50
/** More requests in preparation compete with recording for the store. */
const PREPARING_MAX = 4
/** A store that records nothing for so long is stalled: far longer than a commit on an overloaded machine. */
const STALLED_MS = 5_000

export class RecordingWindow {
  readonly #stalledMs: number
  /** Unrecorded responses that ended or may end, with the time since when; oldest first. */
  readonly #unrecorded = new Map<object, number>()
  /** Unrecorded responses that are queued, with the time since when. */
  readonly #queued = new Map<object, number>()
  #waiting = 0
  #preparing = 0
  #isStalled = false
  #recordedAt = 0
  /** How long the last recording took. Unknown counts as slow, because a process that starts is busy. */
  #lastMs = Number.POSITIVE_INFINITY

  constructor({ stalledMs = STALLED_MS }: { readonly stalledMs?: number } = {}) {
    this.#stalledMs = stalledMs
  }

  /** Whether a response waits until it is recorded. */
  get isAwaited(): boolean {
    return this.#waiting > 0
  }

  /** Whether a response may end before it is recorded. If so, it counts as unrecorded from now on. */
  enter(response: object): boolean {
    if (this.#unrecorded.has(response)) return true
    const now = performance.now()
    if (!this.#isFast(now) && !this.#isStalled) return false
    this.#unrecorded.set(response, now)
    return true
  }

  #isFast(now: number): boolean {
    const [oldest = now] = this.#unrecorded.values()
    const slowestMs = Math.max(now - oldest, this.#lastMs)
    return (
      slowestMs <= FAST_MS_MAX &&
      this.#unrecorded.size < UNRECORDED_MAX &&
      this.#preparing <= PREPARING_MAX
    )
  }

  /** The response is queued for recording. */
  begin(response: object): void {
    this.#queued.set(response, performance.now())
  }

  /** The response is recorded, or never will be. */
  leave(response: object, isRecorded: boolean): void {
    const now = performance.now()
    const since = this.#unrecorded.get(response) ?? this.#queued.get(response) ?? now
    this.#unrecorded.delete(response)
    this.#queued.delete(response)
    if (!isRecorded) return
    this.#recordedAt = now
    this.#lastMs = now - since
    this.#isStalled = false
  }

  /** Counts a request during its preparation. */
  async preparing<Result>(prepare: () => Promise<Result>): Promise<Result> {
    this.#preparing++
    try {
      return await prepare()
    } finally {
      this.#preparing--
    }
  }

  /** Resolves when a response is recorded or the store is stalled. */
  async wait(recorded: Promise<void>): Promise<void> {
    this.#waiting++
    const started = performance.now()
    try {
      while (!this.#isStalled) {
        const remainingMs =
          Math.max(started, this.#recordedAt) + this.#stalledMs - performance.now()
        if (remainingMs <= 0) this.#isStalled = true
        else if (await resolvesWithin(remainingMs, recorded)) return
      }
    } finally {
      this.#waiting--
    }
  }
}
