/** The thread is left to others after this long. */
const SLICE_MS = 4

/** Lets others have the thread when a search has had it for long. */
export class Breather {
  #since = performance.now()
  /** How often others had the thread. */
  pauses = 0

  get isDue(): boolean {
    return performance.now() - this.#since >= SLICE_MS
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.pauses++
    this.#since = performance.now()
  }
}
