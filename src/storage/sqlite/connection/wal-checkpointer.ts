/**
 * Checkpoints the WAL off the main thread. A checkpoint takes as long as many commits, and the commit that fills the WAL
 * would otherwise wait for it.
 *
 * A worker thread with a connection of its own does it. It starts when it is first needed, which in a short CLI command is
 * never. Where the worker is unavailable or too slow, SQLite checkpoints in a commit, as it does by default.
 */
import { Worker } from 'node:worker_threads'
import type { DatabaseKey } from './sqlite-driver.ts'

/**
 * Changes between checkpoints: about 16 MiB of WAL. The first commit after a checkpoint restarts the WAL and waits for the
 * disk, so checkpoints should be rare.
 */
const CHANGES_MIN = 1_000

/** A passive checkpoint, or one that truncates the WAL. */
export type CheckpointMode = 'move' | 'empty'

export type CheckpointTarget = { readonly path: string; readonly key: DatabaseKey | null }

export class WalCheckpointer {
  readonly #task: CheckpointTarget
  #worker: Worker | null = null
  #isOff: boolean
  #changes = 0
  /** Resolves when the running command is done. */
  #underWay: Promise<unknown> | null = null

  constructor(task: CheckpointTarget) {
    this.#task = task
    this.#isOff = task.path === ':memory:' || !WORKER.pathname.endsWith('.js')
  }

  /** Counts committed changes. */
  recordChanges(changes: number): void {
    this.#changes += changes
    if (this.#isOff || this.#changes < CHANGES_MIN || this.#underWay !== null) return
    void this.#give('move')
  }

  /** Waits for a checkpoint. Does nothing before the worker has started: the WAL is small then. */
  async waitForCheckpoint(): Promise<void> {
    await this.#order('move')
  }

  /** Truncates the WAL, waiting a while for its readers. False when that failed, or without a worker. */
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
    // The event loop must stay alive until the command is done.
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
    // Commits do not depend on the worker.
    worker.on('error', () => {
      this.#isOff = true
    })
    this.#worker = worker
    return worker
  }
}

/** There is no built worker where the TypeScript sources run. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './wal-checkpoint-worker.ts' : './wal-checkpoint-worker.js',
  import.meta.url,
)
