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
import type { CachedDatabase } from '../cache/cached-database.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { indexDocument, unindexDocument } from '../search/lexical-search.ts'
import { CorpusDelta } from './corpus-statistics.ts'
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
  // Most of what is written are uses, and every question has to do with memories that were just of use to another.
  const uses = changes.filter((change) => change.op === 'count')
  const isUsesOnly = uses.length === changes.length
  if (!isUsesOnly) evictCached(database, changes)
  const outcome = write(database, changes)
  if (isUsesOnly) recordUses(database, uses)
  return outcome
}

function write(database: SqliteDatabase, changes: readonly Change[]): CommitOutcome {
  return database.runInTransaction((rollback): CommitOutcome => {
    const growth = new CorpusDelta()
    for (const change of changes) {
      if (change.op === 'count') {
        countUses(database, change)
        continue
      }
      const reason =
        change.op === 'put' ? put(database, change, growth) : address(database, change, growth)
      if (reason === null) continue
      rollback()
      const id = change.op === 'put' ? change.row.id : change.id
      return { kind: 'conflict', table: change.table, id, reason }
    }
    growth.write(database)
    return { kind: 'committed' }
  })
}

/** Drops cached documents that are about to be written. */
function evictCached(database: CachedDatabase, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.op === 'check') continue
    if (change.op !== 'count' && change.table !== 'memory' && change.table !== 'turn') continue
    const id = (change.op === 'put' ? change.row.id : change.id) as MemoryId // see `documentId`
    const owner = change.op === 'put' ? change.row.place.owner : change.scope.owner
    database.documentCache.evict(id)
    database.ownerCache.markStale(database.findOwnerNumber({ owner }), id)
  }
}

/** In what is at hand, once they are written. */
function recordUses(
  database: CachedDatabase,
  uses: readonly Extract<Change, { op: 'count' }>[],
): void {
  for (const use of uses) {
    database.documentCache.evict(use.id)
    database.ownerCache.recordUse(database.findOwnerNumber(use.scope), use)
  }
}

/** Removes a row or only checks it. */
function address(
  database: SqliteDatabase,
  change: Extract<Change, { op: 'remove' | 'check' }>,
  growth: CorpusDelta,
): ConflictReason | null {
  const row = existing(database, change.table, change.id)
  const reason = refusal(change.expect, row, change.scope)
  if (reason !== null || row === null || change.op === 'check') return reason
  if (change.table === 'memory') {
    removeDocument(database, row, growth)
    return null
  }
  database.run(`DELETE FROM ${change.table} WHERE id = ?`, [change.id])
  if (change.table === 'turn') {
    const document = findDocumentRow(database, toDocumentId(change.id))
    if (document !== null) removeDocument(database, document, growth)
  }
  return null
}

export function removeDocument(database: SqliteDatabase, row: SqlRow, growth: CorpusDelta): void {
  const [home, entry] = [readStoredPlace(row), readIndexEntry(row)]
  database.run('DELETE FROM memory WHERE id = ?', [row.id ?? null])
  unindexDocument(database, Number(row.number), renderIndexEntry(home, entry))
  growth.add(entry.kind, home, -1, -entry.count)
}

function put(
  database: SqliteDatabase,
  change: PutChange,
  growth: CorpusDelta,
): ConflictReason | null {
  const place = change.table === 'revision' ? change.row.memory.place : change.row.place
  const home = database.resolvePlace(place)
  // An insert is tried without looking first: a bulk import is nothing but inserts.
  if (change.expect === 'absent') return insert(database, change, home, growth)
  if (isRewritten(database, change, home)) return null
  const row = existing(database, change.table, change.row.id)
  const reason = refusal(change.expect, row, { owner: place.owner, user: place.user })
  if (reason !== null) return reason
  if (row === null) return insert(database, change, home, growth)
  if (change.table === 'memory') return updateDocument(database, change.row, home, row, growth)
  if (change.table === 'turn') return updateTurn(database, change.row, home, row, growth)
  update(database, change.table, valuesOf(change, home), row)
  return null
}

function insert(
  database: SqliteDatabase,
  change: PutChange,
  home: StoredPlace,
  growth: CorpusDelta,
): ConflictReason | null {
  if (change.table === 'memory') return insertDocument(database, change.row, home, growth)
  if (change.table === 'turn') return insertTurn(database, change.row, home, growth)
  const { changes } = database.run(INSERT[change.table], valuesOf(change, home))
  return changes === 0 ? 'exists' : null
}

export function insertDocument(
  database: SqliteDatabase,
  document: SearchDocument,
  home: StoredPlace,
  growth: CorpusDelta,
): ConflictReason | null {
  const entry = toIndexEntry(document)
  const values = toMemoryValues(document, home, entry)
  const { changes, lastInsertRowid } = database.run(INSERT.memory, values)
  if (changes === 0) return findDocumentRow(database, document.id) === null ? 'key' : 'exists'
  indexDocument(database, lastInsertRowid, renderIndexEntry(home, entry))
  growth.add(entry.kind, home, 1, entry.count)
  return null
}

export function updateDocument(
  database: SqliteDatabase,
  next: SearchDocument,
  home: StoredPlace,
  row: SqlRow,
  growth: CorpusDelta,
): ConflictReason | null {
  const known = readIndexEntry(row)
  const isIndexedAgain = hasSearchTextChanged(toDocument(row), next)
  const entry = isIndexedAgain ? toIndexEntry(next) : known
  const { changes } = update(database, 'memory', toMemoryValues(next, home, entry), row)
  if (changes === 0) return 'key'
  if (isIndexedAgain) {
    const number = Number(row.number)
    unindexDocument(database, number, renderIndexEntry(home, known))
    indexDocument(database, number, renderIndexEntry(home, entry))
    growth.add(entry.kind, home, 0, entry.count - known.count)
  }
  return null
}

function insertTurn(
  database: SqliteDatabase,
  turn: Turn,
  home: StoredPlace,
  growth: CorpusDelta,
): ConflictReason | null {
  const { changes } = database.run(INSERT.turn, toTurnValues(turn, home))
  if (changes === 0) return 'exists'
  return insertDocument(database, toTurnDocument(turn), home, growth)
}

function updateTurn(
  database: SqliteDatabase,
  next: Turn,
  home: StoredPlace,
  row: SqlRow,
  growth: CorpusDelta,
): ConflictReason | null {
  update(database, 'turn', toTurnValues(next, home), row)
  const document = toTurnDocument(next)
  const known = findDocumentRow(database, document.id)
  return known === null
    ? insertDocument(database, document, home, growth)
    : updateDocument(database, document, home, known, growth)
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

function existing(database: SqliteDatabase, table: Table, id: string): SqlRow | null {
  const [row] = database.all(
    `SELECT ${table}.*, place.owner, place.user
     FROM ${table} JOIN place ON place.number = ${table}.place_number
     WHERE ${table}.id = ?`,
    [id],
  )
  // The documents of turns stand among the memories and are none.
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
function isRewritten(database: SqliteDatabase, change: PutChange, home: StoredPlace): boolean {
  if (!isRewritable(change) || typeof change.expect === 'string') return false
  const { table, row, expect } = change
  const columns = COLUMNS[table]
  const values = valuesOf(change, home)
  const changing = values.filter((_, at) => !LASTING.has(columns[at] ?? ''))
  const { changes } = database.run(REWRITE[table], [
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
function update(database: SqliteDatabase, table: Table, values: readonly SqlValue[], row: SqlRow) {
  const columns = COLUMNS[table]
  const id = row.id ?? null
  const isInPlace = columns.every((name, at) => !LASTING.has(name) || values[at] === row[name])
  if (!isInPlace) return database.run(UPDATE[table], [...values, id])
  const changing = values.filter((_, at) => !LASTING.has(columns[at] ?? ''))
  return database.run(UPDATE_IN_PLACE[table], [...changing, id])
}

function statements(sql: (table: Table, columns: readonly string[]) => string) {
  return Object.fromEntries(TABLES.map((table) => [table, sql(table, COLUMNS[table])])) as {
    readonly [T in Table]: string // one for each of TABLES
  }
}
