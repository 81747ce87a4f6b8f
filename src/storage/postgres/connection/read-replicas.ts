/**
 * Searches on read replicas, which follow the primary with some lag. A replica is used only while
 * it has every write of this process for the owner and lags behind other processes by no more than
 * the limit. On any failure, the primary answers. The WAL positions of primary and replicas are
 * polled once a second, not with every search.
 */
import { performance } from 'node:perf_hooks'
import type { OwnerId } from '../../../domain/ids.ts'
import { AppError } from '../../../lib/errors.ts'
import { SingleFlight } from '../../../lib/single-flight.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'
import type { PostgresDatabase } from './postgres-driver.ts'

export interface ReadReplicas {
  /** Runs a search that must see all writes of this process for the owner. */
  runSearch<T>(owner: OwnerId, work: (database: PostgresDatabase) => Promise<T>): Promise<T>
  /** Must be called on every commit, before its caller continues. */
  recordWrite(owners: Iterable<OwnerId>): void
  /** Polls all positions. Also runs automatically. */
  refreshPositions(): Promise<void>
  report(): Readonly<Record<string, string | number>>
  close(): Promise<void>
}

export type ReadReplicaOptions = {
  readonly primary: PostgresDatabase
  readonly names: SqlIdentifiers
  readonly replicas: readonly PostgresDatabase[]
  /** The most a replica may lag behind the writes of other processes. */
  readonly lagMsMax: number
  readonly pollIntervalMs?: number
}

const LOOK_EVERY_MS = 1_000
/** Owners whose last write is tracked. Beyond this, the position of all writes is required. */
const OWNERS_MAX = 10_000
const SAMPLES_MAX = 120

type PositionSample = { readonly at: number; readonly position: number }

type FollowerStatus = {
  readonly database: PostgresDatabase
  /** The replica's WAL position; null when it cannot be used. */
  position: number | null
  trouble: string | null
}

export function createReadReplicas(options: ReadReplicaOptions): ReadReplicas {
  const { primary } = options
  if (options.replicas.length === 0) {
    return {
      runSearch: (_, work) => work(primary),
      recordWrite: () => {},
      refreshPositions: async () => {},
      report: () => ({}),
      close: async () => {},
    }
  }
  return new LagAwareReplicas(options)
}

class LagAwareReplicas implements ReadReplicas {
  readonly #options: ReadReplicaOptions
  readonly #followers: readonly FollowerStatus[]
  /** Positions of the primary over time, oldest first. */
  readonly #samples: PositionSample[] = []
  /** The WAL position that an owner requires; null until it is known. */
  readonly #needed = new Map<OwnerId, number | null>()
  /** The same for untracked owners; how often the limit was exceeded. */
  #neededByAll = 0
  #overflows = 0
  #timer: NodeJS.Timeout | null = null
  /** Once at a time: a server that hangs must not be asked again and again. */
  readonly #refresh = new SingleFlight(() => this.#lookOnce())
  #turn = 0
  #searches = { replica: 0, primary: 0 }

  constructor(options: ReadReplicaOptions) {
    this.#options = options
    this.#followers = options.replicas.map((database) => ({
      database,
      position: null,
      trouble: 'not checked yet',
    }))
    this.#timer = setInterval(
      () => void this.refreshPositions(),
      options.pollIntervalMs ?? LOOK_EVERY_MS,
    )
    this.#timer.unref()
  }

  async runSearch<T>(owner: OwnerId, work: (database: PostgresDatabase) => Promise<T>): Promise<T> {
    const follower = this.#choose(owner)
    if (follower !== null) {
      try {
        const result = await work(follower.database)
        this.#searches.replica++
        return result
      } catch (thrown) {
        // An invalid call is invalid everywhere.
        if (thrown instanceof AppError && thrown.code === 'invalid_input') throw thrown
        this.#fail(follower, thrown)
      }
    }
    this.#searches.primary++
    return work(this.#options.primary)
  }

  recordWrite(owners: Iterable<OwnerId>): void {
    for (const owner of owners) {
      if (this.#needed.size >= OWNERS_MAX && !this.#needed.has(owner)) this.#forgetOwners()
      this.#needed.set(owner, null)
    }
  }

  refreshPositions(): Promise<void> {
    return this.#refresh.run()
  }

  report(): Readonly<Record<string, string | number>> {
    const usable = this.#followers.filter((follower) => this.#isUsable(follower)).length
    const trouble = this.#followers.find((follower) => follower.trouble !== null)?.trouble
    return {
      readReplicas: this.#followers.length,
      readReplicasUsable: usable,
      searchesByReplica: this.#searches.replica,
      searchesByPrimary: this.#searches.primary,
      ...(trouble == null ? {} : { readReplicaError: trouble }),
    }
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#refresh.running
    await Promise.all(this.#followers.map(({ database }) => database.close()))
  }

  /** Round robin over the replicas that are far enough. */
  #choose(owner: OwnerId): FollowerStatus | null {
    const needed = this.#needed.has(owner) ? this.#needed.get(owner) : this.#neededByAll
    if (needed == null) return null
    const fit = this.#followers.filter(
      (follower) => this.#isUsable(follower) && (follower.position ?? 0) >= needed,
    )
    return fit[this.#turn++ % Math.max(1, fit.length)] ?? null
  }

  /**
   * The replica has reached a recent position of the primary. While the primary is unreachable,
   * there is nothing newer to lag behind.
   */
  #isUsable({ position }: FollowerStatus): boolean {
    if (position === null) return false
    const next = this.#samples.find((sample) => sample.position > position)
    return next === undefined || performance.now() - next.at <= this.#options.lagMsMax
  }

  async #lookOnce(): Promise<void> {
    await Promise.all([
      this.#sample().catch(() => {}), // searches continue with the known positions
      ...this.#followers.map((follower) => this.#ask(follower)),
    ])
    this.#forgetReached()
  }

  async #sample(): Promise<void> {
    // Recorded before the query: concurrent writes may advance the position.
    const written = [...this.#needed].filter(([, position]) => position === null)
    const at = performance.now()
    const overflows = this.#overflows
    for (const [owner] of written) this.#needed.set(owner, Number.POSITIVE_INFINITY)
    try {
      const position = await readLogPosition(this.#options.primary, 'pg_current_wal_insert_lsn()')
      for (const [owner] of written) {
        if (this.#needed.get(owner) === Number.POSITIVE_INFINITY) this.#needed.set(owner, position)
      }
      if (overflows === this.#overflows && this.#neededByAll > position)
        this.#neededByAll = position
      this.#samples.push({ at, position })
      if (this.#samples.length > SAMPLES_MAX) this.#samples.shift()
    } catch (thrown) {
      for (const [owner] of written) {
        if (this.#needed.get(owner) === Number.POSITIVE_INFINITY) this.#needed.set(owner, null)
      }
      throw thrown
    }
  }

  async #ask(follower: FollowerStatus): Promise<void> {
    const { names, primary } = this.#options
    try {
      if (follower.trouble !== null) await assertSameDatabase(primary, follower.database, names)
      follower.position = await readLogPosition(follower.database, 'pg_last_wal_replay_lsn()')
      follower.trouble = null
    } catch (thrown) {
      this.#fail(follower, thrown)
    }
  }

  #fail(follower: FollowerStatus, thrown: unknown): void {
    follower.position = null
    follower.trouble = thrown instanceof Error ? thrown.message : String(thrown)
  }

  /** A position that all replicas have reached needs no tracking. */
  #forgetReached(): void {
    const reached = Math.min(...this.#followers.map(({ position }) => position ?? 0))
    for (const [owner, needed] of this.#needed) {
      if (needed !== null && needed <= reached) this.#needed.delete(owner)
    }
  }

  /** No replica is used until the next poll, and then only one that has all writes up to now. */
  #forgetOwners(): void {
    this.#needed.clear()
    this.#neededByAll = Number.POSITIVE_INFINITY
    this.#overflows++
  }
}

/** Bytes from the start of the WAL. */
async function readLogPosition({ query }: PostgresDatabase, where: string): Promise<number> {
  const [row] = await query<{ position: number | null }>(
    `SELECT (${where} - '0/0'::pg_lsn)::bigint AS position`,
  )
  if (row?.position == null) throw new AppError('unavailable', 'The server is not a replica.')
  return row.position
}

/** A replica of this very database: both have the same system identifier. */
async function assertSameDatabase(
  primary: PostgresDatabase,
  replica: PostgresDatabase,
  names: SqlIdentifiers,
): Promise<void> {
  const born = async ({ query }: PostgresDatabase) => {
    const [row] = await query<{ born: string }>(
      `SELECT min(applied_at)::text AS born FROM ${names.migration}`,
    )
    return row?.born
  }
  if ((await born(primary)) === (await born(replica))) return
  throw new AppError('unavailable', 'The server is a replica of another database.')
}
