/**
 * A mark that a commit leaves of itself, for the one case that nothing else can tell: its answer was lost. The number of a
 * transaction is not enough, since a server that crashes may lose it and give it to another one.
 */
import { randomUUID } from 'node:crypto'
import type { PostgresDatabase, SqlStatement } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'

export interface CommitMarkers {
  create(): CommitMarker
  /** Whether the commit that was to leave this mark has. Only right once that one is over. */
  has(id: string): Promise<boolean>
  /** Removes those that nobody can be asking about any more. Happens by itself, too. */
  removeExpired(): Promise<void>
}

export type CommitMarker = { readonly id: string; readonly statement: SqlStatement }

/** A doubt is cleared up within half a minute, or given up. */
const KEPT_MINUTES = 60
/** How often old ones are removed, in commits; the first time soon after a start, since many processes live shortly. */
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
        void trim().catch(() => {}) // the next time does it
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
