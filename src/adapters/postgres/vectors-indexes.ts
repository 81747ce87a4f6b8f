/**
 * Indexes over the vectors of large owners, built while everything else goes on.
 *
 * Comparing a few thousand vectors one by one is fast and exact, and an index costs every write, so an owner gets one
 * only when there are many. An index is never needed for a right answer: until it is ready, and when it can't be
 * built, all vectors are compared.
 */
import type { OwnerId } from '../../core/ids.ts'
import { indexLock, ownerHash, quoted } from './names.ts'
import {
  canBeIndexed,
  INDEX_PREFIX,
  indexName,
  indexStatement,
  type KeptSpace,
  type VectorTables,
} from './vectors-spaces.ts'

export type VectorIndexes = {
  /** Begins to build an index when the owner has become large. Neither waits for it nor ever fails. */
  grown(kept: KeptSpace, owner: OwnerId): Promise<void>
  /** Removes the indexes of a space. */
  drop(spaceNumber: number): Promise<void>
  report(): Readonly<Record<string, string | number>>
}

export function createVectorIndexes(tables: VectorTables, scannedMax: number): VectorIndexes {
  const building = new Set<string>()
  /** Not tried again by this process: whatever went wrong would most likely go wrong again, and take long. */
  const failed = new Map<string, string>()

  async function build(kept: KeptSpace, owner: OwnerId): Promise<void> {
    const name = indexName(kept, owner)
    building.add(name)
    try {
      await buildIndex(tables, kept, owner)
    } catch (thrown) {
      failed.set(name, thrown instanceof Error ? thrown.message : String(thrown))
    } finally {
      building.delete(name)
    }
  }

  return {
    async grown(kept, owner) {
      const name = indexName(kept, owner)
      if (!canBeIndexed(kept) || building.has(name) || failed.has(name)) return
      const isDue = await lacksIndex(tables, kept, owner, scannedMax).catch(() => false)
      // Asked again, since another call may have begun meanwhile.
      if (isDue && !building.has(name)) void build(kept, owner)
    },

    async drop(spaceNumber) {
      const { database, names } = tables
      const indexes = await database.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class
         WHERE relnamespace = to_regnamespace($1) AND starts_with(relname, $2)`,
        [quoted(names.schema), `${INDEX_PREFIX}${spaceNumber}_`],
      )
      if (indexes.length === 0) return
      await database.separately(async (query) => {
        await query(`SELECT pg_advisory_lock(${indexLock(names)})`)
        for (const { name } of indexes) await query(dropStatement(tables, name))
      })
    },

    report() {
      const [failure] = failed.values()
      return { indexesBeingBuilt: building.size, ...(failure === undefined ? {} : { failure }) }
    },
  }
}

/** Counts no further than it must. */
async function lacksIndex(
  { database, names }: VectorTables,
  kept: KeptSpace,
  owner: OwnerId,
  scannedMax: number,
): Promise<boolean> {
  const [row] = await database.query<{ due: boolean }>(
    `SELECT CASE WHEN (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1))
       THEN false ELSE (SELECT count(*) > $4 FROM (
         SELECT 1 FROM ${names.embedding} WHERE space = $2 AND owner_hash = $3 LIMIT $4 + 1
       ) AS held) END AS due`,
    [qualified(names.schema, indexName(kept, owner)), kept.number, ownerHash(owner), scannedMax],
  )
  return row?.due === true
}

async function buildIndex(tables: VectorTables, kept: KeptSpace, owner: OwnerId): Promise<void> {
  const { database, names } = tables
  const name = indexName(kept, owner)
  await database.separately(async (query) => {
    // When another process is building one, this one's turn comes with a later put.
    const [lock] = await query<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock(${indexLock(names)}) AS taken`,
    )
    if (lock?.taken !== true) return
    const [index] = await query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [qualified(names.schema, name)],
    )
    if (index?.valid === true) return
    // A build that was interrupted leaves an index that is kept up to date and never used.
    if (index !== undefined) await query(dropStatement(tables, name))
    await query(indexStatement(tables, kept, owner))
    // Whether to go through the index is PostgreSQL's decision, and it should know how many there are.
    for (const table of [names.embedding, names.memory]) await query(`ANALYZE ${table}`)
  })
}

/** Readers and writers go on meanwhile. */
function dropStatement({ names }: VectorTables, name: string): string {
  return `DROP INDEX CONCURRENTLY IF EXISTS ${qualified(names.schema, name)}`
}

function qualified(schema: string, name: string): string {
  return `${quoted(schema)}.${quoted(name)}`
}
