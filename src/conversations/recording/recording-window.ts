/**
 * Bounds what a killed process loses: how many answers clients have before these are recorded, and for how long. While
 * recording is fast, a few answers may end and be recorded in the background, which costs no latency. Otherwise each
 * answer is recorded before it ends, so that nothing can pile up. A store that records nothing for a while holds up
 * nobody: answers then end at once until it is back.
 */

import { resolvesWithin } from '../../lib/timeout.ts'

/** How many answers may be unrecorded after they ended. */
const UNRECORDED_MAX = 4
/** Recording is slow while the oldest of them, or the last one that was recorded, has taken longer than this. */
const FAST_MS_MAX = 50
/** While more requests than this are prepared, they compete with recording for the store. */
const PREPARING_MAX = 4
/** A store that records nothing for so long is stalled: far longer than a commit takes on a machine that is overloaded. */
const STALLED_MS = 5_000

export class RecordingWindow {
  readonly #stalledMs: number
  /** Since when answers are unrecorded that ended, or may end; the oldest first. */
  readonly #unrecorded = new Map<object, number>()
  /** When answers were given to be recorded that are not recorded yet. */
  readonly #begun = new Map<object, number>()
  #waiting = 0
  #preparing = 0
  #isStalled = false
  #recordedAt = 0
  /** How long the last recording took, from the end of its answer. Unknown is slow: a process that starts is busy. */
  #lastMs = Number.POSITIVE_INFINITY

  constructor({ stalledMs = STALLED_MS }: { readonly stalledMs?: number } = {}) {
    this.#stalledMs = stalledMs
  }

  /** Whether answers wait for their recording. */
  get isAwaited(): boolean {
    return this.#waiting > 0
  }

  /** Whether an answer may end before it is recorded. If so, it counts as unrecorded from now on. */
  enter(answer: object): boolean {
    if (this.#unrecorded.has(answer)) return true
    const now = performance.now()
    if (!this.#isFast(now) && !this.#isStalled) return false
    this.#unrecorded.set(answer, now)
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

  /** The answer is given to be recorded. */
  begin(answer: object): void {
    this.#begun.set(answer, performance.now())
  }

  /** The answer is recorded, or will never be. */
  leave(answer: object, isRecorded: boolean): void {
    const now = performance.now()
    const began = this.#unrecorded.get(answer) ?? this.#begun.get(answer) ?? now
    this.#unrecorded.delete(answer)
    this.#begun.delete(answer)
    if (!isRecorded) return
    this.#recordedAt = now
    this.#lastMs = now - began
    this.#isStalled = false
  }

  /** Counts a request while it is prepared. */
  async preparing<Result>(prepare: () => Promise<Result>): Promise<Result> {
    this.#preparing++
    try {
      return await prepare()
    } finally {
      this.#preparing--
    }
  }

  /** Waits for a recording, unless the store is stalled. */
  async wait(recorded: Promise<void>): Promise<void> {
    this.#waiting++
    const began = performance.now()
    try {
      while (!this.#isStalled) {
        const left = Math.max(began, this.#recordedAt) + this.#stalledMs - performance.now()
        if (left <= 0) this.#isStalled = true
        else if (await resolvesWithin(left, recorded)) return
      }
    } finally {
      this.#waiting--
    }
  }
}
