/**
 * One commit: lock, look, decide, write.
 *
 * Commits of one owner follow one another, because each takes the owner's lock first; several owners are locked in
 * one order, so no two commits ever wait for each other. What is left to go wrong is two owners creating the same
 * id at once: the loser starts over, and then sees the row that was in its way.
 */
import { AppError } from '../../core/errors.ts'
import { COMMIT_CHANGES_MAX } from '../../core/limits.ts'
import { holdsKey, type MemoryStatus } from '../../core/memory.ts'
import { toStorable } from '../../core/storable-text.ts'
import {
  type Change,
  type CommitOutcome,
  forEachTable,
  TABLES,
  type Table,
} from '../../ports/store.ts'
import type { Database, Query } from './driver.ts'
import { beginWithLocks, type Names, ownerLocks } from './names.ts'
import { type Head, type Heads, type IndexedHead, type MemoryHead, planCommit } from './plan.ts'
import { decoded, type PlaceColumns, parseProvenance, placeFromColumns } from './rows.ts'
import { write } from './write.ts'

const ATTEMPTS_MAX = 5
/** Serialisation failure, deadlock, and a row that was not there when this commit looked. */
const WORTH_ANOTHER_TRY = new Set(['40001', '40P01', '23505'])

export async function commit(
  database: Database,
  names: Names,
  changes: readonly Change[],
): Promise<CommitOutcome> {
  if (changes.length > COMMIT_CHANGES_MAX) {
    throw new RangeError(`A commit holds at most ${COMMIT_CHANGES_MAX} changes.`)
  }
  if (changes.length === 0) return { kind: 'committed' }
  const begin = beginWithLocks(ownerLocks(names, changes.map(ownerOf)))
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction(begin, (query) => commitOnce(query, names, changes))
    } catch (thrown) {
      const isTransient =
        thrown instanceof AppError && WORTH_ANOTHER_TRY.has(String(thrown.facts.sqlState))
      if (!isTransient) throw thrown
      if (attempt === ATTEMPTS_MAX) {
        throw new AppError(
          'busy',
          `Other writers kept getting in the way of a commit; it was tried ${ATTEMPTS_MAX} times. Try again later.`,
          thrown.facts,
          thrown,
        )
      }
    }
  }
}

async function commitOnce(
  query: Query,
  names: Names,
  changes: readonly Change[],
): Promise<CommitOutcome> {
  const heads = await readHeads(query, names, changes)
  const plan = planCommit(changes, heads)
  if (plan.kind === 'conflict') return plan
  await write(query, names, heads, plan)
  return { kind: 'committed' }
}

function ownerOf(change: Change): string {
  if (change.op !== 'put') return change.scope.owner
  return change.table === 'revision' ? change.row.memory.place.owner : change.row.place.owner
}

type HeadColumns = PlaceColumns & {
  table: Table
  id: string
  version: number
  number: number
  key: string | null
  status: MemoryStatus
  content: string
  provenance: string
  fingerprint: string
  length: number
}

/** Everything stored that a commit might meet: the rows it names, and those that hold a key it wants. */
async function readHeads(query: Query, names: Names, changes: readonly Change[]): Promise<Heads> {
  const place = 'id, owner_id, user_id, session_id'
  const memory = `SELECT 'memory' AS "table", ${place}, version, number, key, status, content,
      provenance, fingerprint, length FROM ${names.memory}`
  const beside = BESIDE_MEMORIES.map((table, index) => {
    const version = table === 'revision' ? '1' : 'version'
    const [number, length] = table === 'turn' ? ['number', 'length'] : ['NULL', 'NULL']
    return `UNION ALL SELECT '${table}', ${place}, ${version}, ${number}, NULL, NULL, NULL, NULL, NULL, ${length}
       FROM ${names[table]} WHERE id = ANY ($${index + 4}::text[])`
  })
  const rows = await query<HeadColumns>(
    `${memory} WHERE id = ANY ($1::text[])
     UNION ALL ${memory} WHERE owner_id = ANY ($2::text[]) AND key = ANY ($3::text[])
       AND key IS NOT NULL AND status IN ('active', 'disabled') AND NOT id = ANY ($1::text[])
     ${beside.join(' ')}`,
    sought(changes).map((list) => [...list].map(toStorable)),
  )
  const heads = {
    ...forEachTable(() => new Map<string, Head>()),
    memory: new Map<string, MemoryHead>(),
    turn: new Map<string, IndexedHead>(),
  }
  for (const row of rows) {
    const head = { id: decoded(row.id), place: placeFromColumns(row), version: row.version }
    if (row.table === 'memory') {
      const { number, status, fingerprint, length } = row
      heads.memory.set(head.id, {
        ...head,
        key: decoded(row.key),
        content: decoded(row.content),
        provenance: parseProvenance(row.provenance),
        number,
        status,
        fingerprint,
        length,
      })
    } else if (row.table === 'turn') {
      heads.turn.set(head.id, { ...head, number: row.number, length: row.length })
    } else heads[row.table].set(head.id, head)
  }
  return heads
}

const BESIDE_MEMORIES = TABLES.filter((table) => table !== 'memory')

/** Memory ids, then owners and keys that are wanted, then the ids of the other tables. */
function sought(changes: readonly Change[]): readonly ReadonlySet<string>[] {
  const ids = forEachTable(() => new Set<string>())
  const [owners, keys] = [new Set<string>(), new Set<string>()]
  for (const change of changes) {
    if (change.op === 'count') ids.memory.add(change.id)
    else ids[change.table].add(change.op === 'put' ? change.row.id : change.id)
    if (change.op === 'put' && change.table === 'memory' && holdsKey(change.row)) {
      owners.add(change.row.place.owner)
      if (change.row.key !== null) keys.add(change.row.key)
    }
  }
  return [ids.memory, owners, keys, ...BESIDE_MEMORIES.map((table) => ids[table])]
}
