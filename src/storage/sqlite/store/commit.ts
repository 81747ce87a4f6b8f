/**
 * Commits: changes applied in order inside one transaction, which is rolled back at the first conflict.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { isWithinScope, type Scope } from '../../../domain/scope.ts'
import {
  type SearchDocument,
  toDocumentId,
  toTurnDocument,
} from '../../../domain/search-document.ts'
import { hasSearchTextChanged } from '../../../domain/searchable-text.ts'
import type { Turn } from '../../../domain/turn.ts'
import { checkExpectation } from '../../row-expectation.ts'
import { type Change, type CommitOutcome, TABLES, type Table } from '../../store.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { indexDocument, unindexDocument } from '../search/lexical-search.ts'
import { CorpusDelta } from './corpus-statistics.ts'
import {
  ENTRY_COLUMNS,
  JOB_COLUMNS,
  SIGNAL_COLUMNS,
  toEntryValues,
  toJobValues,
  toSignalValues,
} from './entry-codec.ts'
import {
  MEMORY_COLUMNS,
  REVISION_COLUMNS,
  readIndexEntry,
  readPlace,
  readStoredPlace,
  renderIndexEntry,
  type StoredPlace,
  TOMBSTONE_COLUMNS,
  toDocument,
  toIndexEntry,
  toMemoryValues,
  toRevisionValues,
  toTombstoneValues,
} from './row-codec.ts'
import { joinConditions, toScopeConditions } from './sql-filters.ts'
import { TURN_COLUMNS, toTurnValues } from './turn-codec.ts'

type ConflictReason = 'version' | 'exists' | 'key'

type PutChange<T extends Table = Table> = Extract<Change, { op: 'put'; table: T }>

export function applyCommit(session: SqliteDatabase, changes: readonly Change[]): CommitOutcome {
  if (changes.length === 0) return { kind: 'committed' }
  // Most of what is written are uses, and every question has to do with memories that were just of use to another.
  const uses = changes.filter((change) => change.op === 'count')
  const isUsesOnly = uses.length === changes.length
  if (!isUsesOnly) evictCached(session, changes)
  const outcome = write(session, changes)
  if (isUsesOnly) recordUses(session, uses)
  return outcome
}

function write(session: SqliteDatabase, changes: readonly Change[]): CommitOutcome {
  return session.runInTransaction((rollback): CommitOutcome => {
    const growth = new CorpusDelta()
    for (const change of changes) {
      if (change.op === 'count') {
        countUses(session, change)
        continue
      }
      const reason =
        change.op === 'put' ? put(session, change, growth) : address(session, change, growth)
      if (reason === null) continue
      rollback()
      const id = change.op === 'put' ? change.row.id : change.id
      return { kind: 'conflict', table: change.table, id, reason }
    }
    growth.write(session)
    return { kind: 'committed' }
  })
}

/** Drops cached documents that are about to be written. */
function evictCached(session: SqliteDatabase, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.op === 'check') continue
    if (change.op !== 'count' && change.table !== 'memory' && change.table !== 'turn') continue
    const id = (change.op === 'put' ? change.row.id : change.id) as MemoryId // see `documentId`
    const owner = change.op === 'put' ? change.row.place.owner : change.scope.owner
    session.documentCache.evict(id)
    session.ownerCache.markStale(session.findOwnerNumber({ owner }), id)
  }
}

/** In what is at hand, once they are written. */
function recordUses(
  session: SqliteDatabase,
  uses: readonly Extract<Change, { op: 'count' }>[],
): void {
  for (const use of uses) {
    session.documentCache.evict(use.id)
    session.ownerCache.recordUse(session.findOwnerNumber(use.scope), use)
  }
}

/** Removes a row or only checks it. */
function address(
  session: SqliteDatabase,
  change: Extract<Change, { op: 'remove' | 'check' }>,
  growth: CorpusDelta,
): ConflictReason | null {
  const row = existing(session, change.table, change.id)
  const reason = refusal(change.expect, row, change.scope)
  if (reason !== null || row === null || change.op === 'check') return reason
  if (change.table === 'memory') {
    removeDocument(session, row, growth)
    return null
  }
  session.run(`DELETE FROM ${change.table} WHERE id = ?`, [change.id])
  if (change.table === 'turn') {
    const document = findDocumentRow(session, toDocumentId(change.id))
    if (document !== null) removeDocument(session, document, growth)
  }
  return null
}

export function removeDocument(session: SqliteDatabase, row: SqlRow, growth: CorpusDelta): void {
  const [home, entry] = [readStoredPlace(row), readIndexEntry(row)]
  session.run('DELETE FROM memory WHERE id = ?', [row.id ?? null])
  unindexDocument(session, Number(row.number), renderIndexEntry(home, entry))
  growth.add(entry.kind, home, -1, -entry.count)
}

function put(
  session: SqliteDatabase,
  change: PutChange,
  growth: CorpusDelta,
): ConflictReason | null {
  const place = change.table === 'revision' ? change.row.memory.place : change.row.place
  const home = session.resolvePlace(place)
  // An insert is tried without looking first: a bulk import is nothing but inserts.
  if (change.expect === 'absent') return insert(session, change, home, growth)
  if (isRewritten(session, change, home)) return null
  const row = existing(session, change.table, change.row.id)
  const reason = refusal(change.expect, row, { owner: place.owner, user: place.user })
  if (reason !== null) return reason
  if (row === null) return insert(session, change, home, growth)
  if (change.table === 'memory') return updateDocument(session, change.row, home, row, growth)
  if (change.table === 'turn') return updateTurn(session, change.row, home, row, growth)
  update(session, change.table, valuesOf(change, home), row)
  return null
}

function insert(
  session: SqliteDatabase,
  change: PutChange,
  home: StoredPlace,
  growth: CorpusDelta,
): ConflictReason | null {
  if (change.table === 'memory') return insertDocument(session, change.row, home, growth)
  if (change.table === 'turn') return insertTurn(session, change.row, home, growth)
  const { changes } = session.run(INSERT[change.table], valuesOf(change, home))
  return changes === 0 ? 'exists' : null
}

export function insertDocument(
  session: SqliteDatabase,
  document: SearchDocument,
  home: StoredPlace,
  growth: CorpusDelta,
): ConflictReason | null {
  const entry = toIndexEntry(document)
  const values = toMemoryValues(document, home, entry)
  const { changes, lastInsertRowid } = session.run(INSERT.memory, values)
  if (changes === 0) return findDocumentRow(session, document.id) === null ? 'key' : 'exists'
  indexDocument(session, lastInsertRowid, renderIndexEntry(home, entry))
  growth.add(entry.kind, home, 1, entry.count)
  return null
}

export function updateDocument(
  session: SqliteDatabase,
  next: SearchDocument,
  home: StoredPlace,
  row: SqlRow,
  growth: CorpusDelta,
): ConflictReason | null {
  session.ownerCache.markStale(Number(row.owner_number), next.id) // it may have been another's
  const known = readIndexEntry(row)
  const isIndexedAgain = hasSearchTextChanged(toDocument(row), next)
  const entry = isIndexedAgain ? toIndexEntry(next) : known
  const { changes } = update(session, 'memory', toMemoryValues(next, home, entry), row)
  if (changes === 0) return 'key'
  if (isIndexedAgain) {
    const number = Number(row.number)
    unindexDocument(session, number, renderIndexEntry(home, known))
    indexDocument(session, number, renderIndexEntry(home, entry))
    growth.add(entry.kind, home, 0, entry.count - known.count)
  }
  return null
}

function insertTurn(
  session: SqliteDatabase,
  turn: Turn,
  home: StoredPlace,
  growth: CorpusDelta,
): ConflictReason | null {
  const { changes } = session.run(INSERT.turn, toTurnValues(turn, home))
  if (changes === 0) return 'exists'
  return insertDocument(session, toTurnDocument(turn), home, growth)
}

function updateTurn(
  session: SqliteDatabase,
  next: Turn,
  home: StoredPlace,
  row: SqlRow,
  growth: CorpusDelta,
): ConflictReason | null {
  update(session, 'turn', toTurnValues(next, home), row)
  const document = toTurnDocument(next)
  const known = findDocumentRow(session, document.id)
  return known === null
    ? insertDocument(session, document, home, growth)
    : updateDocument(session, document, home, known, growth)
}

function countUses(session: SqliteDatabase, change: Extract<Change, { op: 'count' }>): void {
  const where = joinConditions([
    { sql: 'memory.id = ?', values: [change.id] },
    ...toScopeConditions('memory', change.scope, session, []),
  ])
  session.run(
    `UPDATE memory SET use_count = use_count + ?, last_used_at = max(coalesce(last_used_at, ?), ?)
     WHERE ${where.sql}`,
    [change.uses, change.usedAt, change.usedAt, ...where.values],
  )
}

function existing(session: SqliteDatabase, table: Table, id: string): SqlRow | null {
  const [row] = session.all(
    `SELECT ${table}.*, place.owner, place.user
     FROM ${table} JOIN place ON place.number = ${table}.place_number
     WHERE ${table}.id = ?`,
    [id],
  )
  // The documents of turns stand among the memories and are none.
  return row === undefined || (table === 'memory' && row.type === 'turn') ? null : row
}

export function findDocumentRow(session: SqliteDatabase, id: MemoryId): SqlRow | null {
  const [row] = session.all(
    `SELECT memory.*, place.owner, place.user
     FROM memory JOIN place ON place.number = memory.place_number WHERE memory.id = ?`,
    [id],
  )
  return row ?? null
}

function refusal(
  expect: PutChange['expect'],
  row: SqlRow | null,
  scope: Scope,
): ConflictReason | null {
  return checkExpectation(
    expect,
    row && { version: Number(row.version ?? 1), isCovered: isWithinScope(scope, readPlace(row)) },
  )
}

const COLUMNS: { readonly [T in Table]: readonly string[] } = {
  memory: MEMORY_COLUMNS,
  revision: REVISION_COLUMNS,
  tombstone: TOMBSTONE_COLUMNS,
  entry: ENTRY_COLUMNS,
  turn: TURN_COLUMNS,
  job: JOB_COLUMNS,
  signal: SIGNAL_COLUMNS,
}

function valuesOf(
  change: Exclude<PutChange, PutChange<'memory' | 'turn'>>,
  home: StoredPlace,
): readonly SqlValue[] {
  switch (change.table) {
    case 'revision':
      return toRevisionValues(change.row, home)
    case 'tombstone':
      return toTombstoneValues(change.row, home)
    case 'entry':
      return toEntryValues(change.row, home)
    case 'job':
      return toJobValues(change.row, home)
    case 'signal':
      return toSignalValues(change.row, home)
  }
}

/** Made once: a bulk import would otherwise spend a tenth of its time on joining column names. */
const INSERT = statements(
  (table, columns) => `INSERT INTO ${table} (${columns.join(', ')})
    VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
)

/** Uses may have been counted since the row was read; writing it back must not undo that. */
const KEPT: { readonly [column: string]: string } = {
  use_count: 'max(use_count, ?)',
  last_used_at: 'nullif(max(coalesce(last_used_at, -9e15), coalesce(?, -9e15)), -9e15)',
}

/** `OR IGNORE` turns a key that is taken into "nothing written", which `changes` tells. */
const UPDATE = statements((table, columns) => updating(table, columns))

/** What hardly ever changes begins most indexes. Those are written again when it is set, to whatever it is. */
const IDENTITY_COLUMNS = ['session', 'kind', 'key', 'for_owner']
const LASTING: ReadonlySet<string> = new Set([
  ...['id', 'owner_number', 'place_number'],
  ...IDENTITY_COLUMNS,
])
const UPDATE_IN_PLACE = statements((table, columns) =>
  updating(
    table,
    columns.filter((column) => !LASTING.has(column)),
  ),
)

function isIdentity(column: string): boolean {
  return IDENTITY_COLUMNS.includes(column)
}

/** Tables whose rows are rewritten in one statement when their version is as expected. */
const REWRITABLE = ['entry', 'job', 'signal'] as const
const REWRITE = statements((table, columns) =>
  [
    `${UPDATE_IN_PLACE[table]} AND version = ? AND place_number = ?`,
    ...columns.filter(isIdentity).map((column) => `${column} IS ?`),
  ].join(' AND '),
)

function updating(table: Table, columns: readonly string[]): string {
  const set = columns.map((column) => `${column} = ${KEPT[column] ?? '?'}`)
  return `UPDATE OR IGNORE ${table} SET ${set.join(', ')} WHERE id = ?`
}

/**
 * Whether a row was stored as expected, and is rewritten: nearly always, so reading it first would be a wasted statement.
 * What would move it in most indexes is compared, not written.
 */
function isRewritten(session: SqliteDatabase, change: PutChange, home: StoredPlace): boolean {
  if (!isRewritable(change) || typeof change.expect === 'string') return false
  const { table, row, expect } = change
  const columns = COLUMNS[table]
  const values = valuesOf(change, home)
  const changing = values.filter((_, at) => !LASTING.has(columns[at] ?? ''))
  const { changes } = session.run(REWRITE[table], [
    ...changing,
    ...[row.id, expect.version, home.number],
    ...columns.flatMap((column, at) => (isIdentity(column) ? [values[at] ?? null] : [])),
  ])
  return changes > 0
}

function isRewritable(change: PutChange): change is PutChange<(typeof REWRITABLE)[number]> {
  return REWRITABLE.some((table) => table === change.table)
}

/** Writes values, in the order of the table's columns, over a row. */
function update(session: SqliteDatabase, table: Table, values: readonly SqlValue[], row: SqlRow) {
  const columns = COLUMNS[table]
  const id = row.id ?? null
  const isInPlace = columns.every((name, at) => !LASTING.has(name) || values[at] === row[name])
  if (!isInPlace) return session.run(UPDATE[table], [...values, id])
  const changing = values.filter((_, at) => !LASTING.has(columns[at] ?? ''))
  return session.run(UPDATE_IN_PLACE[table], [...changing, id])
}

function statements(sql: (table: Table, columns: readonly string[]) => string) {
  return Object.fromEntries(TABLES.map((table) => [table, sql(table, COLUMNS[table])])) as {
    readonly [T in Table]: string // one for each of TABLES
  }
}
