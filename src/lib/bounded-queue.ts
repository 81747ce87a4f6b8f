/**
 * Background work with bounded memory: tasks run in order within each lane, lanes run concurrently, and when too much waits,
 * the oldest tasks are dropped, because the newest are what the next requests ask about.
 */
export type QueuedTask = {
  /** Tasks of one lane run one after the other, in the order they were added. */
  readonly lane: string
  /** The memory that the task holds, in characters. */
  readonly size: number
  /** Must not fail. */
  run(): Promise<void>
}

export type BoundedQueueLimits = { readonly tasksMax: number; readonly sizeMax: number }

export class BoundedQueue {
  readonly #limits: BoundedQueueLimits
  /** Over all lanes, in the order they were added. */
  readonly #waiting = new Set<QueuedTask>()
  #waitingSize = 0
  readonly #lanes = new Map<string, QueuedTask[]>()
  readonly #draining = new Map<string, Promise<void>>()

  constructor(limits: BoundedQueueLimits) {
    this.#limits = limits
  }

  /** Tasks that have not started. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Returns how many older tasks were dropped. The new task stays, however large it is. */
  add(task: QueuedTask): number {
    this.#waiting.add(task)
    this.#waitingSize += task.size
    const lane = this.#lanes.get(task.lane)
    if (lane === undefined) {
      this.#lanes.set(task.lane, [task])
      this.#draining.set(task.lane, this.#drain(task.lane))
    } else {
      lane.push(task)
    }
    let dropped = 0
    for (const oldest of this.#waiting) {
      if (this.#isWithinLimits() || oldest === task) break
      this.#remove(oldest)
      dropped++
    }
    return dropped
  }

  /** Drops the waiting tasks of the lanes. A task that runs is completed. */
  dropAll(isMeant: (lane: string) => boolean): void {
    for (const task of this.#waiting) if (isMeant(task.lane)) this.#remove(task)
  }

  /** Resolves when the lanes are empty. */
  async drained(isMeant: (lane: string) => boolean = () => true): Promise<void> {
    for (;;) {
      const open = [...this.#draining].filter(([lane]) => isMeant(lane))
      if (open.length === 0) return
      await Promise.all(open.map(([, ended]) => ended))
    }
  }

  async #drain(name: string): Promise<void> {
    await Promise.resolve() // not in the middle of the call that adds the task
    const lane = this.#lanes.get(name) ?? []
    for (let task = lane.shift(); task !== undefined; task = lane.shift()) {
      if (!this.#waiting.has(task)) continue // dropped
      this.#remove(task)
      await task.run()
    }
    this.#lanes.delete(name)
    this.#draining.delete(name)
  }

  #remove(task: QueuedTask): void {
    if (this.#waiting.delete(task)) this.#waitingSize -= task.size
  }

  #isWithinLimits(): boolean {
    return this.#waiting.size <= this.#limits.tasksMax && this.#waitingSize <= this.#limits.sizeMax
  }
}
