/** Writes what a commit has decided, in a few statements over many rows each. */
import { AppError } from '../../../domain/errors.ts'
import type { Memory } from '../../../domain/memory.ts'
import { type SearchDocument, turnDocument } from '../../../domain/search-document.ts'
import { isReworded } from '../../../domain/searchable-text.ts'
import type { Turn } from '../../../domain/turn.ts'
import { quoted } from '../../../lib/sql.ts'
import { toStorable } from '../../../text/storable-text.ts'
import type { Row, Table } from '../../store.ts'
import type { Query } from '../connection/postgres-driver.ts'
import type { Names } from '../schema/identifiers.ts'
import { type DocumentTerms, derivedOf, postingsOf } from '../search/lexical-index.ts'
import type { Writes } from './commit-plan.ts'
import { ROW_OF_KIND } from './document-kinds.ts'
import { SHAPES, TURN_DOCUMENT_COLUMNS, turnDocumentToColumns } from './row-codec.ts'

/** How much one statement carries at most; a single row may still be longer. */
const STATEMENT_CHARACTERS_MAX = 4_000_000

/** What a commit must know of a stored document to replace or remove it. */
export type DocumentHead = Pick<Memory, 'key' | 'content' | 'provenance'> & {
  readonly owner: string
  /** What postings call it. */
  readonly number: number
  /** How many terms it is indexed with. */
  readonly length: number
  readonly fingerprint: string
}

type Documents = ReadonlyMap<string, DocumentHead>

export async function write(
  query: Query,
  names: Names,
  documents: Documents,
  writes: Writes,
): Promise<void> {
  const { puts, removes, counts, releases } = writes
  if (releases.length > 0) {
    await query(`UPDATE ${names.memory} SET key = NULL WHERE id = ANY ($1::text[])`, [
      releases.map(toStorable),
    ])
  }
  await removeRows(query, names, removes)
  await writeDocuments(query, names, documents, writes)
  await putRows(query, names, 'revision', puts.revision)
  await putRows(query, names, 'tombstone', puts.tombstone)
  await putRows(query, names, 'entry', puts.entry)
  if (counts.length > 0) {
    await query(
      `UPDATE ${names.memory} AS m
       SET use_count = m.use_count + c.uses, last_used_at = GREATEST(m.last_used_at, c."usedAt")
       FROM json_to_recordset($1) AS c(id text, uses bigint, "usedAt" bigint) WHERE m.id = c.id`,
      [JSON.stringify(counts.map((count) => ({ ...count, id: toStorable(count.id) })))],
    )
  }
}

/** The document of a turn goes with it. */
async function removeRows(query: Query, names: Names, removes: Writes['removes']): Promise<void> {
  const gone = [...removes.memory, ...removes.turn]
  if (gone.length > 0) {
    await query(
      `WITH said AS (DELETE FROM ${names.turn} WHERE id = ANY ($2::text[]))
       DELETE FROM ${names.memory} WHERE id = ANY ($1::text[])`,
      [gone.map(toStorable), removes.turn.map(toStorable)],
    )
  }
  for (const table of ['revision', 'tombstone', 'entry'] as const) {
    if (removes[table].length === 0) continue
    await query(`DELETE FROM ${names[table]} WHERE id = ANY ($1::text[])`, [
      removes[table].map(toStorable),
    ])
  }
}

/** A document to be written with the terms it is found by, which are null when they are already posted. */
type Prepared = {
  readonly document: SearchDocument
  readonly columns: object
  readonly terms: DocumentTerms | null
}

type PreparedTurn = Prepared & { readonly turn: Turn }

/** Writes memories and turns together with what is derived from them. */
async function writeDocuments(
  query: Query,
  names: Names,
  documents: Documents,
  { puts, removes }: Writes,
): Promise<void> {
  const gone = new Set<string>([...removes.memory, ...removes.turn])
  const standing = (id: string) => (gone.has(id) ? undefined : documents.get(id))
  const memories = puts.memory.map((row) => prepareMemory(row, standing(row.id)))
  const turns = puts.turn.map((row) => prepareTurn(row, standing(row.id)))
  const growth = new Growth()
  const outdated: number[] = []
  const leave = (head: DocumentHead | undefined) => {
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

/** What a commit adds to the word statistics of each owner, or takes from them. */
class Growth {
  readonly #owners = new Map<string, { documents: number; terms: number }>()

  add(owner: string, documents: number, terms: number): void {
    const known = this.#owners.get(owner) ?? { documents: 0, terms: 0 }
    this.#owners.set(owner, {
      documents: known.documents + documents,
      terms: known.terms + terms,
    })
  }

  async write(query: Query, { corpus }: Names): Promise<void> {
    if (this.#owners.size === 0) return
    const growth = [...this.#owners].map(([owner, by]) => ({ owner: toStorable(owner), ...by }))
    await query(
      `INSERT INTO ${corpus} AS c (owner_id, documents, terms)
       SELECT * FROM json_to_recordset($1) AS g(owner text, documents bigint, terms bigint)
       ON CONFLICT (owner_id) DO UPDATE
       SET documents = c.documents + excluded.documents, terms = c.terms + excluded.terms`,
      [JSON.stringify(growth)],
    )
  }
}

function prepareMemory(row: Memory, head: DocumentHead | undefined): Prepared {
  return prepare(row, SHAPES.memory.toColumns(row), head)
}

export function prepareTurn(turn: Turn, head?: DocumentHead): PreparedTurn {
  return { turn, ...prepare(turnDocument(turn), turnDocumentToColumns(turn), head) }
}

function prepare(
  document: SearchDocument,
  columns: object,
  head: DocumentHead | undefined,
): Prepared {
  if (head !== undefined && !isReworded(head, document)) {
    const { fingerprint, length } = head
    return { document, columns: { ...columns, fingerprint, length }, terms: null }
  }
  const derived = derivedOf(document)
  return { document, columns: { ...columns, ...derived.columns }, terms: derived.terms }
}

function* batches<P extends Prepared>(prepared: readonly P[]): Generator<readonly P[]> {
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

async function putMemories(query: Query, names: Names, batch: readonly Prepared[]): Promise<void> {
  const columns = [...SHAPES.memory.columns, ...DERIVED_COLUMNS]
  const [written] = await query<{ count: number }>(
    `WITH put AS (
         ${putStatement(names.memory, columns)} AND stored.${ROW_OF_KIND.memory} RETURNING id, number
       ), posted AS (${postingsOf(names, '$2', 'put')})
     SELECT count(*) FROM put`,
    [columnsOf(batch), termsOf(batch)],
  )
  requireAll(written?.count, batch.length)
}

/** One statement for turns and their documents: neither is ever there without the other. */
async function putTurns(query: Query, names: Names, batch: readonly PreparedTurn[]): Promise<void> {
  const turns = batch.map(({ turn }) => SHAPES.turn.toColumns(turn))
  const [written] = await query<{ count: number }>(
    `WITH said AS (${putStatement(names.turn, SHAPES.turn.columns, '$3')} RETURNING id, number),
       ${putTurnDocuments(names, 'said')}`,
    [columnsOf(batch), termsOf(batch), JSON.stringify(turns)],
  )
  requireAll(written?.count, batch.length)
}

/** Writes documents of turns that are stored already. */
export async function putDocumentsOf(
  query: Query,
  names: Names,
  turns: readonly PreparedTurn[],
): Promise<void> {
  await query(`WITH ${putTurnDocuments(names, names.turn)}`, [columnsOf(turns), termsOf(turns)])
}

/**
 * The rest of a statement that puts the documents of `$1` with the terms of `$2`. `turns` is where the numbers of their
 * turns are found.
 */
function putTurnDocuments(names: Names, turns: string): string {
  const columns = [...TURN_DOCUMENT_COLUMNS, ...DERIVED_COLUMNS].map(quoted)
  const given = columns.map((column) => `given.${column}`)
  const assignments = columns.map((column) => `${column} = excluded.${column}`)
  return `put AS (
      INSERT INTO ${names.memory} AS stored (number, ${columns.join(', ')}) OVERRIDING SYSTEM VALUE
      SELECT -said.number, ${given.join(', ')}
      FROM json_populate_recordset(NULL::${names.memory}, $1) AS given
        JOIN ${turns} AS said ON said.id = given.id
      ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}
      WHERE stored.owner_id = excluded.owner_id AND stored.${ROW_OF_KIND.turn}
      RETURNING id, number
    ), posted AS (${postingsOf(names, '$2', 'put')})
    SELECT count(*) FROM put`
}

function columnsOf(batch: readonly Prepared[]): string {
  return JSON.stringify(batch.map(({ columns }) => columns))
}

function termsOf(batch: readonly Prepared[]): string {
  return JSON.stringify(batch.flatMap(({ terms }) => (terms === null ? [] : [terms])))
}

async function putRows<T extends Table>(
  query: Query,
  names: Names,
  table: T,
  rows: readonly Row<T>[],
): Promise<void> {
  if (rows.length === 0) return
  const { columns, toColumns } = SHAPES[table]
  const [written] = await query<{ count: number }>(
    `WITH put AS (${putStatement(names[table], columns)} RETURNING id) SELECT count(*) FROM put`,
    [JSON.stringify(rows.map(toColumns))],
  )
  requireAll(written?.count, rows.length)
}

/** Inserts or replaces the rows of a parameter, but never a row of another owner. */
function putStatement(table: string, columns: readonly string[], parameter = '$1'): string {
  const list = columns.map(quoted).join(', ')
  const assignments = columns.map((column) =>
    // Uses may have been counted since the row was read; writing it back must not undo that.
    column === 'use_count' || column === 'last_used_at'
      ? `${column} = GREATEST(stored.${column}, excluded.${column})`
      : `${quoted(column)} = excluded.${quoted(column)}`,
  )
  return `INSERT INTO ${table} AS stored (${list})
    SELECT ${list} FROM json_populate_recordset(NULL::${table}, ${parameter})
    ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}
    WHERE stored.owner_id = excluded.owner_id`
}

/** Another owner has put a row under the same id since this commit looked: to be treated like a unique violation. */
function requireAll(written: number | undefined, expected: number): void {
  if (written === expected) return
  throw new AppError('busy', 'Another owner wrote a row with the same id.', { sqlState: '23505' })
}
