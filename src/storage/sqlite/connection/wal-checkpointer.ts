/**
 * Moves what was committed from the log into the file while others have the thread: that takes as long as many commits,
 * and the one that happens to fill the log would wait for it.
 *
 * A thread of its own does it, with a connection of its own. It starts when it is first needed, which in a short command
 * is never. Where it can't, and where more is written than it can move, SQLite does it at a commit, as it always does.
 */
import { Worker } from 'node:worker_threads'
import type { DatabaseKey } from './sqlite-driver.ts'

/**
 * Changes after which there is something to move: about 16 MiB. The commit after each move begins the log anew and waits
 * for the disk, so it should be a rare one.
 */
const CHANGES_MIN = 1_000

/** To move what can be moved while others read and write, or to leave nothing in the log. */
export type CheckpointMode = 'move' | 'empty'

export type CheckpointTarget = { readonly path: string; readonly key: DatabaseKey | null }

export class WalCheckpointer {
  readonly #task: CheckpointTarget
  #worker: Worker | null = null
  #isOff: boolean
  #changes = 0
  /** Until what is under way is done. */
  #underWay: Promise<unknown> | null = null

  constructor(task: CheckpointTarget) {
    this.#task = task
    this.#isOff = task.path === ':memory:' || !WORKER.pathname.endsWith('.js')
  }

  /** So many changes were committed. */
  recordChanges(changes: number): void {
    this.#changes += changes
    if (this.#isOff || this.#changes < CHANGES_MIN || this.#underWay !== null) return
    void this.#give('move')
  }

  /** Waits until what is in the log was moved. Where no thread was started yet, there is little in it. */
  async waitForCheckpoint(): Promise<void> {
    await this.#order('move')
  }

  /** Waits for whoever reads the log, for a while. Whether it was emptied; it is not without a thread. */
  truncateLog(): Promise<boolean> {
    return this.#order('empty')
  }

  async #order(order: CheckpointMode): Promise<boolean> {
    while (this.#underWay !== null) await this.#underWay
    return this.#isOff || this.#worker === null ? false : this.#give(order)
  }

  async close(): Promise<void> {
    this.#isOff = true
    await this.#underWay
    await this.#worker?.terminate()
    this.#worker = null
  }

  #give(order: CheckpointMode): Promise<boolean> {
    this.#changes = 0
    const worker = this.#worker ?? this.#start()
    // A process that waits for nothing else would end in the middle of it, and of whatever waits for it.
    worker.ref()
    const carriedOut = new Promise<boolean>((resolve) => {
      const done = (isDone: unknown) => {
        worker.off('message', done).off('exit', done)
        worker.unref()
        this.#underWay = null
        resolve(isDone === true)
      }
      worker.on('message', done).on('exit', done).postMessage(order)
    })
    this.#underWay = carriedOut
    return carriedOut
  }

  #start(): Worker {
    const worker = new Worker(WORKER, { workerData: this.#task })
    worker.unref()
    // Its commits are safe without it.
    worker.on('error', () => {
      this.#isOff = true
    })
    this.#worker = worker
    return worker
  }
}

/** There is none where the sources themselves are run. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './wal-checkpoint-worker.ts' : './wal-checkpoint-worker.js',
  import.meta.url,
)
