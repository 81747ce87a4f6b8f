/**
 * One open database with its prepared statements and the numbers of places it has looked up.
 */

import type { Place, Scope } from '../../../domain/scope.ts'
import { sleep } from '../../../lib/abort.ts'
import { AppError } from '../../../lib/errors.ts'
import { toStorable } from '../../../text/storable-text.ts'
import { DocumentCache } from '../cache/document-cache.ts'
import { OwnerCache, type OwnerCacheOptions } from '../cache/owner-cache.ts'
import { type StoredPlace, toStoredPlace } from '../store/row-codec.ts'
import {
  type SqliteConnection,
  type SqliteStatement,
  type SqlRow,
  type SqlValue,
  toNamedRows,
} from './sqlite-driver.ts'

/** Enough for every statement we have; filters combine into a few hundred at the very most. */
const STATEMENTS_MAX = 500

/** Most other writers are done after a moment, which is not worth a timer. */
const HELD_MS_MAX = 5
const PAUSE_MS_MIN = 2
const PAUSE_MS_MAX = 50

/** What to read, by the names it gets, and all that follows the columns in a statement. */
export type ColumnSelection = {
  readonly columns: Readonly<Record<string, string>>
  readonly from: string
}

export class SqliteDatabase {
  readonly connection: SqliteConnection
  readonly #statements = new Map<string, SqliteStatement>()
  readonly #homes = new Map<string, StoredPlace>()
  readonly #ownerNumbers = new Map<string, number>()
  #busyTimeoutMs = 0
  /** Owners whose memories are at hand. Whoever writes memories or vectors tells it. */
  readonly ownerCache: OwnerCache
  /** Memories that were read by their ids. Likewise. */
  readonly documentCache = new DocumentCache(this)
  #dataVersion = Number.NaN

  constructor(connection: SqliteConnection, resident?: OwnerCacheOptions) {
    this.connection = connection
    this.ownerCache = new OwnerCache(this, resident)
  }

  /** Gives up all that is at hand when another process has written anything. To be asked after each `await`. */
  invalidateIfChanged(): void {
    const [row] = this.all('PRAGMA data_version')
    if (row?.data_version === this.#dataVersion) return
    const isFirst = Number.isNaN(this.#dataVersion)
    this.#dataVersion = Number(row?.data_version)
    if (isFirst) return
    this.ownerCache.invalidate()
    this.documentCache.clear()
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.#prepared(sql).all(...values)
  }

  /**
   * The same rows, handed over by SQLite as one text: with many rows of many columns that takes less than half the time.
   * For columns of text and whole numbers; others lose their kind, or digits.
   */
  selectPacked(select: ColumnSelection, values: readonly SqlValue[] = []): readonly SqlRow[] {
    const names = Object.keys(select.columns)
    const columns = Object.entries(select.columns).map(([name, column]) => `${column} AS ${name}`)
    const [row] = this.all(
      `SELECT json_group_array(json_array(${names.join(', ')})) AS rows
       FROM (SELECT ${columns.join(', ')} ${select.from})`,
      values,
    )
    const rows: readonly (readonly SqlValue[])[] = JSON.parse(String(row?.rows))
    return toNamedRows(() => names)(rows)
  }

  run(sql: string, values: readonly SqlValue[] = []) {
    return this.#prepared(sql).run(...values)
  }

  #prepared(sql: string): SqliteStatement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear()
    const statement = this.connection.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Runs `work` as one transaction; it is undone when `work` throws or says so. */
  runInTransaction<Result>(work: (rollback: () => void) => Result): Result {
    this.connection.exec('BEGIN IMMEDIATE')
    let isKept = true
    try {
      const result = work(() => {
        isKept = false
      })
      this.connection.exec(isKept ? 'COMMIT' : 'ROLLBACK')
      if (!isKept) this.#forgetPlaces()
      return result
    } catch (error) {
      this.#forgetPlaces()
      this.#rollBack()
      throw error
    }
  }

  /**
   * Writes as soon as no other process does. SQLite's own way of waiting would hold up everything in this one, down to
   * requests that have nothing to do with it; so it is told to wait hardly at all, and this waits instead.
   */
  async withBusyRetry<Result>(write: () => Result): Promise<Result> {
    const until = performance.now() + this.#busyTimeoutMs
    for (let pause = PAUSE_MS_MIN; ; pause = Math.min(pause * 2, PAUSE_MS_MAX)) {
      try {
        return write()
      } catch (error) {
        const isBusy = error instanceof AppError && error.code === 'busy'
        if (!isBusy || performance.now() >= until) throw error
      }
      await sleep(pause)
    }
  }

  /** Once it is open: until then there is nobody to hold up. */
  enableAsyncBusyWait(busyTimeoutMs: number): void {
    this.#busyTimeoutMs = busyTimeoutMs
    this.connection.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, HELD_MS_MAX)}`)
  }

  /** SQLite may have rolled back by itself (a full disk does that); the first error is the one to show. */
  #rollBack(): void {
    try {
      this.connection.exec('ROLLBACK')
    } catch {
      /* no transaction is open any more */
    }
  }

  /** The numbers of a place, given to it when it is first written to. */
  resolvePlace(place: Place): StoredPlace {
    const name = nameOf(place)
    const known = this.#homes.get(name)
    if (known !== undefined) return known
    const owner = toStorable(place.owner)
    const user = toStorable(place.user ?? '')
    this.run(
      `INSERT INTO place (owner, user, owner_number)
       VALUES (?1, ?2, coalesce((SELECT owner_number FROM place WHERE owner = ?1 LIMIT 1),
                                (SELECT max(number) FROM place) + 1, 1))
       ON CONFLICT DO NOTHING`,
      [owner, user],
    )
    const [row] = this.all('SELECT number, owner_number FROM place WHERE owner = ? AND user = ?', [
      owner,
      user,
    ])
    const home = toStoredPlace(Number(row?.number), Number(row?.owner_number))
    this.#homes.set(name, home)
    return home
  }

  /** The number of an owner, or null when nothing was ever written for it. */
  findOwnerNumber(scope: Scope): number | null {
    const known = this.#ownerNumbers.get(scope.owner)
    if (known !== undefined) return known
    const [row] = this.all('SELECT owner_number FROM place WHERE owner = ? LIMIT 1', [
      toStorable(scope.owner),
    ])
    if (row === undefined) return null
    const number = Number(row.owner_number)
    this.#ownerNumbers.set(scope.owner, number)
    return number
  }

  /** The number of an owner's user, or null when nothing was ever written for it. */
  findPlaceNumber(scope: Scope): number | null {
    const known = this.#homes.get(nameOf(scope))
    if (known !== undefined) return known.number
    const [row] = this.all('SELECT number, owner_number FROM place WHERE owner = ? AND user = ?', [
      toStorable(scope.owner),
      toStorable(scope.user ?? ''),
    ])
    if (row === undefined) return null
    const home = toStoredPlace(Number(row.number), Number(row.owner_number))
    this.#homes.set(nameOf(scope), home)
    return home.number
  }

  #forgetPlaces(): void {
    this.#homes.clear()
    this.#ownerNumbers.clear()
  }
}

/** Names hold no control characters, so the two can't run into each other. */
function nameOf({ owner, user }: Scope): string {
  return `${owner}\n${user ?? ''}`
}
