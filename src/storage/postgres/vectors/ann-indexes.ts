/**
 * HNSW indexes over the vectors of large owners, built in the background. Comparing a few thousand
 * vectors is fast and exact, and an index slows down every write, so only large owners get one.
 * Results never depend on an index: until it is ready, and when it cannot be built, all vectors are
 * compared.
 */

import { setTimeout as delay } from 'node:timers/promises'
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
   * Starts an index build when the owner has many documents of the kind, after `written` more were put. Neither waits for
   * it nor fails.
   */
  buildIfDue(storedSpace: StoredSpace, subject: IndexTarget, written: number): Promise<void>
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

/**
 * An index slows each write down several times, so a build waits for a pause between writes, and for an import that goes on
 * without one at most this long.
 */
const WRITE_PAUSE_MS = 2_000
const DEFERRAL_MS_MAX = 5 * MINUTE_MS

/** How long a count of an owner's vectors is trusted. Other processes write as well. */
const COUNT_TTL_MS = MINUTE_MS

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
  {
    now = () => performance.now(),
    writePauseMs = WRITE_PAUSE_MS,
  }: { readonly now?: () => number; readonly writePauseMs?: number } = {},
): AnnIndexes {
  const { format: form } = tables
  const building = new Set<string>()
  const failed = new Map<string, BuildFailure>()
  const mutex = new Mutex()
  const writtenAt = new Map<string, number>()
  /** Until when, and for how many more documents, an owner needs no index. */
  const sufficient = new Map<string, { documents: number; readonly until: number }>()

  /** Builds run one after the other; a build that finds another one in progress does nothing. */
  function build(storedSpace: StoredSpace, subject: IndexTarget): void {
    const name = buildIndexName(form, storedSpace, subject)
    building.add(name)
    void waitForPause(name).then(() => mutex.run(() => attempt(storedSpace, subject)))
  }

  async function waitForPause(name: string): Promise<void> {
    const latest = now() + DEFERRAL_MS_MAX
    for (;;) {
      const waitMs = Math.min(latest, (writtenAt.get(name) ?? 0) + writePauseMs) - now()
      if (waitMs <= 0) return
      await delay(waitMs, undefined, { ref: false })
    }
  }

  /** Whether an index is missing. Counting is skipped while so few were written that the last count still decides. */
  async function isDue(
    name: string,
    storedSpace: StoredSpace,
    subject: IndexTarget,
    written: number,
  ): Promise<boolean> {
    const known = sufficient.get(name)
    if (known !== undefined && now() < known.until) {
      known.documents -= written
      if (known.documents >= 0) return false
    }
    const missing = await countMissing(tables, storedSpace, subject, scannedMax)
    if (missing === null) return false
    if (missing <= 0) return true
    sufficient.set(name, { documents: missing - 1, until: now() + COUNT_TTL_MS })
    return false
  }

  async function attempt(storedSpace: StoredSpace, subject: IndexTarget): Promise<void> {
    const name = buildIndexName(form, storedSpace, subject)
    try {
      await buildIndex(tables, storedSpace, subject)
      failed.delete(name)
      sufficient.delete(name)
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
    async buildIfDue(storedSpace, subject, written) {
      const name = buildIndexName(form, storedSpace, subject)
      writtenAt.set(name, now())
      const isPaused = now() < (failed.get(name)?.nextTryAt ?? 0)
      if (!isIndexable(form, storedSpace) || building.has(name) || isPaused) return
      const isMissing = await isDue(name, storedSpace, subject, written).catch(() => false)
      // Checked again, since another call may have started meanwhile.
      if (isMissing && !building.has(name)) build(storedSpace, subject)
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

/** How many more documents the owner needs until an index is due; null where there is one. Stops counting there. */
async function countMissing(
  { runnerFor: of, names, format: form }: VectorStorage<PgvectorFormat>,
  storedSpace: StoredSpace,
  subject: IndexTarget,
  scannedMax: number,
): Promise<number | null> {
  const [row] = await of([subject.owner]).query<{ missing: string | null }>(
    `SELECT CASE WHEN (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1))
       THEN NULL ELSE $4 + 1 - (SELECT count(*) FROM (
         SELECT 1 FROM ${names.embedding} WHERE space = $2 AND owner_hash = $3
           AND ${NUMBER_CONDITION_BY_KIND[subject.kind]} LIMIT $4 + 1
       ) AS held) END AS missing`,
    [
      qualifyName(names.schema, buildIndexName(form, storedSpace, subject)),
      storedSpace.number,
      hashOwner(subject.owner),
      scannedMax,
    ],
  )
  return row?.missing == null ? null : Number(row.missing)
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
