/**
 * A marker row that each commit writes, so that its outcome can be determined when the response is
 * lost. The transaction id is not enough: a crashed server may lose it and assign it again.
 */
import { randomUUID } from 'node:crypto'
import type { PostgresDatabase, SqlStatement } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'

export interface CommitMarkers {
  create(): CommitMarker
  /** Whether the commit with this marker succeeded. Only valid once its transaction has ended. */
  has(id: string): Promise<boolean>
  /** Removes markers that no commit can still look up. Also runs automatically. */
  removeExpired(): Promise<void>
}

export type CommitMarker = { readonly id: string; readonly statement: SqlStatement }

/** An unknown outcome is resolved or given up within half a minute. */
const KEPT_MINUTES = 60
/**
 * Commits between cleanups; the first runs soon after the start, since many processes are
 * short-lived.
 */
const TRIM_EVERY = 1_000
const FIRST_TRIM = 50

export function createCommitMarkers(
  { query }: Pick<PostgresDatabase, 'query'>,
  names: SqlIdentifiers,
): CommitMarkers {
  let untilTrim = FIRST_TRIM
  const trim = async () => {
    await query(
      `DELETE FROM ${names.commit_mark} WHERE at < now() - interval '${KEPT_MINUTES} minutes'`,
    )
  }
  return {
    create() {
      if (--untilTrim === 0) {
        untilTrim = TRIM_EVERY
        void trim().catch(() => {}) // the next cleanup retries
      }
      const id = randomUUID()
      return { id, statement: [`INSERT INTO ${names.commit_mark} (id) VALUES ($1)`, [id]] }
    },
    async has(id) {
      const rows = await query(`SELECT 1 FROM ${names.commit_mark} WHERE id = $1`, [id])
      return rows.length > 0
    },
    removeExpired: trim,
  }
}
