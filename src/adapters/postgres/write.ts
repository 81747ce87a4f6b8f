/** Writes what a commit has decided, in a few statements over many rows each. */
import { AppError } from '../../core/errors.ts'
import type { Memory } from '../../core/memory.ts'
import { isReworded } from '../../core/searchable.ts'
import { toStorable } from '../../core/storable-text.ts'
import type { Turn } from '../../core/transcript.ts'
import { type Row, TABLES, type Table } from '../../ports/store.ts'
import type { Query } from './driver.ts'
import { type Names, quoted } from './names.ts'
import type { Heads, IndexedHead, MemoryHead, Writes } from './plan.ts'
import { SHAPES } from './rows.ts'
import {
  type Document,
  derivedOfMemory,
  derivedOfTurn,
  type IndexedTable,
  memoryIndex,
  postingsOf,
  type TextIndex,
  turnIndex,
} from './text-index.ts'

/** How much one statement carries at most; a single row may still be longer. */
const STATEMENT_CHARACTERS_MAX = 4_000_000

export async function write(
  query: Query,
  names: Names,
  heads: Heads,
  writes: Writes,
): Promise<void> {
  const { puts, removes, counts, releases } = writes
  if (releases.length > 0) {
    await query(`UPDATE ${names.memory} SET key = NULL WHERE id = ANY ($1::text[])`, [
      releases.map(toStorable),
    ])
  }
  for (const table of TABLES) {
    if (removes[table].length === 0) continue
    await query(`DELETE FROM ${names[table]} WHERE id = ANY ($1::text[])`, [
      removes[table].map(toStorable),
    ])
  }
  await writeIndexed(
    query,
    memoryIndex(names),
    heads.memory,
    { puts: puts.memory, removes: removes.memory },
    prepareMemory,
  )
  await putRows(query, names, 'revision', puts.revision)
  await putRows(query, names, 'tombstone', puts.tombstone)
  await putRows(query, names, 'entry', puts.entry)
  await writeIndexed(
    query,
    turnIndex(names),
    heads.turn,
    { puts: puts.turn, removes: removes.turn },
    prepareTurn,
  )
  if (counts.length > 0) {
    await query(
      `UPDATE ${names.memory} AS m
       SET use_count = m.use_count + c.uses, last_used_at = GREATEST(m.last_used_at, c."usedAt")
       FROM json_to_recordset($1) AS c(id text, uses bigint, "usedAt" bigint) WHERE m.id = c.id`,
      [JSON.stringify(counts.map((count) => ({ ...count, id: toStorable(count.id) })))],
    )
  }
}

/** A row to be written with the terms it is found by; `document` is null when they are already posted. */
type Prepared<T extends IndexedTable> = {
  readonly row: Row<T>
  readonly columns: object
  readonly document: Document | null
}

/** Writes memories or turns together with what is derived from them. */
async function writeIndexed<T extends IndexedTable, H extends IndexedHead>(
  query: Query,
  index: TextIndex<T>,
  stored: ReadonlyMap<string, H>,
  { puts, removes }: { readonly puts: readonly Row<T>[]; readonly removes: readonly string[] },
  prepare: (row: Row<T>, head: H | undefined) => Prepared<T>,
): Promise<void> {
  const removed = new Set(removes)
  const standing = (id: string) => (removed.has(id) ? undefined : stored.get(id))
  const prepared = puts.map((row) => prepare(row, standing(row.id)))
  const growth = new Map<string, { documents: number; terms: number }>()
  const grow = (owner: string, documents: number, terms: number) => {
    const known = growth.get(owner) ?? { documents: 0, terms: 0 }
    growth.set(owner, { documents: known.documents + documents, terms: known.terms + terms })
  }
  const outdated: number[] = []
  const leave = (head: H | undefined) => {
    if (head === undefined) return
    outdated.push(head.number)
    grow(head.place.owner, -1, -head.length)
  }
  for (const id of removes) leave(stored.get(id))
  for (const { row, document } of prepared) {
    if (document === null) continue
    leave(standing(row.id))
    grow(row.place.owner, 1, document.length)
  }
  if (outdated.length > 0) {
    await query(`DELETE FROM ${index.posting} WHERE ${index.table} = ANY ($1::bigint[])`, [
      outdated,
    ])
  }
  for (const batch of batches(prepared)) await putIndexed(query, index, batch)
  if (growth.size > 0) {
    const { corpus, documents } = index
    await query(
      `INSERT INTO ${corpus} AS c (owner_id, ${documents}, terms)
       SELECT * FROM json_to_recordset($1) AS g(owner text, documents bigint, terms bigint)
       ON CONFLICT (owner_id) DO UPDATE
       SET ${documents} = c.${documents} + excluded.${documents}, terms = c.terms + excluded.terms`,
      [JSON.stringify([...growth].map(([owner, by]) => ({ owner: toStorable(owner), ...by })))],
    )
  }
}

function prepareMemory(row: Memory, head: MemoryHead | undefined): Prepared<'memory'> {
  const columns = SHAPES.memory.toColumns(row)
  if (head !== undefined && !isReworded(head, row)) {
    const { fingerprint, length } = head
    return { row, columns: { ...columns, fingerprint, length }, document: null }
  }
  const derived = derivedOfMemory(row)
  return { row, columns: { ...columns, ...derived.columns }, document: derived.document }
}

/** A turn is seldom replaced, and then because its text has changed: it is always posted again. */
function prepareTurn(row: Turn): Prepared<'turn'> {
  const { columns, document } = derivedOfTurn(row)
  return { row, columns: { ...SHAPES.turn.toColumns(row), ...columns }, document }
}

function* batches<T extends IndexedTable>(
  prepared: readonly Prepared<T>[],
): Generator<readonly Prepared<T>[]> {
  let batch: Prepared<T>[] = []
  let characters = 0
  for (const entry of prepared) {
    if (characters > STATEMENT_CHARACTERS_MAX) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(entry)
    characters += entry.row.content.length
  }
  if (batch.length > 0) yield batch
}

async function putIndexed<T extends IndexedTable>(
  query: Query,
  index: TextIndex<T>,
  batch: readonly Prepared<T>[],
): Promise<void> {
  const columns = [...SHAPES[index.table].columns, ...Object.keys(index.derivedColumns)]
  const documents = batch.flatMap(({ document }) => (document === null ? [] : [document]))
  const [written] = await query<{ count: number }>(
    `WITH put AS (${putStatement(index.rows, columns)} RETURNING id, number),
       posted AS (${postingsOf(index, '$2', 'put')})
     SELECT count(*) FROM put`,
    [JSON.stringify(batch.map((prepared) => prepared.columns)), JSON.stringify(documents)],
  )
  requireAll(written?.count, batch.length)
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

/** Inserts or replaces the rows of `$1`, but never a row of another owner. */
function putStatement(table: string, columns: readonly string[]): string {
  const list = columns.map(quoted).join(', ')
  const assignments = columns.map((column) =>
    // Uses may have been counted since the row was read; writing it back must not undo that.
    column === 'use_count' || column === 'last_used_at'
      ? `${column} = GREATEST(stored.${column}, excluded.${column})`
      : `${quoted(column)} = excluded.${quoted(column)}`,
  )
  return `INSERT INTO ${table} AS stored (${list})
    SELECT ${list} FROM json_populate_recordset(NULL::${table}, $1)
    ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}
    WHERE stored.owner_id = excluded.owner_id`
}

/** Another owner has put a row under the same id since this commit looked: to be treated like a unique violation. */
function requireAll(written: number | undefined, expected: number): void {
  if (written === expected) return
  throw new AppError('busy', 'Another owner wrote a row with the same id.', { sqlState: '23505' })
}
