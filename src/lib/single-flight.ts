/** Concurrent callers that want the same work share one run of it. */
import { raceAbort } from './abort.ts'

/** Calls that come while the task runs get the promise of that run; the next call after it starts the task again. */
export class SingleFlight<Result> {
  readonly #task: () => Promise<Result>
  #running: Promise<Result> | null = null

  constructor(task: () => Promise<Result>) {
    this.#task = task
  }

  /** Null while the task does not run. */
  get running(): Promise<Result> | null {
    return this.#running
  }

  run(): Promise<Result> {
    this.#running ??= this.#task().finally(() => {
      this.#running = null
    })
    return this.#running
  }
}

/** The same for each key. */
export class KeyedSingleFlight<Key, Result> {
  readonly #running = new Map<Key, Promise<Result>>()

  run(key: Key, task: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const run = task().finally(() => this.#running.delete(key))
    this.#running.set(key, run)
    return run
  }
}

/** Loads once. A failed load is forgotten, so that the next call tries again. */
export function lazyAsync<Result>(load: () => Promise<Result>): () => Promise<Result> {
  let loading: Promise<Result> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

/** Creates the value with the first call. */
export function lazy<Value>(create: () => Value): () => Value {
  let created: { readonly value: Value } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}

/** One run that several callers wait for. It is aborted when the last of them has given up, not before. */
export class SharedTask<Result> {
  readonly #controller = new AbortController()
  readonly #promise: Promise<Result>
  #callers = 0

  constructor(start: (signal: AbortSignal) => Promise<Result>) {
    this.#promise = start(this.#controller.signal)
    this.#promise.catch(() => {})
  }

  /** Whether every caller has given up: a new one must start anew. */
  get isAbandoned(): boolean {
    return this.#controller.signal.aborted
  }

  async join(signal: AbortSignal | undefined): Promise<Result> {
    this.#callers++
    try {
      return await raceAbort(this.#promise, signal)
    } finally {
      this.#callers--
      if (this.#callers === 0) this.#controller.abort()
    }
  }
}
