/** Long computations run in slices, so that requests and timers get the thread between them. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Long enough that yielding costs next to nothing, and too short for a waiting request to notice. */
const SLICE_MS = 4

/**
 * Measures how long a computation has held the thread. Time is measured rather than steps, because the duration of a
 * step depends on its data and on the machine.
 *
 * @example
 * const slice = new TimeSlice()
 * for (const row of rows) {
 *   if (slice.isExpired) await slice.yieldThread()
 *   score(row)
 * }
 */
export class TimeSlice {
  readonly #sliceMs: number
  #since = performance.now()
  /** How often the thread was yielded. */
  yields = 0

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs
  }

  get isExpired(): boolean {
    return performance.now() - this.#since >= this.#sliceMs
  }

  async yieldThread(): Promise<void> {
    await yieldToEventLoop()
    this.yields++
    this.#since = performance.now()
  }
}
