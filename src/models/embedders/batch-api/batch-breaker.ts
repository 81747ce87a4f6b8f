/** Whether batches are worth trying in this process. */

const FAILURES_MAX = 2

export class BatchBreaker {
  #failures = 0
  #because: string | null = null

  /** Why there are no more batches; null while there are. */
  get openReason(): string | null {
    return this.#because
  }

  recordSuccess(): void {
    this.#failures = 0
  }

  recordFailure(because: string): void {
    this.#failures++
    if (this.#failures >= FAILURES_MAX) this.trip(because)
  }

  trip(because: string): void {
    this.#because ??= because
  }

  /** For `status`. */
  report(): Readonly<Record<string, string | number | boolean>> {
    const why = this.#because === null ? {} : { batchApiDisabledReason: this.#because }
    return { batchApiEnabled: this.#because === null, batchApiFailures: this.#failures, ...why }
  }
}
