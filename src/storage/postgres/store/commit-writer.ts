/** Writes a planned commit in a few multi-row statements. */

import type { Memory } from '../../../domain/memory.ts'
import { type SearchDocument, toTurnDocument } from '../../../domain/search-document.ts'
import { hasSearchTextChanged } from '../../../domain/searchable-text.ts'
import type { Turn } from '../../../domain/turn.ts'
import { AppError } from '../../../lib/errors.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import { toStorable } from '../../../text/storable-text.ts'
import type { Row, Table } from '../../store.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'
import {
  type DocumentPostings,
  encodePostings,
  insertPostingsSql,
  toIndexedDocument,
} from '../search/lexical-index.ts'
import type { CommitPlan } from './commit-plan.ts'
import { ROW_CONDITION_BY_KIND } from './document-kinds.ts'
import { ROW_CODECS, TURN_DOCUMENT_COLUMNS, toTurnDocumentColumns } from './row-codec.ts'

/** The size limit of one statement; a single row may exceed it. */
const STATEMENT_CHARACTERS_MAX = 4_000_000

/** What a commit needs of a stored document to replace or remove it. */
export type StoredDocumentState = Pick<Memory, 'key' | 'content' | 'provenance'> & {
  readonly owner: string
  /** Its number in postings. */
  readonly number: number
  /** Its number of indexed terms. */
  readonly length: number
  readonly fingerprint: string
}

type Documents = ReadonlyMap<string, StoredDocumentState>

export async function applyCommitPlan(
  query: QueryFunction,
  names: SqlIdentifiers,
  documents: Documents,
  writes: CommitPlan,
): Promise<void> {
  const { puts, removes, usageIncrements: counts, releasedKeys: releases } = writes
  if (releases.length > 0) {
    await query(`UPDATE ${names.memory} SET key = NULL WHERE id = ANY ($1::text[])`, [
      releases.map(toStorable),
    ])
  }
  await removeRows(query, names, removes)
  await writeDocuments(query, names, documents, writes)
  await putPlainRows(query, names, puts)
  if (counts.length > 0) {
    await query(
      `UPDATE ${names.memory} AS m
       SET use_count = m.use_count + c.uses, last_used_at = GREATEST(m.last_used_at, c."usedAt")
       FROM json_to_recordset($1) AS c(id text, uses bigint, "usedAt" bigint) WHERE m.id = c.id`,
      [JSON.stringify(counts.map((count) => ({ ...count, id: toStorable(count.id) })))],
    )
  }
}

/** The document of a turn is deleted with it. */
async function removeRows(
  query: QueryFunction,
  names: SqlIdentifiers,
  removes: CommitPlan['removes'],
): Promise<void> {
  const gone = [...removes.memory, ...removes.turn]
  if (gone.length > 0) {
    await query(
      `WITH said AS (DELETE FROM ${names.turn} WHERE id = ANY ($2::text[]))
       DELETE FROM ${names.memory} WHERE id = ANY ($1::text[])`,
      [gone.map(toStorable), removes.turn.map(toStorable)],
    )
  }
  const tables = PLAIN_TABLES.filter((table) => removes[table].length > 0)
  if (tables.length === 0) return
  const deletions = tables.map(
    (table, at) =>
      `removed_${table} AS (DELETE FROM ${names[table]} WHERE id = ANY ($${at + 1}::text[]))`,
  )
  await query(
    `WITH ${deletions.join(', ')} SELECT`,
    tables.map((table) => removes[table].map(toStorable)),
  )
}

/** A document to write, with its terms; null when they are already in the postings. */
type PreparedDocument = {
  readonly document: SearchDocument
  readonly columns: object
  readonly terms: DocumentPostings | null
}

type PreparedTurn = PreparedDocument & { readonly turn: Turn }

/** Writes memories and turns together with their derived data. */
async function writeDocuments(
  query: QueryFunction,
  names: SqlIdentifiers,
  documents: Documents,
  { puts, removes }: CommitPlan,
): Promise<void> {
  const gone = new Set<string>([...removes.memory, ...removes.turn])
  const standing = (id: string) => (gone.has(id) ? undefined : documents.get(id))
  const memories = puts.memory.map((row) => prepareMemory(row, standing(row.id)))
  const turns = puts.turn.map((row) => prepareTurnDocument(row, standing(row.id)))
  const growth = new CorpusDelta()
  const outdated: number[] = []
  const leave = (head: StoredDocumentState | undefined) => {
    if (head === undefined) return
    outdated.push(head.number)
    growth.add(head.owner, -1, -head.length)
  }
  for (const id of gone) leave(documents.get(id))
  for (const { document, terms } of [...memories, ...turns]) {
    if (terms === null) continue
    leave(standing(document.id))
    growth.add(document.place.owner, 1, terms.length)
  }
  if (outdated.length > 0) {
    await query(`DELETE FROM ${names.posting} WHERE memory = ANY ($1::bigint[])`, [outdated])
  }
  for (const batch of batches(memories)) await putMemories(query, names, batch)
  for (const batch of batches(turns)) await putTurns(query, names, batch)
  await growth.write(query, names)
}

/** The word statistics that a commit adds or subtracts per owner. */
class CorpusDelta {
  readonly #owners = new Map<string, { documents: number; terms: number }>()

  add(owner: string, documents: number, terms: number): void {
    const known = this.#owners.get(owner) ?? { documents: 0, terms: 0 }
    this.#owners.set(owner, {
      documents: known.documents + documents,
      terms: known.terms + terms,
    })
  }

  async write(query: QueryFunction, { corpus }: SqlIdentifiers): Promise<void> {
    if (this.#owners.size === 0) return
    const growth = [...this.#owners].map(([owner, by]) => ({ owner: toStorable(owner), ...by }))
    await query(
      `INSERT INTO ${corpus} AS c (owner_id, documents, terms)
       SELECT * FROM json_to_recordset($1) AS g(owner text, documents bigint, terms bigint)
       ON CONFLICT (owner_id) DO UPDATE
       SET documents = c.documents + excluded.documents, terms = c.terms + excluded.terms`,
      [JSON.stringify(growth)],
    )
    // The name of an owner without documents may be all that an erasure has left.
    const shrunk = growth.filter(({ documents }) => documents < 0).map(({ owner }) => owner)
    if (shrunk.length === 0) return
    await query(`DELETE FROM ${corpus} WHERE owner_id = ANY ($1) AND documents = 0`, [shrunk])
  }
}

function prepareMemory(row: Memory, head: StoredDocumentState | undefined): PreparedDocument {
  return prepare(row, ROW_CODECS.memory.toColumns(row), head)
}

export function prepareTurnDocument(turn: Turn, head?: StoredDocumentState): PreparedTurn {
  return { turn, ...prepare(toTurnDocument(turn), toTurnDocumentColumns(turn), head) }
}

function prepare(
  document: SearchDocument,
  columns: object,
  head: StoredDocumentState | undefined,
): PreparedDocument {
  if (head !== undefined && !hasSearchTextChanged(head, document)) {
    const { fingerprint, length } = head
    return { document, columns: { ...columns, fingerprint, length }, terms: null }
  }
  const derived = toIndexedDocument(document)
  return { document, columns: { ...columns, ...derived.columns }, terms: derived.terms }
}

function* batches<P extends PreparedDocument>(prepared: readonly P[]): Generator<readonly P[]> {
  let batch: P[] = []
  let characters = 0
  for (const entry of prepared) {
    if (characters > STATEMENT_CHARACTERS_MAX) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(entry)
    characters += entry.document.content.length
  }
  if (batch.length > 0) yield batch
}

const DERIVED_COLUMNS = ['fingerprint', 'length'] as const

async function putMemories(
  query: QueryFunction,
  names: SqlIdentifiers,
  batch: readonly PreparedDocument[],
): Promise<void> {
  const columns = [...ROW_CODECS.memory.columns, ...DERIVED_COLUMNS]
  const [written] = await query<{ count: number }>(
    `WITH put AS (
         ${putStatement(names.memory, columns)} AND stored.${ROW_CONDITION_BY_KIND.memory} RETURNING id, number
       ), posted AS (${insertPostingsSql(names, '$2', 'put')})
     SELECT count(*) FROM put`,
    [columnsOf(batch), termsOf(batch)],
  )
  assertAllWritten(written?.count, batch.length)
}

/** One statement for turns and their documents: neither ever exists without the other. */
async function putTurns(
  query: QueryFunction,
  names: SqlIdentifiers,
  batch: readonly PreparedTurn[],
): Promise<void> {
  const turns = batch.map(({ turn }) => ROW_CODECS.turn.toColumns(turn))
  const [written] = await query<{ count: number }>(
    `WITH said AS (${putStatement(names.turn, ROW_CODECS.turn.columns, '$3')} RETURNING id, number),
       ${putTurnDocuments(names, 'said')}`,
    [columnsOf(batch), termsOf(batch), JSON.stringify(turns)],
  )
  assertAllWritten(written?.count, batch.length)
}

/** Writes documents of turns that are already stored. */
export async function writeTurnDocuments(
  query: QueryFunction,
  names: SqlIdentifiers,
  turns: readonly PreparedTurn[],
): Promise<void> {
  await query(`WITH ${putTurnDocuments(names, names.turn)}`, [columnsOf(turns), termsOf(turns)])
}

/**
 * The end of a statement that writes the documents of `$1` with the terms of `$2`. `turns` is the
 * source of the turn numbers.
 */
function putTurnDocuments(names: SqlIdentifiers, turns: string): string {
  const columns = [...TURN_DOCUMENT_COLUMNS, ...DERIVED_COLUMNS].map(quoteIdentifier)
  const given = columns.map((column) => `given.${column}`)
  const assignments = columns.map((column) => `${column} = excluded.${column}`)
  return `put AS (
      INSERT INTO ${names.memory} AS stored (number, ${columns.join(', ')}) OVERRIDING SYSTEM VALUE
      SELECT -said.number, ${given.join(', ')}
      FROM json_populate_recordset(NULL::${names.memory}, $1) AS given
        JOIN ${turns} AS said ON said.id = given.id
      ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}
      WHERE stored.owner_id = excluded.owner_id AND stored.${ROW_CONDITION_BY_KIND.turn}
      RETURNING id, number
    ), posted AS (${insertPostingsSql(names, '$2', 'put')})
    SELECT count(*) FROM put`
}

function columnsOf(batch: readonly PreparedDocument[]): string {
  return JSON.stringify(batch.map(({ columns }) => columns))
}

function termsOf(batch: readonly PreparedDocument[]): string {
  return encodePostings(batch.flatMap(({ terms }) => (terms === null ? [] : [terms])))
}

/** Tables whose rows nothing is derived from. */
const PLAIN_TABLES = ['revision', 'tombstone', 'entry', 'job', 'signal'] as const

/** One statement for all of them: a recorded exchange writes entries, a job and a signal at once. */
async function putPlainRows(
  query: QueryFunction,
  names: SqlIdentifiers,
  puts: CommitPlan['puts'],
): Promise<void> {
  const tables = PLAIN_TABLES.filter((table) => puts[table].length > 0)
  if (tables.length === 0) return
  const statements = tables.map(
    (table, at) =>
      `put_${table} AS (${putStatement(names[table], ROW_CODECS[table].columns, `$${at + 1}`)} RETURNING 1)`,
  )
  const counts = tables.map((table) => `(SELECT count(*) FROM put_${table})`)
  const [written] = await query<{ count: number }>(
    `WITH ${statements.join(', ')} SELECT ${counts.join(' + ')} AS count`,
    tables.map((table) => toColumnsJson(table, puts[table])),
  )
  const expected = tables.reduce((sum, table) => sum + puts[table].length, 0)
  assertAllWritten(written?.count, expected)
}

function toColumnsJson<T extends Table>(table: T, rows: readonly Row<T>[]): string {
  return JSON.stringify(rows.map(ROW_CODECS[table].toColumns))
}

/** Upserts the rows of a parameter, but never a row of another owner. */
function putStatement(table: string, columns: readonly string[], parameter = '$1'): string {
  const list = columns.map(quoteIdentifier).join(', ')
  const assignments = columns.map((column) =>
    // Usage may have been counted since the row was read; the write must not undo that.
    column === 'use_count' || column === 'last_used_at'
      ? `${column} = GREATEST(stored.${column}, excluded.${column})`
      : `${quoteIdentifier(column)} = excluded.${quoteIdentifier(column)}`,
  )
  return `INSERT INTO ${table} AS stored (${list})
    SELECT ${list} FROM json_populate_recordset(NULL::${table}, ${parameter})
    ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}
    WHERE stored.owner_id = excluded.owner_id`
}

/** Another owner wrote the same id since this commit read: treated like a unique violation. */
function assertAllWritten(written: number | undefined, expected: number): void {
  if (written === expected) return
  throw new AppError('busy', 'Another owner wrote a row with the same id.', { sqlState: '23505' })
}
