/**
 * Indexes over the vectors of large owners, built while everything else goes on.
 *
 * Comparing a few thousand vectors one by one is fast and exact, and an index costs every write, so an owner gets one
 * only when there are many. An index is never needed for a right answer: until it is ready, and when it can't be
 * built, all vectors are compared.
 */

import { Mutex } from '../../../lib/mutex.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { hashOwner, toIndexLock } from '../schema/identifiers.ts'
import { NUMBER_CONDITION_BY_KIND } from '../store/document-kinds.ts'
import type { PgvectorFormat } from './vector-format.ts'
import {
  buildIndexName,
  createIndexSql,
  INDEX_PREFIX,
  type IndexTarget,
  isIndexable,
  listObsoleteIndexNames,
  type StoredSpace,
  type VectorStorage,
} from './vector-spaces.ts'

export type AnnIndexes = {
  /** Begins to build an index when the owner has many documents of the kind. Neither waits for it nor ever fails. */
  buildIfDue(kept: StoredSpace, subject: IndexTarget): Promise<void>
  /** Removes the indexes of a space. */
  drop(spaceNumber: number): Promise<void>
  report(): Readonly<Record<string, string | number>>
}

/** Where vectors are compared one by one in any case. */
export const NO_ANN_INDEXES: AnnIndexes = {
  buildIfDue: async () => {},
  drop: async () => {},
  report: () => ({}),
}

/** A build takes long, and whatever went wrong may go wrong again: each time it is tried after twice as long. */
const PAUSE_MS_MIN = MINUTE_MS
const PAUSE_MS_MAX = 6 * HOUR_MS

type BuildFailure = {
  readonly because: string
  readonly pauseMs: number
  readonly nextTryAt: number
}

export function createAnnIndexes(
  tables: VectorStorage<PgvectorFormat>,
  scannedMax: number,
  now: () => number = () => performance.now(),
): AnnIndexes {
  const { format: form } = tables
  const building = new Set<string>()
  const failed = new Map<string, BuildFailure>()
  const mutex = new Mutex()

  /** After those that were begun before: only one is built at a time, and a build that meets another does nothing. */
  function build(kept: StoredSpace, subject: IndexTarget): void {
    building.add(buildIndexName(form, kept, subject))
    void mutex.run(() => attempt(kept, subject))
  }

  async function attempt(kept: StoredSpace, subject: IndexTarget): Promise<void> {
    const name = buildIndexName(form, kept, subject)
    try {
      await buildIndex(tables, kept, subject)
      failed.delete(name)
    } catch (thrown) {
      const because = thrown instanceof Error ? thrown.message : String(thrown)
      const before = failed.get(name)?.pauseMs ?? PAUSE_MS_MIN / 2
      const pauseMs = Math.min(PAUSE_MS_MAX, before * 2)
      failed.set(name, { because, pauseMs, nextTryAt: now() + pauseMs })
    } finally {
      building.delete(name)
    }
  }

  return {
    async buildIfDue(kept, subject) {
      const name = buildIndexName(form, kept, subject)
      const isPaused = now() < (failed.get(name)?.nextTryAt ?? 0)
      if (!isIndexable(form, kept) || building.has(name) || isPaused) return
      const isDue = await needsIndex(tables, kept, subject, scannedMax).catch(() => false)
      // Asked again, since another call may have begun meanwhile.
      if (isDue && !building.has(name)) build(kept, subject)
    },

    async drop(spaceNumber) {
      const { database, names } = tables
      const indexes = await database.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class
         WHERE relnamespace = to_regnamespace($1) AND starts_with(relname, $2)`,
        [quoteIdentifier(names.schema), `${INDEX_PREFIX}${spaceNumber}_`],
      )
      if (indexes.length === 0) return
      await database.runOnOwnConnection(async (query) => {
        await query(`SELECT pg_advisory_lock(${toIndexLock(names)})`)
        for (const { name } of indexes) await query(dropStatement(tables, name))
      })
    },

    report() {
      const [failure] = failed.values()
      const told = failure === undefined ? {} : { indexBuildError: failure.because }
      return { indexBuildsRunning: building.size, ...told }
    },
  }
}

/** Counts no further than it must. */
async function needsIndex(
  { runnerFor: of, names, format: form }: VectorStorage<PgvectorFormat>,
  kept: StoredSpace,
  subject: IndexTarget,
  scannedMax: number,
): Promise<boolean> {
  const [row] = await of([subject.owner]).query<{ due: boolean }>(
    `SELECT CASE WHEN (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1))
       THEN false ELSE (SELECT count(*) > $4 FROM (
         SELECT 1 FROM ${names.embedding} WHERE space = $2 AND owner_hash = $3
           AND ${NUMBER_CONDITION_BY_KIND[subject.kind]} LIMIT $4 + 1
       ) AS held) END AS due`,
    [
      qualifyName(names.schema, buildIndexName(form, kept, subject)),
      kept.number,
      hashOwner(subject.owner),
      scannedMax,
    ],
  )
  return row?.due === true
}

async function buildIndex(
  tables: VectorStorage<PgvectorFormat>,
  kept: StoredSpace,
  subject: IndexTarget,
): Promise<void> {
  const { database, names, format: form } = tables
  const name = buildIndexName(form, kept, subject)
  await database.runOnOwnConnection(async (query) => {
    // When another process is building one, this one's turn comes with a later put.
    const [lock] = await query<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock(${toIndexLock(names)}) AS taken`,
    )
    if (lock?.taken !== true) return
    const [index] = await query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [qualifyName(names.schema, name)],
    )
    if (index?.valid === true) return
    // A build that was interrupted leaves an index that is kept up to date and never used.
    if (index !== undefined) await query(dropStatement(tables, name))
    await query(createIndexSql(tables, kept, subject))
    for (const former of listObsoleteIndexNames(form, kept, subject)) {
      await query(dropStatement(tables, former))
    }
    // Whether to go through the index is PostgreSQL's decision, and it should know how many there are.
    for (const table of [names.embedding, names.memory]) await query(`ANALYZE ${table}`)
  })
}

/** Readers and writers go on meanwhile. */
function dropStatement({ names }: VectorStorage, name: string): string {
  return `DROP INDEX CONCURRENTLY IF EXISTS ${qualifyName(names.schema, name)}`
}

function qualifyName(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`
}
