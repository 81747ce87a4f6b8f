/**
 * Compares derived data (documents of turns, postings, fingerprints, word statistics) with the
 * memories and turns it is derived from. One statement sees one snapshot, so a row and its postings
 * are compared as written, even during concurrent writes. A repair reads the rows again under the
 * owner lock, since they may have changed meanwhile.
 */
import { toStorable } from '../../../text/storable-text.ts'
import type { IntegrityProblem } from '../../store.ts'
import type { QueryFunction, QueryRunner } from '../connection/postgres-driver.ts'
import { type SqlIdentifiers, toLockingBegin, toOwnerLock } from '../schema/identifiers.ts'
import {
  type DerivedColumns,
  type DocumentPostings,
  toIndexedDocument,
} from '../search/lexical-index.ts'
import { prepareTurnDocument } from '../store/commit-writer.ts'
import { ROW_CONDITION_BY_KIND } from '../store/document-kinds.ts'
import { decodeText, type MemoryColumns, ROW_CODECS, type TurnColumns } from '../store/row-codec.ts'
import {
  rebuildMemoryIndex,
  rebuildTurnIndex,
  recountCorpus,
  TURN_BATCH_SIZE,
} from './index-rebuild.ts'

type StoredPosting = readonly [
  ownerHash: string,
  userHash: number,
  length: number,
  term: string,
  frequency: number,
]

type RowCheck = {
  readonly number: number
  readonly owner: string
  readonly isUnsearchable: boolean
  readonly isMisprinted: boolean
}

type RebuildFunction = typeof rebuildMemoryIndex

const MEMORIES_AT_ONCE = 500

export async function checkStoreIntegrity(
  runner: QueryRunner,
  names: SqlIdentifiers,
  repair: boolean,
): Promise<readonly IntegrityProblem[]> {
  const { query } = runner
  const strays = await strayDocuments(query, names)
  const orphans = await countOrphans(query, names)
  const miscounted = await findMiscountedOwners(query, names)
  const mending = (derive: RebuildFunction) => (faulty: readonly RowCheck[]) =>
    repair ? repairIndex(runner, names, derive, faulty) : Promise.resolve()
  const memories = await inspectPages(checkedMemories(query, names), mending(rebuildMemoryIndex))
  const turns = await inspectPages(checkedTurns(query, names), mending(rebuildTurnIndex))
  if (repair) await removeRemains(runner, names)
  const faults = [
    {
      description: 'memories with missing or wrong keyword index entries',
      count: memories.unsearchable,
    },
    { description: 'memories with a wrong text fingerprint', count: memories.misprinted },
    { description: 'turns with missing or wrong search index entries', count: turns.unsearchable },
    { description: 'search documents of deleted turns', count: strays.documents },
    { description: 'index entries of deleted documents', count: orphans },
    { description: 'owners with wrong word statistics', count: miscounted.length },
  ]
  return faults.filter(({ count }) => count > 0).map((fault) => ({ ...fault, repairable: true }))
}

async function inspectPages(
  pages: AsyncGenerator<readonly RowCheck[]>,
  mendPage: (faulty: readonly RowCheck[]) => Promise<void>,
): Promise<{ readonly unsearchable: number; readonly misprinted: number }> {
  let [unsearchable, misprinted] = [0, 0]
  for await (const page of pages) {
    const faulty = page.filter((row) => row.isUnsearchable || row.isMisprinted)
    unsearchable += faulty.filter((row) => row.isUnsearchable).length
    misprinted += faulty.filter((row) => row.isMisprinted).length
    await mendPage(faulty)
  }
  return { unsearchable, misprinted }
}

async function* checkedMemories(
  query: QueryFunction,
  names: SqlIdentifiers,
): AsyncGenerator<readonly RowCheck[]> {
  type Row = MemoryColumns & DerivedColumns & { number: number; postings: readonly StoredPosting[] }
  for (let last = 0; ; ) {
    const rows = await query<Row>(
      `SELECT m.*, ${postingsOf(names, 'm.number')} AS postings
       FROM ${names.memory} AS m WHERE number > $1 AND ${ROW_CONDITION_BY_KIND.memory}
       ORDER BY number LIMIT ${MEMORIES_AT_ONCE}`,
      [last],
    )
    yield rows.map((row): RowCheck => {
      const memory = ROW_CODECS.memory.fromColumns(row)
      const { columns, terms } = toIndexedDocument(memory)
      return {
        ...{ number: row.number, owner: memory.place.owner },
        isUnsearchable: row.length !== columns.length || !isPosted(terms, row.postings),
        isMisprinted: row.fingerprint !== columns.fingerprint,
      }
    })
    last = rows.at(-1)?.number ?? last
    if (rows.length < MEMORIES_AT_ONCE) return
  }
}

async function* checkedTurns(
  query: QueryFunction,
  names: SqlIdentifiers,
): AsyncGenerator<readonly RowCheck[]> {
  type Row = TurnColumns & {
    number: number
    /** Null where none exists. */
    document: Readonly<Record<string, unknown>> | null
    postings: readonly StoredPosting[]
  }
  for (let last = 0; ; ) {
    const rows = await query<Row>(
      `SELECT t.*, ${postingsOf(names, '-t.number')} AS postings,
         (SELECT to_json(m) FROM ${names.memory} AS m
          WHERE m.id = t.id AND m.${ROW_CONDITION_BY_KIND.turn}) AS document
       FROM ${names.turn} AS t WHERE number > $1 ORDER BY number LIMIT ${TURN_BATCH_SIZE}`,
      [last],
    )
    yield rows.map((row): RowCheck => {
      const { turn, columns, terms } = prepareTurnDocument(ROW_CODECS.turn.fromColumns(row))
      const expected = Object.entries({ ...columns, number: -row.number })
      const isRight = expected.every(([column, value]) => row.document?.[column] === value)
      return {
        ...{ number: row.number, owner: turn.place.owner },
        isUnsearchable: !isRight || terms === null || !isPosted(terms, row.postings),
        isMisprinted: false,
      }
    })
    last = rows.at(-1)?.number ?? last
    if (rows.length < TURN_BATCH_SIZE) return
  }
}

/** A subquery that lists the postings of a number. */
function postingsOf({ posting }: SqlIdentifiers, number: string): string {
  return `COALESCE((SELECT json_agg(json_build_array(
      owner_hash::text, user_hash, p.length, term, frequency)) FROM ${posting} AS p
    WHERE p.memory = ${number}), '[]')`
}

function isPosted(
  { owner_hash, user_hash, length, frequencies }: DocumentPostings,
  postings: readonly StoredPosting[],
): boolean {
  const expected = new Set(
    [...frequencies].map(([term, frequency]) =>
      JSON.stringify([owner_hash, user_hash, length, term, frequency] satisfies StoredPosting),
    ),
  )
  return (
    postings.length === expected.size &&
    postings.every((posting) => expected.has(JSON.stringify(posting)))
  )
}

async function repairIndex(
  runner: QueryRunner,
  names: SqlIdentifiers,
  derive: RebuildFunction,
  faulty: readonly RowCheck[],
): Promise<void> {
  for (const owner of new Set(faulty.map((row) => row.owner))) {
    const numbers = faulty.filter((row) => row.owner === owner).map(({ number }) => number)
    await runner.transaction(toLockingBegin([toOwnerLock(names, owner)]), (query) =>
      derive(query, names, numbers),
    )
  }
}

/** Orphans and statistics come last, because repairing a row may change its number of terms. */
async function removeRemains(runner: QueryRunner, names: SqlIdentifiers): Promise<void> {
  const { query } = runner
  for (const owner of (await strayDocuments(query, names)).owners) {
    await runner.transaction(toLockingBegin([toOwnerLock(names, owner)]), (locked) =>
      locked(
        `DELETE FROM ${names.memory} AS m WHERE owner_id = $1 AND ${isOrphanDocument(names)}`,
        [toStorable(owner)],
      ),
    )
  }
  if ((await countOrphans(query, names)) > 0) {
    await runner.transaction(toLockingBegin([]), (alone) =>
      alone(`DELETE FROM ${names.posting} AS p WHERE ${isOrphan(names)}`),
    )
  }
  for (const owner of await findMiscountedOwners(query, names)) {
    await runner.transaction(toLockingBegin([toOwnerLock(names, owner)]), (locked) =>
      recountCorpus(locked, names, owner),
    )
  }
}

function isOrphanDocument({ turn }: SqlIdentifiers): string {
  return `m.${ROW_CONDITION_BY_KIND.turn} AND NOT EXISTS (SELECT 1 FROM ${turn} AS t WHERE t.id = m.id)`
}

async function strayDocuments(
  query: QueryFunction,
  names: SqlIdentifiers,
): Promise<{ readonly documents: number; readonly owners: readonly string[] }> {
  const rows = await query<{ owner: string; count: number }>(
    `SELECT owner_id AS owner, count(*) FROM ${names.memory} AS m WHERE ${isOrphanDocument(names)}
     GROUP BY owner_id`,
  )
  return {
    documents: rows.reduce((sum, { count }) => sum + count, 0),
    owners: rows.map(({ owner }) => decodeText(owner)),
  }
}

function isOrphan({ memory }: SqlIdentifiers): string {
  return `NOT EXISTS (SELECT 1 FROM ${memory} AS m WHERE m.number = p.memory)`
}

async function countOrphans(query: QueryFunction, names: SqlIdentifiers): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT count(*) FROM ${names.posting} AS p WHERE ${isOrphan(names)}`,
  )
  return row?.count ?? 0
}

async function findMiscountedOwners(
  query: QueryFunction,
  { corpus, memory }: SqlIdentifiers,
): Promise<readonly string[]> {
  const owners = await query<{ owner: string }>(
    `SELECT owner_id AS owner FROM ${corpus} AS c FULL JOIN (
       SELECT owner_id, count(*) AS documents, sum(length) AS terms FROM ${memory} GROUP BY owner_id
     ) AS actual USING (owner_id)
     WHERE COALESCE(c.documents, 0) <> COALESCE(actual.documents, 0)
       OR COALESCE(c.terms, 0) <> COALESCE(actual.terms, 0)`,
  )
  return owners.map((row) => decodeText(row.owner))
}
