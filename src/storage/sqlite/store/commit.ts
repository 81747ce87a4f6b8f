/** Applies changes in order inside one transaction, which is rolled back at the first conflict. */
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
import type { CachedDatabase } from '../cache/cached-database.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { indexDocument, unindexDocument } from '../search/lexical-search.ts'
import { CorpusDelta } from './corpus-statistics.ts'
import { eraseUnusedPlaces } from './place-names.ts'
import {
  ENTRY_COLUMNS,
  JOB_COLUMNS,
  MEMORY_COLUMNS,
  REVISION_COLUMNS,
  readIndexEntry,
  readPlace,
  readStoredPlace,
  renderIndexEntry,
  SIGNAL_COLUMNS,
  type StoredPlace,
  TOMBSTONE_COLUMNS,
  TURN_COLUMNS,
  toDocument,
  toEntryValues,
  toIndexEntry,
  toJobValues,
  toMemoryValues,
  toRevisionValues,
  toSignalValues,
  toTombstoneValues,
  toTurnValues,
} from './row-codec.ts'
import { joinConditions, toScopeConditions } from './sql-filters.ts'

type ConflictReason = 'version' | 'exists' | 'key'

type PutChange<T extends Table = Table> = Extract<Change, { op: 'put'; table: T }>

export function applyCommit(database: CachedDatabase, changes: readonly Change[]): CommitOutcome {
  if (changes.length === 0) return { kind: 'committed' }
  // Most commits only count uses, often of memories that the next query finds again: their cached copies are updated.
  const uses = changes.filter((change) => change.op === 'count')
  const isUsesOnly = uses.length === changes.length
  if (!isUsesOnly) invalidateCached(database, changes)
  const outcome = write(database, changes)
  if (isUsesOnly) recordUses(database, uses)
  return outcome
}

function write(database: SqliteDatabase, changes: readonly Change[]): CommitOutcome {
  return database.runInTransaction((rollback): CommitOutcome => {
    const corpusDelta = new CorpusDelta()
    const removedPlaces = new Set<number>()
    for (const change of changes) {
      if (change.op === 'count') {
        countUses(database, change)
        continue
      }
      const reason =
        change.op === 'put'
          ? put(database, change, corpusDelta)
          : removeOrCheck(database, change, corpusDelta, removedPlaces)
      if (reason === null) continue
      rollback()
      const id = change.op === 'put' ? change.row.id : change.id
      return { kind: 'conflict', table: change.table, id, reason }
    }
    corpusDelta.write(database)
    eraseUnusedPlaces(database, removedPlaces)
    return { kind: 'committed' }
  })
}

/** Invalidates cached documents before they are written. */
function invalidateCached(database: CachedDatabase, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.op === 'check') continue
    if (change.op !== 'count' && change.table !== 'memory' && change.table !== 'turn') continue
    const id = (change.op === 'put' ? change.row.id : change.id) as MemoryId // see `toDocumentId`
    const owner = change.op === 'put' ? change.row.place.owner : change.scope.owner
    database.documentCache.evict(id)
    database.ownerCache.markStale(database.findOwnerNumber({ owner }), id)
  }
}

/** Updates cached documents after their uses were written. */
function recordUses(
  database: CachedDatabase,
  uses: readonly Extract<Change, { op: 'count' }>[],
): void {
  for (const use of uses) {
    database.documentCache.evict(use.id)
    database.ownerCache.recordUse(database.findOwnerNumber(use.scope), use)
  }
}

/** Removes a row, or only checks it. */
function removeOrCheck(
  database: SqliteDatabase,
  change: Extract<Change, { op: 'remove' | 'check' }>,
  corpusDelta: CorpusDelta,
  removedPlaces: Set<number>,
): ConflictReason | null {
  const row = readRow(database, change.table, change.id)
  const reason = checkRow(change.expect, row, change.scope)
  if (reason !== null || row === null || change.op === 'check') return reason
  removedPlaces.add(Number(row.place_number))
  if (change.table === 'memory') {
    removeDocument(database, row, corpusDelta)
    return null
  }
  database.run(`DELETE FROM ${change.table} WHERE id = ?`, [change.id])
  if (change.table === 'turn') {
    const document = findDocumentRow(database, toDocumentId(change.id))
    if (document !== null) removeDocument(database, document, corpusDelta)
  }
  return null
}

export function removeDocument(
  database: SqliteDatabase,
  row: SqlRow,
  corpusDelta: CorpusDelta,
): void {
  const [place, entry] = [readStoredPlace(row), readIndexEntry(row)]
  database.run('DELETE FROM memory WHERE id = ?', [row.id ?? null])
  unindexDocument(database, Number(row.number), renderIndexEntry(place, entry))
  corpusDelta.add(entry.kind, place, -1, -entry.count)
}

function put(
  database: SqliteDatabase,
  change: PutChange,
  corpusDelta: CorpusDelta,
): ConflictReason | null {
  const { owner, user } = change.table === 'revision' ? change.row.memory.place : change.row.place
  const place = database.resolvePlace({ owner, user, session: null })
  // Inserts without reading first: a bulk import is nothing but inserts.
  if (change.expect === 'absent') return insert(database, change, place, corpusDelta)
  if (tryRewrite(database, change, place)) return null
  const row = readRow(database, change.table, change.row.id)
  const reason = checkRow(change.expect, row, { owner, user })
  if (reason !== null) return reason
  if (row === null) return insert(database, change, place, corpusDelta)
  if (change.table === 'memory')
    return updateDocument(database, change.row, place, row, corpusDelta)
  if (change.table === 'turn') return updateTurn(database, change.row, place, row, corpusDelta)
  update(database, change.table, toValues(change, place), row)
  return null
}

function insert(
  database: SqliteDatabase,
  change: PutChange,
  place: StoredPlace,
  corpusDelta: CorpusDelta,
): ConflictReason | null {
  if (change.table === 'memory') return insertDocument(database, change.row, place, corpusDelta)
  if (change.table === 'turn') return insertTurn(database, change.row, place, corpusDelta)
  const { changes } = database.run(INSERT[change.table], toValues(change, place))
  return changes === 0 ? 'exists' : null
}

export function insertDocument(
  database: SqliteDatabase,
  document: SearchDocument,
  place: StoredPlace,
  corpusDelta: CorpusDelta,
): ConflictReason | null {
  const entry = toIndexEntry(document)
  const values = toMemoryValues(document, place, entry)
  const { changes, lastInsertRowid } = database.run(INSERT.memory, values)
  if (changes === 0) return findDocumentRow(database, document.id) === null ? 'key' : 'exists'
  indexDocument(database, lastInsertRowid, renderIndexEntry(place, entry))
  corpusDelta.add(entry.kind, place, 1, entry.count)
  return null
}

export function updateDocument(
  database: SqliteDatabase,
  next: SearchDocument,
  place: StoredPlace,
  row: SqlRow,
  corpusDelta: CorpusDelta,
): ConflictReason | null {
  const known = readIndexEntry(row)
  const isReindexed = hasSearchTextChanged(toDocument(row), next)
  const entry = isReindexed ? toIndexEntry(next) : known
  const { changes } = update(database, 'memory', toMemoryValues(next, place, entry), row)
  if (changes === 0) return 'key'
  if (isReindexed) {
    const number = Number(row.number)
    unindexDocument(database, number, renderIndexEntry(place, known))
    indexDocument(database, number, renderIndexEntry(place, entry))
    corpusDelta.add(entry.kind, place, 0, entry.count - known.count)
  }
  return null
}

function insertTurn(
  database: SqliteDatabase,
  turn: Turn,
  place: StoredPlace,
  corpusDelta: CorpusDelta,
): ConflictReason | null {
  const { changes } = database.run(INSERT.turn, toTurnValues(turn, place))
  if (changes === 0) return 'exists'
  return insertDocument(database, toTurnDocument(turn), place, corpusDelta)
}

function updateTurn(
  database: SqliteDatabase,
  next: Turn,
  place: StoredPlace,
  row: SqlRow,
  corpusDelta: CorpusDelta,
): ConflictReason | null {
  update(database, 'turn', toTurnValues(next, place), row)
  const document = toTurnDocument(next)
  const known = findDocumentRow(database, document.id)
  return known === null
    ? insertDocument(database, document, place, corpusDelta)
    : updateDocument(database, document, place, known, corpusDelta)
}

function countUses(database: SqliteDatabase, change: Extract<Change, { op: 'count' }>): void {
  const where = joinConditions([
    { sql: 'memory.id = ?', values: [change.id] },
    ...toScopeConditions('memory', change.scope, database, []),
  ])
  database.run(
    `UPDATE memory SET use_count = use_count + ?, last_used_at = max(coalesce(last_used_at, ?), ?)
     WHERE ${where.sql}`,
    [change.uses, change.usedAt, change.usedAt, ...where.values],
  )
}

function readRow(database: SqliteDatabase, table: Table, id: string): SqlRow | null {
  const [row] = database.all(
    `SELECT ${table}.*, place.owner, place.user
     FROM ${table} JOIN place ON place.number = ${table}.place_number
     WHERE ${table}.id = ?`,
    [id],
  )
  // Documents of turns are stored among the memories.
  return row === undefined || (table === 'memory' && row.type === 'turn') ? null : row
}

export function findDocumentRow(database: SqliteDatabase, id: MemoryId): SqlRow | null {
  const [row] = database.all(
    `SELECT memory.*, place.owner, place.user
     FROM memory JOIN place ON place.number = memory.place_number WHERE memory.id = ?`,
    [id],
  )
  return row ?? null
}

function checkRow(
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

function toValues(
  change: Exclude<PutChange, PutChange<'memory' | 'turn'>>,
  place: StoredPlace,
): readonly SqlValue[] {
  switch (change.table) {
    case 'revision':
      return toRevisionValues(change.row, place)
    case 'tombstone':
      return toTombstoneValues(change.row, place)
    case 'entry':
      return toEntryValues(change.row, place)
    case 'job':
      return toJobValues(change.row, place)
    case 'signal':
      return toSignalValues(change.row, place)
  }
}

/** Built once: a bulk import would otherwise spend a tenth of its time on joining column names. */
const INSERT = buildStatements(
  (table, columns) => `INSERT INTO ${table} (${columns.join(', ')})
    VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
)

/** Uses may have been counted since the row was read: writing it back must not lower them. */
const MERGED_COLUMNS: { readonly [column: string]: string } = {
  use_count: 'max(use_count, ?)',
  last_used_at: 'nullif(max(coalesce(last_used_at, -9e15), coalesce(?, -9e15)), -9e15)',
}

/** `OR IGNORE` turns a taken key into zero `changes`. */
const UPDATE = buildStatements(toUpdateSql)

/** Columns that rarely change lead most indexes. SQLite rewrites an index whenever its columns are set, to any value. */
const IDENTITY_COLUMNS = ['session', 'kind', 'key', 'for_owner']
const LASTING: ReadonlySet<string> = new Set([
  ...['id', 'owner_number', 'place_number'],
  ...IDENTITY_COLUMNS,
])
const UPDATE_IN_PLACE = buildStatements((table, columns) =>
  toUpdateSql(
    table,
    columns.filter((column) => !LASTING.has(column)),
  ),
)

function isIdentity(column: string): boolean {
  return IDENTITY_COLUMNS.includes(column)
}

/** Tables whose rows are rewritten in one statement when their version is as expected. */
const REWRITABLE = ['entry', 'job', 'signal'] as const
const REWRITE = buildStatements((table, columns) =>
  [
    `${UPDATE_IN_PLACE[table]} AND version = ? AND place_number = ?`,
    ...columns.filter(isIdentity).map((column) => `${column} IS ?`),
  ].join(' AND '),
)

function toUpdateSql(table: Table, columns: readonly string[]): string {
  const set = columns.map((column) => `${column} = ${MERGED_COLUMNS[column] ?? '?'}`)
  return `UPDATE OR IGNORE ${table} SET ${set.join(', ')} WHERE id = ?`
}

/**
 * Rewrites a row in one statement if its version is the expected one and its identity is unchanged. That is nearly always
 * so, which saves reading the row first.
 */
function tryRewrite(database: SqliteDatabase, change: PutChange, place: StoredPlace): boolean {
  if (!isRewritable(change) || typeof change.expect === 'string') return false
  const { table, row, expect } = change
  const columns = COLUMNS[table]
  const values = toValues(change, place)
  const changing = values.filter((_, at) => !LASTING.has(columns[at] ?? ''))
  const { changes } = database.run(REWRITE[table], [
    ...changing,
    ...[row.id, expect.version, place.number],
    ...columns.flatMap((column, at) => (isIdentity(column) ? [values[at] ?? null] : [])),
  ])
  return changes > 0
}

function isRewritable(change: PutChange): change is PutChange<(typeof REWRITABLE)[number]> {
  return REWRITABLE.some((table) => table === change.table)
}

/** Overwrites a row with values in the order of the table's columns. */
function update(database: SqliteDatabase, table: Table, values: readonly SqlValue[], row: SqlRow) {
  const columns = COLUMNS[table]
  const id = row.id ?? null
  const isInPlace = columns.every((name, at) => !LASTING.has(name) || values[at] === row[name])
  if (!isInPlace) return database.run(UPDATE[table], [...values, id])
  const changing = values.filter((_, at) => !LASTING.has(columns[at] ?? ''))
  return database.run(UPDATE_IN_PLACE[table], [...changing, id])
}

function buildStatements(sql: (table: Table, columns: readonly string[]) => string) {
  return Object.fromEntries(TABLES.map((table) => [table, sql(table, COLUMNS[table])])) as {
    readonly [T in Table]: string // one per table
  }
}
