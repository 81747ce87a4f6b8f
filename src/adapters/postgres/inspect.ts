/**
 * Compares what is derived (postings, fingerprints, word statistics) with the memories it is derived from.
 *
 * One statement sees one state, so a memory and its postings are compared as they were written, even while others
 * write. What is to be mended is read again under its owner's lock, since it may have changed meanwhile.
 */
import { fingerprint } from '../../core/fingerprint.ts'
import type { Memory } from '../../core/memory.ts'
import { toStorable } from '../../core/storable-text.ts'
import type { StoreFault } from '../../ports/store.ts'
import type { Database, Query } from './driver.ts'
import { beginWithLocks, type Names, ownerLock, quoted } from './names.ts'
import { decoded, type MemoryColumns, SHAPES } from './rows.ts'
import { type Document, documentOf, postingsOf } from './write.ts'

const PAGE_MEMORIES = 500

type Posting = readonly [
  ownerHash: string,
  userHash: number,
  length: number,
  term: string,
  frequency: number,
]

type Checked = {
  readonly number: number
  readonly memory: Memory
  readonly isUnsearchable: boolean
  readonly isMisprinted: boolean
}

export async function inspect(
  database: Database,
  names: Names,
  repair: boolean,
): Promise<readonly StoreFault[]> {
  const { query } = database
  const orphans = await countOrphans(query, names)
  const miscounted = await ownersMiscounted(query, names)
  let [unsearchable, misprinted] = [0, 0]
  for await (const page of checkedPages(query, names)) {
    const faulty = page.filter((memory) => memory.isUnsearchable || memory.isMisprinted)
    unsearchable += faulty.filter((memory) => memory.isUnsearchable).length
    misprinted += faulty.filter((memory) => memory.isMisprinted).length
    if (repair) await mend(database, names, faulty)
  }
  if (repair) {
    if (orphans > 0) await query(`DELETE FROM ${names.posting} AS p WHERE ${isOrphan(names)}`)
    // Again, because mending a memory may have changed how many terms it has.
    for (const owner of await ownersMiscounted(query, names)) await recount(database, names, owner)
  }
  const faults = [
    { what: 'memories that keyword search knows wrongly or not at all', count: unsearchable },
    { what: 'memories with the fingerprint of another text', count: misprinted },
    { what: 'search entries of memories that are gone', count: orphans },
    { what: 'owners whose word statistics are off', count: miscounted.length },
  ]
  return faults.filter(({ count }) => count > 0).map((fault) => ({ ...fault, repairable: true }))
}

async function* checkedPages(query: Query, names: Names): AsyncGenerator<readonly Checked[]> {
  let last = 0
  while (true) {
    const rows = await query<
      MemoryColumns & { number: number; fingerprint: string; length: number; postings: Posting[] }
    >(
      `SELECT m.*, COALESCE(
         (SELECT json_agg(json_build_array(
            owner_hash::text, user_hash, p.length, term, frequency)) FROM ${names.posting} AS p
          WHERE p.memory = m.number), '[]') AS postings
       FROM ${names.memory} AS m WHERE number > $1 ORDER BY number LIMIT ${PAGE_MEMORIES}`,
      [last],
    )
    const page = rows.map(({ number, postings, ...columns }): Checked => {
      const memory = SHAPES.memory.fromColumns(columns)
      const document = documentOf(memory)
      const expected = new Set(postingsIn(document).map((posting) => JSON.stringify(posting)))
      const isPosted =
        columns.length === document.length &&
        postings.length === expected.size &&
        postings.every((posting) => expected.has(JSON.stringify(posting)))
      return {
        number,
        memory,
        isUnsearchable: !isPosted,
        isMisprinted: columns.fingerprint !== fingerprint(memory.content),
      }
    })
    yield page
    last = page.at(-1)?.number ?? last
    if (page.length < PAGE_MEMORIES) return
  }
}

function postingsIn({ owner_hash, user_hash, length, terms }: Document): readonly Posting[] {
  return Object.entries(terms).map(([term, frequency]) => [
    owner_hash,
    user_hash,
    length,
    term,
    frequency,
  ])
}

async function mend(database: Database, names: Names, faulty: readonly Checked[]): Promise<void> {
  for (const owner of new Set(faulty.map(({ memory }) => memory.place.owner))) {
    const theirs = faulty.filter(({ memory }) => memory.place.owner === owner)
    const numbers = theirs.map(({ number }) => number)
    await database.transaction(beginWithLocks([ownerLock(names, owner)]), (query) =>
      deriveAgain(query, names, numbers),
    )
  }
}

async function deriveAgain(query: Query, names: Names, numbers: readonly number[]): Promise<void> {
  const list = SHAPES.memory.columns.map(quoted).join(', ')
  const rows = await query<MemoryColumns>(
    `SELECT ${list} FROM ${names.memory} WHERE number = ANY ($1::bigint[])`,
    [numbers],
  )
  const memories = rows.map((row) => SHAPES.memory.fromColumns(row))
  const derived = memories.map((memory) => ({
    ...documentOf(memory),
    fingerprint: fingerprint(memory.content),
  }))
  await query(`DELETE FROM ${names.posting} WHERE memory = ANY ($1::bigint[])`, [numbers])
  await query(
    `UPDATE ${names.memory} AS m SET fingerprint = d.fingerprint, length = d.length
     FROM json_to_recordset($1) AS d(id text, fingerprint text, length integer)
     WHERE m.id = d.id`,
    [JSON.stringify(derived)],
  )
  await query(postingsOf(names, '$1', names.memory), [JSON.stringify(derived)])
}

function isOrphan(names: Names): string {
  return `NOT EXISTS (SELECT 1 FROM ${names.memory} AS m WHERE m.number = p.memory)`
}

async function countOrphans(query: Query, names: Names): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT count(*) FROM ${names.posting} AS p WHERE ${isOrphan(names)}`,
  )
  return row?.count ?? 0
}

async function ownersMiscounted(query: Query, names: Names): Promise<readonly string[]> {
  const rows = await query<{ owner: string }>(
    `SELECT owner_id AS owner FROM ${names.corpus} AS c FULL JOIN (
       SELECT owner_id, count(*) AS memories, sum(length) AS terms FROM ${names.memory}
       GROUP BY owner_id
     ) AS actual USING (owner_id)
     WHERE COALESCE(c.memories, 0) <> COALESCE(actual.memories, 0)
       OR COALESCE(c.terms, 0) <> COALESCE(actual.terms, 0)`,
  )
  return rows.map((row) => decoded(row.owner))
}

async function recount(database: Database, names: Names, owner: string): Promise<void> {
  await database.transaction(beginWithLocks([ownerLock(names, owner)]), async (query) => {
    await query(`DELETE FROM ${names.corpus} WHERE owner_id = $1`, [toStorable(owner)])
    await query(
      `INSERT INTO ${names.corpus} (owner_id, memories, terms)
       SELECT owner_id, count(*), sum(length) FROM ${names.memory} WHERE owner_id = $1
       GROUP BY owner_id`,
      [toStorable(owner)],
    )
  })
}
