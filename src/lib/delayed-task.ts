/**
 * Debounces: many requests within a delay cause one run. The first request sets the time, so that frequent requests cannot
 * postpone the run for ever. The timer is unref'd and keeps no process alive.
 */
export class DelayedTask {
  readonly #task: () => void
  #timer: ReturnType<typeof setTimeout> | undefined

  /** The task must not throw. */
  constructor(task: () => void) {
    this.#task = task
  }

  get isScheduled(): boolean {
    return this.#timer !== undefined
  }

  schedule(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#task()
    }, delayMs).unref()
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
