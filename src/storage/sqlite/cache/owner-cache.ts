/**
 * An LRU cache of owners with all their documents, bounded by rows and terms.
 *
 * Documents written by this process are reread before the next answer. A write of another process, which SQLite reports
 * for each query, drops the whole cache; so no answer is stale. Small owners are loaded at once. Large ones are loaded a
 * page at a time while SQL answers their queries, so that loading does not block the thread.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import { readOwnerSize } from '../search/lexical-search.ts'
import { CachedOwner, type UsageCount } from './cached-owner.ts'

export type OwnerCacheOptions = {
  /** Owners with more documents are never cached. 0 disables the cache. */
  readonly ownerRowsMax?: number
  /** Owners with at most so many documents are loaded at once. */
  readonly rowsPerPage?: number
  /** The delay before a larger owner is loaded: a CLI command is over before that. */
  readonly delayMs?: number
}

export const CACHED_OWNER_ROWS_MAX = 60_000
const OWNER_TERMS_MAX = 2_000_000
const IMMEDIATE_ROWS_MAX = 300
const DELAY_MS = 250
/** A process that has written is likely to write again, which would drop what is loaded. */
const DELAY_AFTER_REMOTE_WRITE_MS = 5_000
/** Of all owners together. The least recently used owner is evicted first. */
const ROWS_MAX = 80_000
const TERMS_MAX = 4_000_000
/** With more stale documents an owner is reloaded a page at a time: rereading them at once would block the thread. */
const STALE_MAX = 1_000
/** Higher while an owner is loaded: writes must not restart the load again and again. */
const STALE_WHILE_LOADING_MAX = 5_000

export class OwnerCache {
  readonly #database: SqliteDatabase
  readonly #ownerRowsMax: number
  readonly #immediateRowsMax: number
  readonly #delayMs: number
  /** Least recently used first. */
  readonly #owners = new Map<number, CachedOwner>()
  readonly #tooLarge = new Set<number>()
  /** Owners that are loaded now or soon. */
  readonly #loading = new Map<number, CachedOwner>()
  #timers = new Set<NodeJS.Timeout>()
  #hasRemoteWriters = false

  constructor(database: SqliteDatabase, options: OwnerCacheOptions = {}) {
    this.#database = database
    this.#ownerRowsMax = options.ownerRowsMax ?? CACHED_OWNER_ROWS_MAX
    this.#immediateRowsMax = options.rowsPerPage ?? IMMEDIATE_ROWS_MAX
    this.#delayMs = options.delayMs ?? DELAY_MS
  }

  get isDisabled(): boolean {
    return this.#ownerRowsMax === 0
  }

  /** Cached owners. */
  get size(): number {
    return this.#owners.size
  }

  /** Null when the owner is not cached. A result is valid until the next `await`. */
  get(ownerNumber: number | null): CachedOwner | null {
    // An owner that has shrunk since stays uncached, which is slower but correct.
    if (ownerNumber === null || this.isDisabled || this.#tooLarge.has(ownerNumber)) return null
    this.#database.invalidateIfChanged()
    const owner = this.#owners.get(ownerNumber) ?? this.#load(ownerNumber)
    if (owner === null) return null
    this.#owners.delete(ownerNumber)
    owner.refresh()
    if (!this.#fits(owner)) return null
    this.#owners.set(ownerNumber, owner)
    return owner
  }

  /** To be called before a document of the owner or its vector is written. */
  markStale(ownerNumber: number | null, id: MemoryId): void {
    if (ownerNumber === null) return
    for (const owners of [this.#owners, this.#loading]) {
      const owner = owners.get(ownerNumber)
      if (owner === undefined) continue
      owner.markStale(id)
      const staleMax = owners === this.#loading ? STALE_WHILE_LOADING_MAX : STALE_MAX
      // Of an owner whose documents are all stale, nothing is worth keeping: most likely it was erased.
      const isUseless = owners === this.#owners && owner.staleCount >= owner.size
      if (isUseless || owner.staleCount > staleMax) owners.delete(ownerNumber)
    }
  }

  /** To be called after a use of a memory was written. */
  recordUse(ownerNumber: number | null, use: UsageCount): void {
    if (ownerNumber === null) return
    this.#owners.get(ownerNumber)?.recordUse(use)
    this.#loading.get(ownerNumber)?.markStale(use.id) // it may have been loaded already, or not
  }

  /** To be called when another process has written. */
  invalidate(): void {
    this.#hasRemoteWriters ||= this.#owners.size + this.#loading.size > 0
    this.clear()
  }

  clear(): void {
    this.#owners.clear()
    this.#tooLarge.clear()
    this.#loading.clear()
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  #load(ownerNumber: number): CachedOwner | null {
    if (this.#loading.has(ownerNumber)) return null
    const { documents, terms } = readOwnerSize(this.#database, ownerNumber)
    if (documents > this.#ownerRowsMax || terms > OWNER_TERMS_MAX) {
      this.#tooLarge.add(ownerNumber)
      return null
    }
    const owner = new CachedOwner(this.#database, ownerNumber)
    if (documents > this.#immediateRowsMax) {
      this.#loadLater(ownerNumber, owner)
      return null
    }
    while (owner.loadNextPage()) {
      /* at most a few pages */
    }
    return owner
  }

  #loadLater(ownerNumber: number, owner: CachedOwner): void {
    this.#loading.set(ownerNumber, owner)
    const loadNext = () => {
      this.#timers.delete(timer)
      this.#database.invalidateIfChanged()
      if (this.#loading.get(ownerNumber) !== owner) return
      if (owner.loadNextPage()) {
        timer = this.#schedule(loadNext, 0)
        return
      }
      this.#loading.delete(ownerNumber)
      this.#owners.set(ownerNumber, owner)
    }
    let timer = this.#schedule(
      loadNext,
      this.#hasRemoteWriters ? DELAY_AFTER_REMOTE_WRITE_MS : this.#delayMs,
    )
  }

  #schedule(work: () => void, afterMs: number): NodeJS.Timeout {
    const timer = setTimeout(work, afterMs).unref()
    this.#timers.add(timer)
    return timer
  }

  /** Whether an owner is worth caching. Evicts others to make room. */
  #fits(owner: CachedOwner): boolean {
    if (owner.isFragmented || owner.size > this.#ownerRowsMax || owner.terms > OWNER_TERMS_MAX) {
      return false
    }
    let [rows, terms] = [owner.size, owner.terms]
    for (const other of this.#owners.values()) {
      rows += other.size
      terms += other.terms
    }
    for (const [number, oldest] of this.#owners) {
      if (rows <= ROWS_MAX && terms <= TERMS_MAX) break
      this.#owners.delete(number)
      rows -= oldest.size
      terms -= oldest.terms
    }
    return true
  }
}
