import type { IntervalTimers } from '../../src/lib/clock.ts'
import type { FakeClock } from './clock.ts'

/** Timers that go off when a test lets time pass. Setting the clock by itself, as people do, moves none of them. */
export class FakeTimers implements IntervalTimers {
  readonly #clock: FakeClock
  readonly #timers = new Set<{ dueAt: number; readonly ms: number; readonly work: () => void }>()
  #elapsed = 0

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  get count(): number {
    return this.#timers.size
  }

  every(ms: number, work: () => void): () => void {
    const timer = { dueAt: this.#elapsed + ms, ms, work }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  /** Lets time pass on the clock as well. After each timer, `settle` waits for what it set off. */
  async pass(ms: number, settle: () => Promise<void>): Promise<void> {
    const end = this.#elapsed + ms
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.dueAt - b.dueAt)
      if (next === undefined || next.dueAt > end) break
      this.#moveTo(next.dueAt)
      next.dueAt += next.ms
      next.work()
      await settle()
    }
    this.#moveTo(end)
  }

  #moveTo(elapsed: number): void {
    this.#clock.advance(elapsed - this.#elapsed)
    this.#elapsed = elapsed
  }
}
