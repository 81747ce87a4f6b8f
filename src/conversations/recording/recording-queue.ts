/**
 * A bounded queue of ended requests. Queued requests are recorded in batches, so that recording keeps up with a store
 * with slow commits. When the queue is full, the oldest items are dropped: the next requests refer to the newest ones.
 */
import type { BoundedQueueLimits } from '../../lib/bounded-queue.ts'

export type QueuedItem = {
  /** Groups the items of one owner and user. */
  readonly lane: string
  /** Characters held in memory. */
  readonly size: number
}

type RecordingQueueOptions<Item> = {
  readonly limits: BoundedQueueLimits
  readonly batchMax: number
  /** Must not fail. */
  readonly run: (batch: readonly Item[]) => Promise<void>
  readonly onDropped: (item: Item) => void
}

export class RecordingQueue<Item extends QueuedItem> {
  readonly #options: RecordingQueueOptions<Item>
  /** Oldest first. */
  readonly #waiting = new Set<Item>()
  #waitingSize = 0
  #running: readonly Item[] = []
  #draining: Promise<void> | null = null
  /** Resolves when the batch that runs now has ended. */
  #batchEnded: Promise<void> = Promise.resolve()

  constructor(options: RecordingQueueOptions<Item>) {
    this.#options = options
  }

  /** How many items have not been started. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Returns how many other items were dropped. */
  add(item: Item): number {
    this.#waiting.add(item)
    this.#waitingSize += item.size
    let dropped = 0
    for (const oldest of this.#waiting) {
      // The newest item stays, whatever its size.
      if (this.#isWithinLimits() || oldest === item) break
      this.#drop(oldest)
      dropped++
    }
    this.#draining ??= this.#drain()
    return dropped
  }

  /** Drops waiting items of the matching lanes. A running batch completes. */
  dropAll(matches: (lane: string) => boolean): void {
    for (const item of this.#waiting) if (matches(item.lane)) this.#drop(item)
  }

  /** Resolves when no item of the matching lanes is waiting or running. */
  async settled(matches: (lane: string) => boolean = () => true): Promise<void> {
    const isOpen = () => [...this.#waiting, ...this.#running].some(({ lane }) => matches(lane))
    while (isOpen()) {
      await this.#batchEnded
      await Promise.resolve() // lets the next batch start
    }
  }

  async #drain(): Promise<void> {
    await Promise.resolve() // returns to the caller of `add` first
    while (this.#waiting.size > 0) {
      this.#running = [...this.#waiting].slice(0, this.#options.batchMax)
      for (const item of this.#running) this.#remove(item)
      this.#batchEnded = this.#options.run(this.#running)
      await this.#batchEnded
      this.#running = []
    }
    this.#draining = null
  }

  #drop(item: Item): void {
    this.#remove(item)
    this.#options.onDropped(item)
  }

  #remove(item: Item): void {
    if (this.#waiting.delete(item)) this.#waitingSize -= item.size
  }

  #isWithinLimits(): boolean {
    const { tasksMax, sizeMax } = this.#options.limits
    return this.#waiting.size <= tasksMax && this.#waitingSize <= sizeMax
  }
}
