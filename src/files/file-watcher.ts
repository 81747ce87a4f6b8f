/** When files are looked at by themselves: at the start, when they change, and from time to time. */
import type { OwnerId } from '../domain/ids.ts'
import type { IntervalTimers } from '../lib/clock.ts'
import type { FileTimings } from './file-options.ts'
import type { FileStatus } from './file-search.ts'
import type { FileTree, FileWatch } from './file-tree.ts'
import type { Roots } from './roots.ts'

export type FileWatcherDependencies = {
  readonly tree: FileTree
  readonly roots: Roots
  readonly timers: IntervalTimers
  readonly pace: FileTimings
  /** Notes that something may have changed. */
  readonly touch: (owner: OwnerId, root?: string) => void
  /** Looks at an owner's files; `isThorough` at everything that has grown a little. */
  readonly look: (owner: OwnerId, isThorough: boolean) => Promise<void>
}

const OFF: FileStatus['watching'] = { mode: 'off', reason: null }

/** One owner who is watched; `silent` are the roots that nothing was heard of yet. */
type WatchedOwner = {
  watch: FileWatch | null
  cancelLook: (() => void) | null
  readonly silent: Set<string>
}

export class FileWatcher {
  readonly #parts: FileWatcherDependencies
  readonly #owners = new Map<OwnerId, WatchedOwner>()
  readonly #looks = new Set<Promise<void>>()
  #cancelInterval: (() => void) | null = null
  #isClosed = false

  constructor(parts: FileWatcherDependencies) {
    this.#parts = parts
  }

  of(owner: OwnerId): FileStatus['watching'] {
    const watch = this.#owners.get(owner)?.watch
    return watch == null ? OFF : { mode: watch.mode(), reason: watch.getReason() }
  }

  /** Whether every change is told at once. There is a hint when watching a root has begun. */
  isSure(owner: OwnerId): boolean {
    const watched = this.#owners.get(owner)
    return watched?.silent.size === 0 && watched.watch?.mode() === 'events'
  }

  /** Watches everybody who has roots, and looks at all of them once. */
  async start(): Promise<void> {
    const { roots, timers, pace } = this.#parts
    this.#cancelInterval ??= timers.every(pace.intervalMs, () => {
      for (const owner of this.#owners.keys()) {
        this.#parts.touch(owner)
        this.#look(owner, true)
      }
    })
    for (const owner of await roots.owners()) await this.watch(owner)
  }

  /** Watches an owner's roots as they are now. */
  async watch(owner: OwnerId): Promise<void> {
    const { tree, roots } = this.#parts
    const listed = await roots.list(owner)
    if (this.#isClosed) return
    this.unwatch(owner)
    if (listed.length === 0) return
    const silent = new Set(listed.map(({ id }) => id))
    const watched: WatchedOwner = { watch: null, cancelLook: null, silent }
    this.#owners.set(owner, watched)
    watched.watch = tree.watch(listed, ({ id, kind }) => {
      silent.delete(id)
      this.#parts.touch(owner, id)
      this.#lookSoon(owner, watched, kind === 'sessions')
    })
    this.#look(owner, true)
  }

  /** Once there was quiet for a while, where the owner is watched at all. */
  lookSoon(owner: OwnerId): void {
    const watched = this.#owners.get(owner)
    if (watched !== undefined) this.#lookSoon(owner, watched, false)
  }

  unwatch(owner: OwnerId): void {
    const watched = this.#owners.get(owner)
    this.#owners.delete(owner)
    watched?.cancelLook?.()
    watched?.watch?.close()
  }

  get isStarted(): boolean {
    return this.#cancelInterval !== null
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelInterval?.()
    for (const owner of [...this.#owners.keys()]) this.unwatch(owner)
    await Promise.allSettled(this.#looks)
  }

  /** Once there was quiet for a while. Notes that change don't wait for transcripts that always do. */
  #lookSoon(owner: OwnerId, watched: WatchedOwner, isSessions: boolean): void {
    const { timers, pace } = this.#parts
    const quietMs = isSessions ? pace.sessionDebounceMs : pace.debounceMs
    if (isSessions && watched.cancelLook !== null) return
    watched.cancelLook?.()
    const cancel = timers.every(quietMs, () => {
      cancel()
      if (watched.cancelLook === cancel) watched.cancelLook = null
      this.#look(owner, false)
    })
    watched.cancelLook = cancel
  }

  #look(owner: OwnerId, isThorough: boolean): void {
    if (this.#isClosed) return
    const look = this.#parts
      .look(owner, isThorough)
      .catch(() => {}) // told in the status
      .finally(() => this.#looks.delete(look))
    this.#looks.add(look)
  }
}
