/**
 * HNSW indexes over the vectors of large owners, built in the background. Comparing a few thousand
 * vectors is fast and exact, and an index slows down every write, so only large owners get one.
 * Results never depend on an index: until it is ready, and when it cannot be built, all vectors are
 * compared.
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
  /**
   * Starts an index build when the owner has many documents of the kind. Neither waits nor fails.
   */
  buildIfDue(storedSpace: StoredSpace, subject: IndexTarget): Promise<void>
  /** Removes the indexes of a space. */
  drop(spaceNumber: number): Promise<void>
  report(): Readonly<Record<string, string | number>>
}

/** For servers where vectors are always compared exactly. */
export const NO_ANN_INDEXES: AnnIndexes = {
  buildIfDue: async () => {},
  drop: async () => {},
  report: () => ({}),
}

/** Exponential backoff: a build takes long, and the cause of a failure may persist. */
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

  /** Builds run one after the other; a build that finds another one in progress does nothing. */
  function build(storedSpace: StoredSpace, subject: IndexTarget): void {
    building.add(buildIndexName(form, storedSpace, subject))
    void mutex.run(() => attempt(storedSpace, subject))
  }

  async function attempt(storedSpace: StoredSpace, subject: IndexTarget): Promise<void> {
    const name = buildIndexName(form, storedSpace, subject)
    try {
      await buildIndex(tables, storedSpace, subject)
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
    async buildIfDue(storedSpace, subject) {
      const name = buildIndexName(form, storedSpace, subject)
      const isPaused = now() < (failed.get(name)?.nextTryAt ?? 0)
      if (!isIndexable(form, storedSpace) || building.has(name) || isPaused) return
      const isDue = await needsIndex(tables, storedSpace, subject, scannedMax).catch(() => false)
      // Checked again, since another call may have started meanwhile.
      if (isDue && !building.has(name)) build(storedSpace, subject)
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
      const failureReport = failure === undefined ? {} : { indexBuildError: failure.because }
      return { indexBuildsRunning: building.size, ...failureReport }
    },
  }
}

/** Stops counting at the threshold. */
async function needsIndex(
  { runnerFor: of, names, format: form }: VectorStorage<PgvectorFormat>,
  storedSpace: StoredSpace,
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
      qualifyName(names.schema, buildIndexName(form, storedSpace, subject)),
      storedSpace.number,
      hashOwner(subject.owner),
      scannedMax,
    ],
  )
  return row?.due === true
}

async function buildIndex(
  tables: VectorStorage<PgvectorFormat>,
  storedSpace: StoredSpace,
  subject: IndexTarget,
): Promise<void> {
  const { database, names, format: form } = tables
  const name = buildIndexName(form, storedSpace, subject)
  await database.runOnOwnConnection(async (query) => {
    // While another process builds an index, a later put retries.
    const [lock] = await query<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock(${toIndexLock(names)}) AS taken`,
    )
    if (lock?.taken !== true) return
    const [index] = await query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [qualifyName(names.schema, name)],
    )
    if (index?.valid === true) return
    // An interrupted build leaves an invalid index, which is maintained but never used.
    if (index !== undefined) await query(dropStatement(tables, name))
    await query(createIndexSql(tables, storedSpace, subject))
    for (const former of listObsoleteIndexNames(form, storedSpace, subject)) {
      await query(dropStatement(tables, former))
    }
    // The planner decides whether to use the index and needs current row counts.
    for (const table of [names.embedding, names.memory]) await query(`ANALYZE ${table}`)
  })
}

/** CONCURRENTLY does not block readers and writers. */
function dropStatement({ names }: VectorStorage, name: string): string {
  return `DROP INDEX CONCURRENTLY IF EXISTS ${qualifyName(names.schema, name)}`
}

function qualifyName(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`
}
