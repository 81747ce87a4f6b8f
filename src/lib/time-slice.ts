/** The thread is left to others after this long. */
const SLICE_MS = 4

/** Lets others have the thread when a search has had it for long. */
export class TimeSlice {
  #since = performance.now()
  /** How often others had the thread. */
  yields = 0

  get isExpired(): boolean {
    return performance.now() - this.#since >= SLICE_MS
  }

  async yieldThread(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.yields++
    this.#since = performance.now()
  }
}
