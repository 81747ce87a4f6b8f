/** Brings entries of version 0.1 into their present form: renames kinds and fields, and moves jobs and signals out. */
import { quoteIdentifier } from '../../../lib/sql.ts'
import {
  LEGACY_ENTRY_KINDS,
  type LegacyEntry,
  type UpgradedEntry,
  upgradeEntry,
} from '../../entry-upgrade.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import { type EntryColumns, insertRowsSql, ROW_CODECS } from '../store/row-codec.ts'
import { type SqlIdentifiers, WRITE_BLOCK_TRIGGER } from './identifiers.ts'

const PAGE_ROWS = 500

/** Inside a transaction that sees the rows of all owners. */
export async function migrateEntries(query: QueryFunction, names: SqlIdentifiers): Promise<void> {
  await dropChangeLog(query, names)
  const blocks = await dropWriteBlock(query, names)
  for (let after = ''; ; ) {
    const page = await query<EntryColumns>(
      `SELECT * FROM ${names.entry} WHERE id > $1 AND kind = ANY ($2::text[])
       ORDER BY id LIMIT ${PAGE_ROWS}`,
      [after, LEGACY_ENTRY_KINDS],
    )
    const last = page.at(-1)
    if (last === undefined) break
    await migratePage(query, names, page)
    after = last.id
  }
  for (const sql of blocks) await query(sql)
}

async function migratePage(
  query: QueryFunction,
  names: SqlIdentifiers,
  page: readonly EntryColumns[],
): Promise<void> {
  const upgraded = page.map((columns) => ({
    columns,
    to: upgradeEntry(ROW_CODECS.entry.fromColumns(columns) as object as LegacyEntry), // whatever its kind and body
  }))
  const changed = upgraded.filter(({ columns, to }) => !isSame(columns, to))
  if (changed.length === 0) return
  await query(`DELETE FROM ${names.entry} WHERE id = ANY ($1::text[])`, [
    changed.map(({ columns }) => columns.id),
  ])
  for (const table of ['entry', 'job', 'signal'] as const) {
    const rows = changed.flatMap(({ to }) => (to?.table === table ? [toColumns(to)] : []))
    if (rows.length > 0) await query(insertRowsSql(names[table], table), [JSON.stringify(rows)])
  }
}

function toColumns(upgraded: UpgradedEntry): object {
  if (upgraded.table === 'entry') return ROW_CODECS.entry.toColumns(upgraded.row)
  if (upgraded.table === 'job') return ROW_CODECS.job.toColumns(upgraded.row)
  return ROW_CODECS.signal.toColumns(upgraded.row)
}

function isSame(columns: EntryColumns, to: UpgradedEntry | null): boolean {
  if (to?.table !== 'entry') return false
  const next = ROW_CODECS.entry.toColumns(to.row)
  return next.id === columns.id && next.kind === columns.kind && next.body === columns.body
}

/** A copy to another store that is under way starts anew: its change log knows only the tables of before. */
async function dropChangeLog(query: QueryFunction, names: SqlIdentifiers): Promise<void> {
  const schema = quoteIdentifier(names.schema)
  for (const called of ['row', 'vector']) {
    await query(`DROP FUNCTION IF EXISTS ${schema}.moving_note_${called}() CASCADE`)
  }
  await query(`DROP TABLE IF EXISTS ${schema}.moving_note`)
}

/**
 * A store that was left for another one refuses writes by triggers. They are dropped for the migration. Returns the
 * statements that restore them, with one for each table that the migration adds.
 */
async function dropWriteBlock(
  query: QueryFunction,
  names: SqlIdentifiers,
): Promise<readonly string[]> {
  const [block] = await query<{ definition: string }>(
    `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger
     WHERE tgrelid = to_regclass($1) AND tgname = $2`,
    [names.entry, WRITE_BLOCK_TRIGGER],
  )
  if (block === undefined) return []
  await query(`DROP TRIGGER ${WRITE_BLOCK_TRIGGER} ON ${names.entry}`)
  return [names.entry, names.job, names.signal].map((table) =>
    block.definition.replace(
      / ON .* FOR EACH STATEMENT /s,
      () => ` ON ${table} FOR EACH STATEMENT `,
    ),
  )
}
