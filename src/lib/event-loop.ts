/** Long work is done in pieces, and others have their turn between them: stores may hold the thread for each piece. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Long enough that going round costs nothing, and so short that nobody notices the wait. */
const HELD_MS_MAX = 5

/** Counts by the clock and not by pieces: how long a piece takes depends on what is in it, and on the machine. */
export class TimeSlice {
  #since = performance.now()

  /** Whether the thread was held for long enough. */
  get isExpired(): boolean {
    return performance.now() - this.#since >= HELD_MS_MAX
  }

  async yieldThread(): Promise<void> {
    await yieldToEventLoop()
    this.#since = performance.now()
  }
}
