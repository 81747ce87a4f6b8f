/** Makes what is derived from rows again: postings, the columns made of others, and word statistics. */
import { toStorable } from '../../core/storable-text.ts'
import type { Query } from './driver.ts'
import type { Names } from './names.ts'
import { type IndexedTable, postingsOf, type TextIndex, turnIndex } from './text-index.ts'

export async function deriveAgain<T extends IndexedTable>(
  query: Query,
  index: TextIndex<T>,
  numbers: readonly number[],
): Promise<void> {
  // Whatever columns there are: a step of the schema may derive from rows that later steps give more of them.
  const rows = await query<Parameters<typeof index.derive>[0]>(
    `SELECT * FROM ${index.rows} WHERE number = ANY ($1::bigint[])`,
    [numbers],
  )
  const derived = JSON.stringify(
    rows.map((row) => {
      const { document, columns } = index.derive(row)
      return { ...document, ...columns }
    }),
  )
  const typed = Object.entries(index.derivedColumns)
  const assignments = typed.map(([column]) => `${column} = d.${column}`)
  const columns = typed.map(([column, type]) => `${column} ${type}`)
  await query(`DELETE FROM ${index.posting} WHERE ${index.table} = ANY ($1::bigint[])`, [numbers])
  await query(
    `UPDATE ${index.rows} AS r SET ${assignments.join(', ')}
     FROM json_to_recordset($1) AS d(id text, ${columns.join(', ')}) WHERE r.id = d.id`,
    [derived],
  )
  await query(postingsOf(index, '$1', index.rows), [derived])
}

/** Counts an owner's rows and their words again; those of all owners when none is named. */
export async function recount(query: Query, index: TextIndex, owner?: string): Promise<void> {
  const [theirs, values] =
    owner === undefined ? ['', []] : ['WHERE owner_id = $1', [toStorable(owner)]]
  await query(`DELETE FROM ${index.corpus} ${theirs}`, values)
  await query(
    `INSERT INTO ${index.corpus} (owner_id, ${index.documents}, terms)
     SELECT owner_id, count(*), sum(length) FROM ${index.rows} ${theirs} GROUP BY owner_id`,
    values,
  )
}

/** For turns that were stored before they could be searched. */
export async function deriveAllTurns(query: Query, names: Names): Promise<void> {
  const index = turnIndex(names)
  for (let last = 0; ; ) {
    const rows = await query<{ number: number }>(
      `SELECT number FROM ${index.rows} WHERE number > $1 ORDER BY number LIMIT ${index.pageRows}`,
      [last],
    )
    const numbers = rows.map(({ number }) => number)
    if (numbers.length === 0) break
    await deriveAgain(query, index, numbers)
    last = numbers.at(-1) ?? last
  }
  await recount(query, index)
}
