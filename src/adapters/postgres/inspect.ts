/**
 * Compares what is derived (postings, fingerprints, word statistics) with the memories and turns it is derived from.
 *
 * One statement sees one state, so a row and its postings are compared as they were written, even while others
 * write. What is to be mended is read again under its owner's lock, since it may have changed meanwhile.
 */
import type { StoreFault } from '../../ports/store.ts'
import { deriveAgain, recount } from './derive.ts'
import type { Query, Runner } from './driver.ts'
import { beginWithLocks, type Names, ownerLock } from './names.ts'
import { decoded } from './rows.ts'
import {
  type Document,
  type IndexedTable,
  memoryIndex,
  type TextIndex,
  turnIndex,
} from './text-index.ts'

type Posting = readonly [
  ownerHash: string,
  userHash: number,
  length: number,
  term: string,
  frequency: number,
]

type Checked = {
  readonly number: number
  readonly owner: string
  readonly isUnsearchable: boolean
  readonly isMisprinted: boolean
}

type Counts = {
  readonly unsearchable: number
  readonly misprinted: number
  readonly orphans: number
  readonly miscounted: number
}

export async function inspect(
  runner: Runner,
  names: Names,
  repair: boolean,
): Promise<readonly StoreFault[]> {
  const memories = await inspectIndex(runner, names, memoryIndex(names), repair)
  const turns = await inspectIndex(runner, names, turnIndex(names), repair)
  const faults = [
    {
      what: 'memories that keyword search knows wrongly or not at all',
      count: memories.unsearchable,
    },
    { what: 'memories with the fingerprint of another text', count: memories.misprinted },
    { what: 'search entries of memories that are gone', count: memories.orphans },
    { what: 'owners whose word statistics are off', count: memories.miscounted },
    { what: 'turns that keyword search knows wrongly or not at all', count: turns.unsearchable },
    { what: 'search entries of turns that are gone', count: turns.orphans },
    { what: 'owners whose word statistics of turns are off', count: turns.miscounted },
  ]
  return faults.filter(({ count }) => count > 0).map((fault) => ({ ...fault, repairable: true }))
}

async function inspectIndex<T extends IndexedTable>(
  runner: Runner,
  names: Names,
  index: TextIndex<T>,
  repair: boolean,
): Promise<Counts> {
  const { query } = runner
  const orphans = await countOrphans(query, index)
  const miscounted = await ownersMiscounted(query, index)
  let [unsearchable, misprinted] = [0, 0]
  for await (const page of checkedPages(query, index)) {
    const faulty = page.filter((row) => row.isUnsearchable || row.isMisprinted)
    unsearchable += faulty.filter((row) => row.isUnsearchable).length
    misprinted += faulty.filter((row) => row.isMisprinted).length
    if (repair) await mend(runner, names, index, faulty)
  }
  if (repair) {
    if (orphans > 0) {
      await runner.transaction(beginWithLocks([]), (alone) =>
        alone(`DELETE FROM ${index.posting} AS p WHERE ${isOrphan(index)}`),
      )
    }
    // Again, because mending a row may have changed how many terms it has.
    for (const owner of await ownersMiscounted(query, index)) {
      await runner.transaction(beginWithLocks([ownerLock(names, owner)]), (locked) =>
        recount(locked, index, owner),
      )
    }
  }
  return { unsearchable, misprinted, orphans, miscounted: miscounted.length }
}

async function* checkedPages<T extends IndexedTable>(
  query: Query,
  index: TextIndex<T>,
): AsyncGenerator<readonly Checked[]> {
  let last = 0
  while (true) {
    const rows = await query<
      Parameters<typeof index.derive>[0] & {
        number: number
        fingerprint?: string
        length: number
        postings: Posting[]
      }
    >(
      `SELECT r.*, COALESCE(
         (SELECT json_agg(json_build_array(
            owner_hash::text, user_hash, p.length, term, frequency)) FROM ${index.posting} AS p
          WHERE p.${index.table} = r.number), '[]') AS postings
       FROM ${index.rows} AS r WHERE number > $1 ORDER BY number LIMIT ${index.pageRows}`,
      [last],
    )
    const page = rows.map((row): Checked => {
      const { place, document, columns } = index.derive(row)
      const expected = new Set(postingsIn(document).map((posting) => JSON.stringify(posting)))
      const isPosted =
        row.length === document.length &&
        row.postings.length === expected.size &&
        row.postings.every((posting) => expected.has(JSON.stringify(posting)))
      return {
        number: row.number,
        owner: place.owner,
        isUnsearchable: !isPosted,
        isMisprinted: row.fingerprint !== columns.fingerprint,
      }
    })
    yield page
    last = page.at(-1)?.number ?? last
    if (page.length < index.pageRows) return
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

async function mend<T extends IndexedTable>(
  runner: Runner,
  names: Names,
  index: TextIndex<T>,
  faulty: readonly Checked[],
): Promise<void> {
  for (const owner of new Set(faulty.map((row) => row.owner))) {
    const numbers = faulty.filter((row) => row.owner === owner).map(({ number }) => number)
    await runner.transaction(beginWithLocks([ownerLock(names, owner)]), (query) =>
      deriveAgain(query, index, numbers),
    )
  }
}

function isOrphan({ rows, table }: TextIndex): string {
  return `NOT EXISTS (SELECT 1 FROM ${rows} AS r WHERE r.number = p.${table})`
}

async function countOrphans(query: Query, index: TextIndex): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT count(*) FROM ${index.posting} AS p WHERE ${isOrphan(index)}`,
  )
  return row?.count ?? 0
}

async function ownersMiscounted(
  query: Query,
  { corpus, rows, documents }: TextIndex,
): Promise<readonly string[]> {
  const owners = await query<{ owner: string }>(
    `SELECT owner_id AS owner FROM ${corpus} AS c FULL JOIN (
       SELECT owner_id, count(*) AS ${documents}, sum(length) AS terms FROM ${rows} GROUP BY owner_id
     ) AS actual USING (owner_id)
     WHERE COALESCE(c.${documents}, 0) <> COALESCE(actual.${documents}, 0)
       OR COALESCE(c.terms, 0) <> COALESCE(actual.terms, 0)`,
  )
  return owners.map((row) => decoded(row.owner))
}
