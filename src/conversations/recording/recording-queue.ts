/**
 * A bounded queue of answered requests that are to be recorded. Whatever waits is recorded together, so that a store
 * which takes long for a commit keeps up. When there is too much, the oldest items are dropped: the newest ones are what
 * the next request asks about.
 */
import type { BoundedQueueLimits } from '../../lib/bounded-queue.ts'

export type QueuedItem = {
  /** Whose it is. */
  readonly lane: string
  /** How much it holds in memory, in characters. */
  readonly size: number
}

export type RecordingQueueOptions<Item> = {
  readonly limits: BoundedQueueLimits
  /** How many items are recorded together. */
  readonly batchMax: number
  /** Must not fail. */
  readonly run: (batch: readonly Item[]) => Promise<void>
  readonly onDropped: (item: Item) => void
}

export class RecordingQueue<Item extends QueuedItem> {
  readonly #options: RecordingQueueOptions<Item>
  /** In the order in which they came. */
  readonly #waiting = new Set<Item>()
  #waitingSize = 0
  #running: readonly Item[] = []
  #draining: Promise<void> | null = null
  /** Resolves when the batch that runs now has ended. */
  #batchEnded: Promise<void> = Promise.resolve()

  constructor(options: RecordingQueueOptions<Item>) {
    this.#options = options
  }

  /** How many items have not begun. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Returns how many others were dropped for it. */
  add(item: Item): number {
    this.#waiting.add(item)
    this.#waitingSize += item.size
    let dropped = 0
    for (const oldest of this.#waiting) {
      // The newest is kept, however large.
      if (this.#isWithinLimits() || oldest === item) break
      this.#drop(oldest)
      dropped++
    }
    this.#draining ??= this.#drain()
    return dropped
  }

  /** Drops what waits in these lanes. What runs goes on to its end. */
  dropAll(isMeant: (lane: string) => boolean): void {
    for (const item of this.#waiting) if (isMeant(item.lane)) this.#drop(item)
  }

  /** Waits until nothing of these lanes waits or runs. */
  async settled(isMeant: (lane: string) => boolean = () => true): Promise<void> {
    const isOpen = () => [...this.#waiting, ...this.#running].some(({ lane }) => isMeant(lane))
    while (isOpen()) {
      await this.#batchEnded
      await Promise.resolve() // the next batch begins
    }
  }

  async #drain(): Promise<void> {
    await Promise.resolve() // whoever added the first item goes on first
    while (this.#waiting.size > 0) {
      this.#running = [...this.#waiting].slice(0, this.#options.batchMax)
      for (const item of this.#running) this.#take(item)
      this.#batchEnded = this.#options.run(this.#running)
      await this.#batchEnded
      this.#running = []
    }
    this.#draining = null
  }

  #drop(item: Item): void {
    this.#take(item)
    this.#options.onDropped(item)
  }

  #take(item: Item): void {
    if (this.#waiting.delete(item)) this.#waitingSize -= item.size
  }

  #isWithinLimits(): boolean {
    const { tasksMax: count, sizeMax: size } = this.#options.limits
    return this.#waiting.size <= count && this.#waitingSize <= size
  }
}
