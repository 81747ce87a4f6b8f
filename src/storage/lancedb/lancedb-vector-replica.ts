/**
 * Vector replica in LanceDB: a local folder with one table per space, shared by all owners, and
 * every filter inside the search. One process should write. When two do, the second of two
 * conflicting commits is retried automatically, so nothing is lost or duplicated, but both become
 * slow. A table that has disappeared is `unavailable` until `prepare` recreates it: otherwise a
 * nearly empty table would pass for a complete one.
 */
import { access, constants } from 'node:fs/promises'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { isZeroVector } from '../../lib/vector-math.ts'
import { fromStorable } from '../../text/storable-text.ts'
import { assertVectorFits, type VectorSpace } from '../vector-index.ts'
import type { VectorReplica } from '../vector-replica.ts'
import {
  isMissingTable,
  type LanceDatabase,
  type LanceTable,
  type LoadLanceModule,
  openLanceDatabase,
  toReplicaError,
} from './lancedb-driver.ts'
import { EXACT_ROWS_MAX, searchNearest } from './nearest-search.ts'
import {
  joinPredicates,
  toAfterPredicate,
  toExpiredPredicate,
  toIdsPredicate,
  toOwnerPredicate,
} from './point-rows.ts'
import type { SpaceTable } from './space-table.ts'
import type { TableMaintenanceOptions } from './table-maintenance.ts'
import { createTableRegistry, type TableRegistry } from './table-registry.ts'

export type LanceReplicaOptions = TableMaintenanceOptions & {
  /** Created when missing. */
  readonly folder: string
  readonly clock: Clock
  readonly load?: LoadLanceModule
  /** The most permitted points that are compared exactly. */
  readonly exactRowsMax?: number
}

const IDS_TOGETHER_MAX = 500

export async function openLanceVectorReplica(options: LanceReplicaOptions): Promise<VectorReplica> {
  const { clock, exactRowsMax = EXACT_ROWS_MAX } = options
  const database = await openLanceDatabase(options.folder, options.load)
  const spaces = createTableRegistry(database, options)
  let closing: Promise<void> | null = null

  /** Runs work on the folder and translates its errors. */
  async function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closing !== null) throw closed()
    try {
      return await work()
    } catch (thrown) {
      throw closing === null ? toReplicaError(thrown) : closed()
    }
  }

  /**
   * Old versions are removed while readers may still use them; a reader whose version is gone reads
   * the newest.
   */
  async function attemptReading<Result>(work: () => Promise<Result>): Promise<Result> {
    return attempt(async () => {
      try {
        return await work()
      } catch (thrown) {
        if (!isMissingTable(thrown)) throw thrown
        return await work()
      }
    })
  }

  return {
    name: 'lancedb',
    prepare: (space) =>
      attempt(async () => {
        assertVectorFits(space.dimensions, new Float32Array(space.dimensions))
        refuseOther(space, await spaces.makeSure(space))
      }),
    upsert: (space, points) =>
      attempt(async () => {
        for (const { vector } of points) assertVectorFits(space.dimensions, vector)
        if (points.length === 0) return
        const found = (await spaces.find(space)) ?? (await spaces.makeSure(space))
        refuseOther(space, found)
        await found.upsert(points)
      }),
    remove: (space, owner, ids) =>
      attempt(async () => {
        const found = await spaces.find(space)
        if (found === null || ids.length === 0) return
        await found.remove(
          groupsOf(ids).map((group) =>
            joinPredicates(toOwnerPredicate(owner), toIdsPredicate(group)),
          ),
        )
      }),
    search: (space, filter, query) =>
      attemptReading(async () => {
        assertVectorFits(space.dimensions, query.vector)
        if (query.limit < 1 || isZeroVector(query.vector) || filter.types?.length === 0) return []
        const found = await spaces.find(space)
        if (found === null) return []
        refuseOther(space, found)
        return searchNearest(found, filter, query, exactRowsMax)
      }),
    list: (space, page) =>
      attemptReading(async () => {
        const found = await spaces.find(space)
        return found === null || page.limit < 1 ? [] : listPoints(found.table, page)
      }),
    count: (space, owner) =>
      attemptReading(async () => {
        const found = await spaces.find(space)
        return (
          found?.table.countRows(owner === undefined ? undefined : toOwnerPredicate(owner)) ?? 0
        )
      }),
    removeExpired: (space, before) =>
      attempt(async () => {
        const found = await spaces.find(space)
        return found?.remove([toExpiredPredicate(before)]) ?? 0
      }),
    drop: (space) => attempt(() => spaces.drop(space)),
    async health() {
      const started = clock.now()
      const answer = (isReady: boolean, detail: string) => ({
        isReady,
        latencyMs: Math.max(0, clock.now() - started),
        detail,
      })
      try {
        return answer(true, await attempt(() => describe(database, spaces)))
      } catch (thrown) {
        return answer(false, toReplicaError(thrown).message)
      }
    },
    async close() {
      closing ??= spaces.close().finally(() => database.connection.close())
      await closing
    },
  }
}

function refuseOther(space: VectorSpace, { dimensions }: SpaceTable): void {
  if (dimensions === space.dimensions) return
  throw new AppError(
    'invalid_input',
    `The LanceDB table of this space holds vectors of ${dimensions} dimensions; expected ${space.dimensions}. Drop the table and rebuild it.`,
    { dimensions: space.dimensions, expected: dimensions },
  )
}

async function listPoints(
  table: LanceTable,
  page: { readonly owner?: OwnerId; readonly limit: number; readonly after?: MemoryId },
) {
  const predicate = joinPredicates(
    page.owner === undefined ? null : toOwnerPredicate(page.owner),
    page.after === undefined ? null : toAfterPredicate(page.after),
  )
  const query = table.query().select(['id', 'owner', 'text_hash'])
  const rows = await (predicate === '' ? query : query.where(predicate))
    .orderBy({ columnName: 'id', ascending: true })
    .limit(page.limit)
    .toArray()
  return rows.map((row) => ({
    id: String(row.id) as MemoryId, // as written
    owner: fromStorable(String(row.owner)) as OwnerId, // as written
    textHash: fromStorable(String(row.text_hash)),
  }))
}

async function describe(
  { connection, folder }: LanceDatabase,
  spaces: TableRegistry,
): Promise<string> {
  await access(folder, constants.W_OK)
  const { length } = await connection.tableNames()
  const tables = `LanceDB with ${length} ${length === 1 ? 'table' : 'tables'}`
  const [trouble] = spaces.troubles()
  return trouble === undefined ? `${tables}.` : `${tables}. Maintenance fails: ${trouble}`
}

function groupsOf(ids: readonly MemoryId[]): readonly (readonly MemoryId[])[] {
  const count = Math.ceil(ids.length / IDS_TOGETHER_MAX)
  return Array.from({ length: count }, (_, n) =>
    ids.slice(n * IDS_TOGETHER_MAX, (n + 1) * IDS_TOGETHER_MAX),
  )
}

function closed(): AppError {
  return new AppError('unavailable', 'The LanceDB replica is closed.')
}
