/**
 * Rebuilds data derived from rows: documents of turns, postings, fingerprints, lengths and word
 * statistics.
 */
import { toStorable } from '../../../text/storable-text.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'
import { encodePostings, insertPostingsSql, toIndexedDocument } from '../search/lexical-index.ts'
import { prepareTurnDocument, writeTurnDocuments } from '../store/commit-writer.ts'
import { type MemoryColumns, ROW_CODECS, type TurnColumns } from '../store/row-codec.ts'

/** Turns per read: one may be very long. */
export const TURN_BATCH_SIZE = 100

/** Memories, by row number. */
export async function rebuildMemoryIndex(
  query: QueryFunction,
  names: SqlIdentifiers,
  numbers: readonly number[],
): Promise<void> {
  const rows = await query<MemoryColumns>(
    `SELECT * FROM ${names.memory} WHERE number = ANY ($1::bigint[])`,
    [numbers],
  )
  const derived = rows.map((row) => toIndexedDocument(ROW_CODECS.memory.fromColumns(row)))
  await query(`DELETE FROM ${names.posting} WHERE memory = ANY ($1::bigint[])`, [numbers])
  await query(
    `UPDATE ${names.memory} AS m SET fingerprint = d.fingerprint, length = d.length
     FROM json_to_recordset($1) AS d(id text, fingerprint text, length integer) WHERE m.id = d.id`,
    [JSON.stringify(derived.map(({ columns, terms }) => ({ id: terms.id, ...columns })))],
  )
  await query(insertPostingsSql(names, '$1', names.memory), [
    encodePostings(derived.map(({ terms }) => terms)),
  ])
}

/** Documents of turns, by the numbers of the turns. */
export async function rebuildTurnIndex(
  query: QueryFunction,
  names: SqlIdentifiers,
  numbers: readonly number[],
): Promise<void> {
  // Reads the columns that exist: a migration may derive from rows to which later migrations add columns.
  const rows = await query<TurnColumns>(
    `SELECT * FROM ${names.turn} WHERE number = ANY ($1::bigint[])`,
    [numbers],
  )
  const turns = rows.map((row) => prepareTurnDocument(ROW_CODECS.turn.fromColumns(row)))
  await query(`DELETE FROM ${names.posting} WHERE memory = ANY ($1::bigint[])`, [
    numbers.map((number) => -number),
  ])
  // The number is the primary key and must not change.
  await query(
    `DELETE FROM ${names.memory} AS m USING ${names.turn} AS t
     WHERE t.number = ANY ($1::bigint[]) AND m.id = t.id AND m.number <> -t.number`,
    [numbers],
  )
  await writeTurnDocuments(query, names, turns)
}

/** Recounts documents and words of an owner, or of all owners when none is given. */
export async function recountCorpus(
  query: QueryFunction,
  names: SqlIdentifiers,
  owner?: string,
): Promise<void> {
  const [theirs, values] =
    owner === undefined ? ['', []] : ['WHERE owner_id = $1', [toStorable(owner)]]
  await query(`DELETE FROM ${names.corpus} ${theirs}`, values)
  await query(
    `INSERT INTO ${names.corpus} (owner_id, documents, terms)
     SELECT owner_id, count(*), sum(length) FROM ${names.memory} ${theirs} GROUP BY owner_id`,
    values,
  )
}

/** For turns that were stored before turns had documents. */
export async function rebuildAllTurnIndexes(
  query: QueryFunction,
  names: SqlIdentifiers,
): Promise<void> {
  for (let last = 0; ; ) {
    const rows = await query<{ number: number }>(
      `SELECT number FROM ${names.turn} WHERE number > $1 ORDER BY number LIMIT ${TURN_BATCH_SIZE}`,
      [last],
    )
    const numbers = rows.map(({ number }) => number)
    if (numbers.length === 0) break
    await rebuildTurnIndex(query, names, numbers)
    last = numbers.at(-1) ?? last
  }
  await recountCorpus(query, names)
}
