/**
 * One commit: lock, read, plan, write. Each commit takes its owner's lock first, which serializes
 * the commits of one owner; several owners are locked in a global order, which prevents deadlocks.
 * The remaining race is two owners creating the same id at once: the loser retries and then sees
 * the conflicting row. A connection lost before COMMIT was sent leaves nothing, so the commit is
 * retried. One lost during COMMIT leaves the outcome unknown, so the server is queried until the
 * transaction has ended and its marker is found or not.
 */
import type { OwnerId } from '../../../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../../domain/limits.ts'
import { isKeyHolder, type MemoryStatus } from '../../../domain/memory.ts'
import type { DocumentType } from '../../../domain/search-document.ts'
import { sleep } from '../../../lib/abort.ts'
import { AppError } from '../../../lib/errors.ts'
import { withJitter } from '../../../lib/retry.ts'
import { toStorable } from '../../../text/storable-text.ts'
import { type Change, type CommitOutcome, mapTables, TABLES, type Table } from '../../store.ts'
import type { PostgresDatabase, QueryFunction } from '../connection/postgres-driver.ts'
import {
  isConnectionLost,
  isSerializationConflict,
  isUnknownTransaction,
} from '../connection/postgres-errors.ts'
import type { RowLevelSecurity } from '../connection/row-level-security.ts'
import { type SqlIdentifiers, toLockingBegin, toOwnerLocks } from '../schema/identifiers.ts'
import type { CommitMarker, CommitMarkers } from './commit-markers.ts'
import { type MemoryRowHead, planCommit, type RowHead, type RowHeads } from './commit-plan.ts'
import { applyCommitPlan, type StoredDocumentState } from './commit-writer.ts'
import { decodeText, type PlaceColumns, parseProvenance, readPlace } from './row-codec.ts'

/** Attempts per commit: writers conflict, and servers restart. */
const ATTEMPTS_MAX = 6
/**
 * The delay before the second attempt. It doubles each time, which gives a restarting server a
 * second or two.
 */
const FIRST_WAIT_MS = 40
/** How often the outcome of a commit is queried: for half a minute, enough for crash recovery. */
const QUESTIONS_MAX = 38

export async function applyCommit(
  { database, names, rowSecurity: fence, markers: marks }: CommitDependencies,
  changes: readonly Change[],
): Promise<CommitOutcome> {
  if (changes.length > COMMIT_CHANGES_MAX) {
    throw new RangeError(`A commit holds at most ${COMMIT_CHANGES_MAX} changes.`)
  }
  if (changes.length === 0) return { kind: 'committed' }
  const owners = [...collectOwners(changes)]
  const begin = toLockingBegin(toOwnerLocks(names, owners))
  const once = ({ statement }: CommitMarker) =>
    fence.runnerFor(database, 'everyone').transaction(begin, async (query, atEnd) => {
      // Reads across owners, because another owner may hold an id; writes stay within the given owners.
      const { heads, documents } = await readHeads(query, names, changes)
      const plan = planCommit(changes, heads)
      if (plan.kind === 'conflict') return plan
      await fence.restrictTransaction(query, owners)
      await applyCommitPlan(query, names, documents, plan)
      atEnd(statement)
      return COMMITTED
    })
  for (let attempt = 1; ; attempt++) {
    const mark = marks.create()
    try {
      return await once(mark)
    } catch (thrown) {
      if (await resolveCommitInDoubt({ database, markers: marks }, thrown, mark.id))
        return COMMITTED
      if (!isSerializationConflict(thrown) && !isConnectionLost(thrown)) throw thrown
      if (attempt === ATTEMPTS_MAX) throw createRetriesExhaustedError(thrown)
      await sleepWithJitter(FIRST_WAIT_MS * 2 ** (attempt - 1))
    }
  }
}

export type CommitDependencies = {
  readonly database: PostgresDatabase
  readonly names: SqlIdentifiers
  readonly rowSecurity: RowLevelSecurity
  readonly markers: CommitMarkers
}

const COMMITTED = { kind: 'committed' } as const

function createRetriesExhaustedError(thrown: AppError): AppError {
  const wasLost: boolean = isConnectionLost(thrown)
  if (wasLost) return thrown
  return new AppError(
    'busy',
    `The commit conflicted with other writers in ${ATTEMPTS_MAX} attempts. Try again later.`,
    thrown.facts,
    thrown,
  )
}

/**
 * Whether a commit succeeded although its response was lost. Queries the server until it knows: a
 * blind retry would conflict with itself or apply twice. Throws when the outcome cannot be
 * determined.
 */
export async function resolveCommitInDoubt(
  { database, markers: marks }: Pick<CommitDependencies, 'database' | 'markers'>,
  thrown: unknown,
  mark: string,
): Promise<boolean> {
  const transaction = thrown instanceof AppError ? thrown.facts.transaction : undefined
  if (transaction === undefined) return false
  let wasOver = false
  for (let question = 0; question < QUESTIONS_MAX; question++) {
    try {
      const isOver = await isTransactionOver(database, transaction)
      if (await marks.has(mark)) return true
      // Older servers report a transaction as ended shortly before its effects are visible, so the marker is read twice.
      if (isOver && wasOver) return false
      wasOver = isOver
    } catch (failure) {
      if (!isConnectionLost(failure)) throw thrown
    }
    await sleepWithJitter(FIRST_WAIT_MS * (question + 1))
  }
  throw thrown
}

/**
 * Whether a transaction can no longer commit. An id that the server has never assigned or no longer
 * knows belongs to a lost or very old transaction.
 */
async function isTransactionOver({ query }: Pick<PostgresDatabase, 'query'>, transaction: unknown) {
  try {
    const [row] = await query<{ status: string | null }>(
      'SELECT txid_status($1::bigint) AS status',
      [transaction],
    )
    return row?.status !== 'in progress'
  } catch (failure) {
    if (isUnknownTransaction(failure)) return true
    throw failure
  }
}

/** Jitter, so that conflicting writers do not meet again. */
async function sleepWithJitter(ms: number): Promise<void> {
  await sleep(withJitter(ms, Math.random(), 0.5))
}

/** The owners that changes refer to. */
export function collectOwners(changes: readonly Change[]): ReadonlySet<OwnerId> {
  return new Set(changes.map(ownerOf))
}

function ownerOf(change: Change): OwnerId {
  if (change.op !== 'put') return change.scope.owner
  return change.table === 'revision' ? change.row.memory.place.owner : change.row.place.owner
}

type HeadColumns = PlaceColumns & {
  table: Table
  type: DocumentType
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

type StoredHeads = {
  readonly heads: RowHeads
  /** Of memories and of turns, by id. */
  readonly documents: ReadonlyMap<string, StoredDocumentState>
}

/**
 * Every stored row that a commit might touch: the rows it names with the documents of its turns,
 * and those that hold a key it wants.
 */
async function readHeads(
  query: QueryFunction,
  names: SqlIdentifiers,
  changes: readonly Change[],
): Promise<StoredHeads> {
  const place = 'id, owner_id, user_id, session_id'
  const document = `SELECT 'memory' AS "table", ${place}, version, type, number, key, status, content,
      provenance, fingerprint, length FROM ${names.memory}`
  const beside = BESIDE_MEMORIES.map((table, index) => {
    const version = table === 'revision' ? '1' : 'version'
    return `UNION ALL SELECT '${table}', ${place}, ${version}, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
       FROM ${names[table]} WHERE id = ANY ($${index + 4}::text[])`
  })
  const rows = await query<HeadColumns>(
    `${document} WHERE id = ANY ($1::text[])
     UNION ALL ${document} WHERE owner_id = ANY ($2::text[]) AND key = ANY ($3::text[])
       AND key IS NOT NULL AND status IN ('active', 'disabled') AND NOT id = ANY ($1::text[])
     ${beside.join(' ')}`,
    listRequestedIds(changes).map((list) => [...list].map(toStorable)),
  )
  const heads = {
    ...mapTables(() => new Map<string, RowHead>()),
    memory: new Map<string, MemoryRowHead>(),
  }
  const documents = new Map<string, StoredDocumentState>()
  for (const row of rows) {
    const head = { id: decodeText(row.id), place: readPlace(row), version: row.version }
    if (row.table !== 'memory') {
      heads[row.table].set(head.id, head)
      continue
    }
    const { number, status, fingerprint, length } = row
    const key = decodeText(row.key)
    if (row.type !== 'turn') heads.memory.set(head.id, { ...head, key, status })
    documents.set(head.id, {
      ...{ owner: head.place.owner, key, number, fingerprint, length },
      content: decodeText(row.content),
      provenance: parseProvenance(row.provenance),
    })
  }
  return { heads, documents }
}

const BESIDE_MEMORIES = TABLES.filter((table) => table !== 'memory')

/** Document ids, then wanted owners and keys, then the ids of the other tables. */
function listRequestedIds(changes: readonly Change[]): readonly ReadonlySet<string>[] {
  const ids = mapTables(() => new Set<string>())
  const [owners, keys] = [new Set<string>(), new Set<string>()]
  for (const change of changes) {
    if (change.op === 'count') ids.memory.add(change.id)
    else ids[change.table].add(change.op === 'put' ? change.row.id : change.id)
    if (change.op === 'put' && change.table === 'memory' && isKeyHolder(change.row)) {
      owners.add(change.row.place.owner)
      if (change.row.key !== null) keys.add(change.row.key)
    }
  }
  return [
    new Set([...ids.memory, ...ids.turn]),
    owners,
    keys,
    ...BESIDE_MEMORIES.map((table) => ids[table]),
  ]
}
