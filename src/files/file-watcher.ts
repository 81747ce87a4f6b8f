/** Schedules scans: at startup, after changes, and periodically. */
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
  /** Marks an owner's files as possibly changed. */
  readonly touch: (owner: OwnerId, root?: string) => void
  /** Scans an owner's files; `isThorough` ignores the growth thresholds of transcripts. */
  readonly look: (owner: OwnerId, isThorough: boolean) => Promise<void>
}

const OFF: FileStatus['watching'] = { mode: 'off', reason: null }

/** A watched owner; `silent` are the roots that have not reported an event yet. */
type WatchedOwner = {
  watch: FileWatch | null
  cancelLook: (() => void) | null
  readonly unwatched: Set<string>
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

  /** Whether changes are reported immediately. The first event of a root says that watching has begun. */
  isSure(owner: OwnerId): boolean {
    const watched = this.#owners.get(owner)
    return watched?.unwatched.size === 0 && watched.watch?.mode() === 'events'
  }

  /** Watches every owner with roots and scans each once. */
  async start(): Promise<void> {
    const { roots, timers, pace } = this.#parts
    this.#cancelInterval ??=
      pace.intervalMs === 0
        ? () => {}
        : timers.every(pace.intervalMs, () => {
            for (const owner of this.#owners.keys()) {
              this.#parts.touch(owner)
              this.#look(owner, true)
            }
          })
    for (const owner of await roots.owners()) await this.watch(owner)
  }

  /** Watches the current roots of an owner. */
  async watch(owner: OwnerId): Promise<void> {
    const { tree, roots } = this.#parts
    const listed = await roots.list(owner)
    if (this.#isClosed) return
    this.unwatch(owner)
    if (listed.length === 0) return
    const unwatched = new Set(listed.map(({ id }) => id))
    const watched: WatchedOwner = { watch: null, cancelLook: null, unwatched }
    this.#owners.set(owner, watched)
    if (this.#parts.pace.isWatching) {
      watched.watch = tree.watch(listed, ({ id, kind }) => {
        unwatched.delete(id)
        this.#parts.touch(owner, id)
        this.#lookSoon(owner, watched, kind === 'sessions')
      })
    }
    this.#look(owner, true)
  }

  /** Schedules a debounced scan of a watched owner. */
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

  /** Debounced. Changed notes do not wait for transcripts, which change constantly. */
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
      .catch(() => {}) // reported by the status
      .finally(() => this.#looks.delete(look))
    this.#looks.add(look)
  }
}
