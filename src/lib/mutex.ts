/** Runs tasks one at a time, in the order of the calls. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const run = this.#last.then(task, task)
    this.#last = run.catch(() => {})
    return run
  }

  /** Resolves when no task is running or queued. */
  async idle(): Promise<void> {
    for (let last: Promise<unknown> | null = null; last !== this.#last; ) {
      last = this.#last
      await last
    }
  }
}

/** A mutex for each key. Keys without tasks take no memory. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const run = (this.#last.get(key) ?? Promise.resolve()).then(task, task)
    this.#last.set(key, run)
    try {
      return await run
    } finally {
      if (this.#last.get(key) === run) this.#last.delete(key)
    }
  }
}
