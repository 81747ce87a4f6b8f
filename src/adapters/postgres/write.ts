/** Writes what a commit has decided, in a few statements over many rows each. */
import { AppError } from '../../core/errors.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import type { Memory } from '../../core/memory.ts'
import { isReworded, searchableTerms } from '../../core/searchable.ts'
import { toStorable } from '../../core/storable-text.ts'
import { type Row, TABLES, type Table } from '../../ports/store.ts'
import type { Query } from './driver.ts'
import { type Names, ownerHash, quoted, userHash } from './names.ts'
import type { Heads, MemoryHead, Writes } from './plan.ts'
import { SHAPES } from './rows.ts'

/** How much one statement carries at most; a single memory may still be longer. */
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
  await writeMemories(query, names, heads.memory, writes)
  await putRows(query, names, 'revision', puts.revision)
  await putRows(query, names, 'tombstone', puts.tombstone)
  await putRows(query, names, 'entry', puts.entry)
  await putRows(query, names, 'turn', puts.turn)
  if (counts.length > 0) {
    await query(
      `UPDATE ${names.memory} AS m
       SET use_count = m.use_count + c.uses, last_used_at = GREATEST(m.last_used_at, c."usedAt")
       FROM json_to_recordset($1) AS c(id text, uses bigint, "usedAt" bigint) WHERE m.id = c.id`,
      [JSON.stringify(counts.map((count) => ({ ...count, id: toStorable(count.id) })))],
    )
  }
}

/** A memory to be written with the terms it is found by; `document` is null when they are already posted. */
type Prepared = {
  readonly row: Memory
  readonly columns: object
  readonly document: Document | null
}

/** The terms of one memory, as they go into postings. */
export type Document = {
  readonly id: string
  readonly owner_hash: string
  readonly user_hash: number
  readonly length: number
  readonly terms: Readonly<Record<string, number>>
}

async function writeMemories(
  query: Query,
  names: Names,
  heads: ReadonlyMap<string, MemoryHead>,
  { puts, removes }: Writes,
): Promise<void> {
  const removed = new Set(removes.memory)
  const standing = (id: string) => (removed.has(id) ? undefined : heads.get(id))
  const prepared = puts.memory.map((row) => prepare(row, standing(row.id)))
  const growth = new Map<string, { memories: number; terms: number }>()
  const grow = (owner: string, memories: number, terms: number) => {
    const known = growth.get(owner) ?? { memories: 0, terms: 0 }
    growth.set(owner, { memories: known.memories + memories, terms: known.terms + terms })
  }
  const outdated: number[] = []
  const leave = (head: MemoryHead | undefined) => {
    if (head === undefined) return
    outdated.push(head.number)
    grow(head.place.owner, -1, -head.length)
  }
  for (const id of removes.memory) leave(heads.get(id))
  for (const { row, document } of prepared) {
    if (document === null) continue
    leave(standing(row.id))
    grow(row.place.owner, 1, document.length)
  }
  if (outdated.length > 0) {
    await query(`DELETE FROM ${names.posting} WHERE memory = ANY ($1::bigint[])`, [outdated])
  }
  for (const batch of batches(prepared)) await putMemories(query, names, batch)
  if (growth.size > 0) {
    await query(
      `INSERT INTO ${names.corpus} AS c (owner_id, memories, terms)
       SELECT * FROM json_to_recordset($1) AS g(owner text, memories bigint, terms bigint)
       ON CONFLICT (owner_id) DO UPDATE
       SET memories = c.memories + excluded.memories, terms = c.terms + excluded.terms`,
      [JSON.stringify([...growth].map(([owner, by]) => ({ owner: toStorable(owner), ...by })))],
    )
  }
}

function prepare(row: Memory, head: MemoryHead | undefined): Prepared {
  const columns = SHAPES.memory.toColumns(row)
  if (head !== undefined && !isReworded(head, row)) {
    const { fingerprint, length } = head
    return { row, columns: { ...columns, fingerprint, length }, document: null }
  }
  const document = documentOf(row)
  return {
    row,
    columns: { ...columns, fingerprint: fingerprint(row.content), length: document.length },
    document,
  }
}

export function documentOf(memory: Memory): Document {
  const terms = searchableTerms(memory)
  const frequencies = new Map<string, number>()
  for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
  return {
    id: toStorable(memory.id),
    owner_hash: ownerHash(memory.place.owner),
    user_hash: userHash(memory.place.user),
    length: terms.length,
    terms: Object.fromEntries(frequencies),
  }
}

function* batches(prepared: readonly Prepared[]): Generator<readonly Prepared[]> {
  let batch: Prepared[] = []
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

/** Posts the documents of a JSON parameter; `memories` is where their numbers are found. */
export function postingsOf(names: Names, parameter: string, memories: string): string {
  return `INSERT INTO ${names.posting} (owner_hash, user_hash, memory, length, term, frequency)
    SELECT d.owner_hash, d.user_hash, m.number, d.length, t.key, t.value::integer
    FROM json_to_recordset(${parameter})
        AS d(id text, owner_hash bigint, user_hash integer, length integer, terms json)
      JOIN ${memories} AS m ON m.id = d.id
      CROSS JOIN json_each_text(d.terms) AS t`
}

async function putMemories(query: Query, names: Names, batch: readonly Prepared[]): Promise<void> {
  const put = putStatement(names, 'memory', [...SHAPES.memory.columns, 'fingerprint', 'length'])
  const documents = batch.flatMap(({ document }) => (document === null ? [] : [document]))
  const [written] = await query<{ count: number }>(
    `WITH put AS (${put} RETURNING id, number),
       posted AS (${postingsOf(names, '$2', 'put')})
     SELECT count(*) FROM put`,
    [JSON.stringify(batch.map(({ columns }) => columns)), JSON.stringify(documents)],
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
    `WITH put AS (${putStatement(names, table, columns)} RETURNING id) SELECT count(*) FROM put`,
    [JSON.stringify(rows.map(toColumns))],
  )
  requireAll(written?.count, rows.length)
}

/** Inserts or replaces the rows of `$1`, but never a row of another owner. */
function putStatement(names: Names, table: Table, columns: readonly string[]): string {
  const list = columns.map(quoted).join(', ')
  const assignments = columns.map((column) =>
    // Uses may have been counted since the row was read; writing it back must not undo that.
    column === 'use_count' || column === 'last_used_at'
      ? `${column} = GREATEST(stored.${column}, excluded.${column})`
      : `${quoted(column)} = excluded.${quoted(column)}`,
  )
  return `INSERT INTO ${names[table]} AS stored (${list})
    SELECT ${list} FROM json_populate_recordset(NULL::${names[table]}, $1)
    ON CONFLICT (id) DO UPDATE SET ${assignments.join(', ')}
    WHERE stored.owner_id = excluded.owner_id`
}

/** Another owner has put a row under the same id since this commit looked: to be treated like a unique violation. */
function requireAll(written: number | undefined, expected: number): void {
  if (written === expected) return
  throw new AppError('busy', 'Another owner wrote a row with the same id.', { sqlState: '23505' })
}
