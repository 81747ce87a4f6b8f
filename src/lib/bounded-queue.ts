/**
 * Work that is done behind the back of whoever brought it: in turn for each lane, and never more of it waiting than fits.
 * When there is too much, the oldest is given up, because the newest is what the next request asks about.
 */
export type QueuedTask = {
  /** Pieces of one lane are done in the order in which they came. */
  readonly lane: string
  /** How much it holds on to, in characters. */
  readonly size: number
  /** Must not fail. */
  run(): Promise<void>
}

export type BoundedQueueLimits = { readonly tasksMax: number; readonly sizeMax: number }

export class BoundedQueue {
  readonly #limits: BoundedQueueLimits
  /** In the order in which they came, over all lanes. */
  readonly #waiting = new Set<QueuedTask>()
  #waitingSize = 0
  readonly #lanes = new Map<string, QueuedTask[]>()
  readonly #ended = new Map<string, Promise<void>>()

  constructor(limits: BoundedQueueLimits) {
    this.#limits = limits
  }

  /** Says how many others had to be given up for it. */
  add(work: QueuedTask): number {
    this.#waiting.add(work)
    this.#waitingSize += work.size
    const lane = this.#lanes.get(work.lane)
    if (lane === undefined) {
      this.#lanes.set(work.lane, [work])
      this.#ended.set(work.lane, this.#drain(work.lane))
    } else {
      lane.push(work)
    }
    let dropped = 0
    for (const oldest of this.#waiting) {
      if (this.#isWithinLimits()) break
      if (oldest === work) break // something has to be kept, however large
      this.#giveUp(oldest)
      dropped++
    }
    return dropped
  }

  /** How many pieces have not begun. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Gives up what waits in these lanes. What is under way goes on to its end. */
  dropAll(isMeant: (lane: string) => boolean): void {
    for (const work of this.#waiting) if (isMeant(work.lane)) this.#giveUp(work)
  }

  /** Waits until the lanes are empty. */
  async drained(isMeant: (lane: string) => boolean = () => true): Promise<void> {
    for (;;) {
      const open = [...this.#ended].filter(([lane]) => isMeant(lane)).map(([, ended]) => ended)
      if (open.length === 0) return
      await Promise.all(open)
    }
  }

  async #drain(name: string): Promise<void> {
    await Promise.resolve() // not in the middle of whoever brought it
    const lane = this.#lanes.get(name) ?? []
    for (let work = lane.shift(); work !== undefined; work = lane.shift()) {
      if (!this.#waiting.has(work)) continue
      this.#giveUp(work)
      await work.run()
    }
    this.#lanes.delete(name)
    this.#ended.delete(name)
  }

  /** It waits no longer. */
  #giveUp(work: QueuedTask): void {
    if (this.#waiting.delete(work)) this.#waitingSize -= work.size
  }

  #isWithinLimits(): boolean {
    return this.#waiting.size <= this.#limits.tasksMax && this.#waitingSize <= this.#limits.sizeMax
  }
}
