/**
 * Owners whose memories are at hand, see `resident-owner.ts`: those that were asked about lately, as far as there is room.
 *
 * What was written here is read again before anything is told about it, and all is given up when another process has
 * written anything: SQLite tells that at each look. So an answer never says what is no longer so. A few memories are read
 * at once; many are read a page at a time while statements still answer, because somebody else may need the thread.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import { readOwnerSize } from '../search/lexical-search.ts'
import { CachedOwner, type UsageCount } from './cached-owner.ts'

export type OwnerCacheOptions = {
  /** An owner with more memories is never at hand. 0: none is. */
  readonly ownerRowsMax?: number
  /** So many are read at once. */
  readonly rowsPerPage?: number
  /** How long after somebody has asked the reading of more begins: a command is over before that. */
  readonly delayMs?: number
}

export const CACHED_OWNER_ROWS_MAX = 60_000
const OWNER_TERMS_MAX = 2_000_000
const ROWS_AT_ONCE = 300
const DELAY_MS = 250
/** Where another process writes, it likely goes on to, and what was read is soon given up again. */
const DELAY_AFTER_OTHERS_MS = 5_000
/** Of all together; what nobody has asked about for longest goes first. */
const ROWS_MAX = 80_000
const TERMS_MAX = 4_000_000
/** More than that are not read again at once, which would hold the thread: the owner is read anew, a page at a time. */
const OUTDATED_MAX = 1_000
/** While an owner is being read, more is read again: writes must not start that over again and again. */
const OUTDATED_WHILE_READ_MAX = 5_000

export class OwnerCache {
  readonly #database: SqliteDatabase
  readonly #ownerRowsMax: number
  readonly #rowsAtOnce: number
  readonly #delayMs: number
  /** Least recently asked first. */
  readonly #owners = new Map<number, CachedOwner>()
  readonly #tooLarge = new Set<number>()
  /** Those that are being read, or will be. */
  readonly #coming = new Map<number, CachedOwner>()
  #timers = new Set<NodeJS.Timeout>()
  #hasOthers = false

  constructor(database: SqliteDatabase, options: OwnerCacheOptions = {}) {
    this.#database = database
    this.#ownerRowsMax = options.ownerRowsMax ?? CACHED_OWNER_ROWS_MAX
    this.#rowsAtOnce = options.rowsPerPage ?? ROWS_AT_ONCE
    this.#delayMs = options.delayMs ?? DELAY_MS
  }

  get isDisabled(): boolean {
    return this.#ownerRowsMax === 0
  }

  /** Null when the owner is not at hand. To be asked again after each `await`. */
  get(ownerNumber: number | null): CachedOwner | null {
    // One that has got smaller since then is still found by statements.
    if (ownerNumber === null || this.isDisabled || this.#tooLarge.has(ownerNumber)) return null
    this.#database.invalidateIfChanged()
    const owner = this.#owners.get(ownerNumber) ?? this.#read(ownerNumber)
    if (owner === null) return null
    this.#owners.delete(ownerNumber)
    owner.refresh()
    if (!this.#fits(owner)) return null
    this.#owners.set(ownerNumber, owner)
    return owner
  }

  /** A memory of the owner, or its vector, is about to be written. */
  markStale(ownerNumber: number | null, id: MemoryId): void {
    if (ownerNumber === null) return
    for (const owners of [this.#owners, this.#coming]) {
      const owner = owners.get(ownerNumber)
      if (owner === undefined) continue
      owner.markStale(id)
      const most = owners === this.#coming ? OUTDATED_WHILE_READ_MAX : OUTDATED_MAX
      if (owner.staleCount > most) owners.delete(ownerNumber)
    }
  }

  /** A memory was of use, which is written already. */
  recordUse(ownerNumber: number | null, use: UsageCount): void {
    if (ownerNumber === null) return
    this.#owners.get(ownerNumber)?.recordUse(use)
    this.#coming.get(ownerNumber)?.markStale(use.id) // it may be read yet, or not
  }

  /** Another process has written something. */
  invalidate(): void {
    this.#hasOthers ||= this.#owners.size + this.#coming.size > 0
    this.clear()
  }

  clear(): void {
    this.#owners.clear()
    this.#tooLarge.clear()
    this.#coming.clear()
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  #read(ownerNumber: number): CachedOwner | null {
    if (this.#coming.has(ownerNumber)) return null
    const { documents, terms } = readOwnerSize(this.#database, ownerNumber)
    if (documents > this.#ownerRowsMax || terms > OWNER_TERMS_MAX) {
      this.#tooLarge.add(ownerNumber)
      return null
    }
    const owner = new CachedOwner(this.#database, ownerNumber)
    if (documents > this.#rowsAtOnce) {
      this.#readLater(ownerNumber, owner)
      return null
    }
    while (owner.loadNextPage()) {
      /* a few pages at most */
    }
    return owner
  }

  #readLater(ownerNumber: number, owner: CachedOwner): void {
    this.#coming.set(ownerNumber, owner)
    const readOn = () => {
      this.#timers.delete(timer)
      this.#database.invalidateIfChanged()
      if (this.#coming.get(ownerNumber) !== owner) return
      if (owner.loadNextPage()) {
        timer = this.#soon(readOn, 0)
        return
      }
      this.#coming.delete(ownerNumber)
      this.#owners.set(ownerNumber, owner)
    }
    let timer = this.#soon(readOn, this.#hasOthers ? DELAY_AFTER_OTHERS_MS : this.#delayMs)
  }

  #soon(work: () => void, afterMs: number): NodeJS.Timeout {
    const timer = setTimeout(work, afterMs).unref()
    this.#timers.add(timer)
    return timer
  }

  /** Whether it is still worth having at hand; others make room for it. */
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
