/** An open database with its prepared statements and the numbers of the places it has looked up. */
import type { Place, Scope } from '../../../domain/scope.ts'
import { sleep } from '../../../lib/abort.ts'
import { AppError } from '../../../lib/errors.ts'
import { toStorable } from '../../../text/storable-text.ts'
import { type StoredPlace, toStoredPlace } from '../store/row-codec.ts'
import {
  type SqliteConnection,
  type SqliteStatement,
  type SqlRow,
  type SqlValue,
  toNamedRows,
} from './sqlite-driver.ts'

/** Enough for every statement: filters combine into a few hundred at most. */
const STATEMENTS_MAX = 500

/** SQLite itself waits this long for other writers: most are done by then, and a timer would take longer. */
const BLOCKING_WAIT_MS_MAX = 5
const RETRY_MS_MIN = 2
const RETRY_MS_MAX = 50

/** Columns by the names they get, and the statement from `FROM` on. */
export type ColumnSelection = {
  readonly columns: Readonly<Record<string, string>>
  readonly from: string
}

/** A cache of rows, which another process may change. */
export type DatabaseCache = { invalidate(): void }

export class SqliteDatabase {
  readonly connection: SqliteConnection
  readonly #statements = new Map<string, SqliteStatement>()
  readonly #places = new Map<string, StoredPlace>()
  readonly #ownerNumbers = new Map<string, number>()
  readonly #caches: DatabaseCache[] = []
  #busyTimeoutMs = 0
  #dataVersion = Number.NaN

  constructor(connection: SqliteConnection) {
    this.connection = connection
  }

  registerCache(cache: DatabaseCache): void {
    this.#caches.push(cache)
  }

  /** Invalidates the caches when another process has written anything. Call it after each `await`. */
  invalidateIfChanged(): void {
    const [row] = this.all('PRAGMA data_version')
    if (row?.data_version === this.#dataVersion) return
    const isFirst = Number.isNaN(this.#dataVersion)
    this.#dataVersion = Number(row?.data_version)
    if (isFirst) return
    this.clearPlaces()
    for (const cache of this.#caches) cache.invalidate()
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.#prepared(sql).all(...values)
  }

  /**
   * Reads rows as one JSON text, which takes less than half the time for many rows of many columns. Only for columns of
   * text and integers: others lose their type, or digits.
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

  /** Runs `work` in a transaction, which is rolled back when `work` throws or calls `rollback`. */
  runInTransaction<Result>(work: (rollback: () => void) => Result): Result {
    this.connection.exec('BEGIN IMMEDIATE')
    let isCommitted = true
    try {
      const result = work(() => {
        isCommitted = false
      })
      this.connection.exec(isCommitted ? 'COMMIT' : 'ROLLBACK')
      if (!isCommitted) this.clearPlaces()
      return result
    } catch (error) {
      this.clearPlaces()
      this.#rollBack()
      throw error
    }
  }

  /**
   * Writes as soon as no other process does. SQLite's own busy timeout blocks the thread, and with it every request; so
   * SQLite waits for a few milliseconds only, and the rest of the wait is asynchronous.
   */
  async withBusyRetry<Result>(write: () => Result): Promise<Result> {
    const deadline = performance.now() + this.#busyTimeoutMs
    for (let pause = RETRY_MS_MIN; ; pause = Math.min(pause * 2, RETRY_MS_MAX)) {
      try {
        return write()
      } catch (error) {
        const isBusy = error instanceof AppError && error.code === 'busy'
        if (!isBusy || performance.now() >= deadline) throw error
      }
      await sleep(pause)
    }
  }

  /** Called once the database is open: until then, blocking the thread holds nobody up. */
  enableAsyncBusyWait(busyTimeoutMs: number): void {
    this.#busyTimeoutMs = busyTimeoutMs
    this.connection.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, BLOCKING_WAIT_MS_MAX)}`)
  }

  /** SQLite may have rolled back already, as it does when the disk is full; the first error is the one to report. */
  #rollBack(): void {
    try {
      this.connection.exec('ROLLBACK')
    } catch {
      /* no transaction is open */
    }
  }

  /** The numbers of a place, assigned on its first write. */
  resolvePlace(place: Place): StoredPlace {
    const name = toPlaceKey(place)
    const known = this.#places.get(name)
    const owner = toStorable(place.owner)
    const user = toStorable(place.user ?? '')
    // Another process may have erased the place since its number was cached.
    if (known !== undefined && this.#hasPlace(known.number, owner, user)) return known
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
    this.#places.set(name, home)
    return home
  }

  #hasPlace(number: number, owner: string, user: string): boolean {
    const sql = 'SELECT 1 FROM place WHERE number = ? AND owner = ? AND user = ?'
    return this.all(sql, [number, owner, user]).length > 0
  }

  /** The number of an owner; null when nothing was ever written for it. */
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

  /** The number of a user of an owner; null when nothing was ever written for it. */
  findPlaceNumber(scope: Scope): number | null {
    const known = this.#places.get(toPlaceKey(scope))
    if (known !== undefined) return known.number
    const [row] = this.all('SELECT number, owner_number FROM place WHERE owner = ? AND user = ?', [
      toStorable(scope.owner),
      toStorable(scope.user ?? ''),
    ])
    if (row === undefined) return null
    const home = toStoredPlace(Number(row.number), Number(row.owner_number))
    this.#places.set(toPlaceKey(scope), home)
    return home.number
  }

  clearPlaces(): void {
    this.#places.clear()
    this.#ownerNumbers.clear()
  }
}

/** Names hold no control characters, so no two scopes share a key. */
function toPlaceKey({ owner, user }: Scope): string {
  return `${owner}\n${user ?? ''}`
}
