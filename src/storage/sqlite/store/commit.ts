/**
 * Commits: changes applied in order inside one transaction, which is rolled back at the first conflict.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { covers, type Scope } from '../../../domain/scope.ts'
import { documentId, type SearchDocument, turnDocument } from '../../../domain/search-document.ts'
import { isReworded } from '../../../domain/searchable-text.ts'
import type { Turn } from '../../../domain/turn.ts'
import { refusalOf } from '../../row-expectation.ts'
import { type Change, type CommitOutcome, TABLES, type Table } from '../../store.ts'
import type { SqliteSession } from '../connection/sqlite-database.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { enter, takeOut } from '../search/lexical-search.ts'
import { Growth } from './corpus-statistics.ts'
import { ENTRY_COLUMNS, entryValues } from './entry-codec.ts'
import {
  entryFor,
  entryOf,
  entryText,
  type Home,
  homeOf,
  MEMORY_COLUMNS,
  memoryValues,
  REVISION_COLUMNS,
  revisionValues,
  TOMBSTONE_COLUMNS,
  toDocument,
  tombstoneValues,
  toPlace,
} from './row-codec.ts'
import { conjunction, within } from './sql-filters.ts'
import { TURN_COLUMNS, turnValues } from './turn-codec.ts'

type Refusal = 'version' | 'exists' | 'key'

type Put<T extends Table = Table> = Extract<Change, { op: 'put'; table: T }>

export function commit(session: SqliteSession, changes: readonly Change[]): CommitOutcome {
  if (changes.length === 0) return { kind: 'committed' }
  // Most of what is written are uses, and every question has to do with memories that were just of use to another.
  const uses = changes.filter((change) => change.op === 'count')
  const isUsesOnly = uses.length === changes.length
  if (!isUsesOnly) forgetKnown(session, changes)
  const outcome = write(session, changes)
  if (isUsesOnly) noteUses(session, uses)
  return outcome
}

function write(session: SqliteSession, changes: readonly Change[]): CommitOutcome {
  return session.transact((rollback): CommitOutcome => {
    const growth = new Growth()
    for (const change of changes) {
      if (change.op === 'count') {
        countUses(session, change)
        continue
      }
      const because =
        change.op === 'put' ? put(session, change, growth) : address(session, change, growth)
      if (because === null) continue
      rollback()
      const id = change.op === 'put' ? change.row.id : change.id
      return { kind: 'conflict', table: change.table, id, because }
    }
    growth.write(session)
    return { kind: 'committed' }
  })
}

/** Drops cached documents that are about to be written. */
function forgetKnown(session: SqliteSession, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.op === 'check') continue
    if (change.op !== 'count' && change.table !== 'memory' && change.table !== 'turn') continue
    const id = (change.op === 'put' ? change.row.id : change.id) as MemoryId // see `documentId`
    const owner = change.op === 'put' ? change.row.place.owner : change.scope.owner
    session.known.forget(id)
    session.resident.outdate(session.ownerNumber({ owner }), id)
  }
}

/** In what is at hand, once they are written. */
function noteUses(session: SqliteSession, uses: readonly Extract<Change, { op: 'count' }>[]): void {
  for (const use of uses) {
    session.known.forget(use.id)
    session.resident.noteUse(session.ownerNumber(use.scope), use)
  }
}

/** Removes a row or only checks it. */
function address(
  session: SqliteSession,
  change: Extract<Change, { op: 'remove' | 'check' }>,
  growth: Growth,
): Refusal | null {
  const row = existing(session, change.table, change.id)
  const because = refusal(change.expect, row, change.scope)
  if (because !== null || row === null || change.op === 'check') return because
  if (change.table === 'memory') {
    removeDocument(session, row, growth)
    return null
  }
  session.run(`DELETE FROM ${change.table} WHERE id = ?`, [change.id])
  if (change.table === 'turn') {
    const document = existingDocument(session, documentId(change.id))
    if (document !== null) removeDocument(session, document, growth)
  }
  return null
}

export function removeDocument(session: SqliteSession, row: SqlRow, growth: Growth): void {
  const [home, entry] = [homeOf(row), entryOf(row)]
  session.run('DELETE FROM memory WHERE id = ?', [row.id ?? null])
  takeOut(session, Number(row.number), entryText(home, entry))
  growth.add(entry.kind, home, -1, -entry.count)
}

function put(session: SqliteSession, change: Put, growth: Growth): Refusal | null {
  const place = change.table === 'revision' ? change.row.memory.place : change.row.place
  const home = session.homeFor(place)
  // An insert is tried without looking first: a bulk import is nothing but inserts.
  if (change.expect === 'absent') return insert(session, change, home, growth)
  if (change.table === 'entry' && isRewritten(session, change, home)) return null
  const row = existing(session, change.table, change.row.id)
  const because = refusal(change.expect, row, { owner: place.owner, user: place.user })
  if (because !== null) return because
  if (row === null) return insert(session, change, home, growth)
  if (change.table === 'memory') return updateDocument(session, change.row, home, row, growth)
  if (change.table === 'turn') return updateTurn(session, change.row, home, row, growth)
  update(session, change.table, valuesOf(change, home), row)
  return null
}

function insert(session: SqliteSession, change: Put, home: Home, growth: Growth): Refusal | null {
  if (change.table === 'memory') return insertDocument(session, change.row, home, growth)
  if (change.table === 'turn') return insertTurn(session, change.row, home, growth)
  const { changes } = session.run(INSERT[change.table], valuesOf(change, home))
  return changes === 0 ? 'exists' : null
}

export function insertDocument(
  session: SqliteSession,
  document: SearchDocument,
  home: Home,
  growth: Growth,
): Refusal | null {
  const entry = entryFor(document)
  const values = memoryValues(document, home, entry)
  const { changes, lastInsertRowid } = session.run(INSERT.memory, values)
  if (changes === 0) return existingDocument(session, document.id) === null ? 'key' : 'exists'
  enter(session, lastInsertRowid, entryText(home, entry))
  growth.add(entry.kind, home, 1, entry.count)
  return null
}

export function updateDocument(
  session: SqliteSession,
  next: SearchDocument,
  home: Home,
  row: SqlRow,
  growth: Growth,
): Refusal | null {
  session.resident.outdate(Number(row.owner_number), next.id) // it may have been another's
  const known = entryOf(row)
  const isIndexedAgain = isReworded(toDocument(row), next)
  const entry = isIndexedAgain ? entryFor(next) : known
  const { changes } = update(session, 'memory', memoryValues(next, home, entry), row)
  if (changes === 0) return 'key'
  if (isIndexedAgain) {
    const number = Number(row.number)
    takeOut(session, number, entryText(home, known))
    enter(session, number, entryText(home, entry))
    growth.add(entry.kind, home, 0, entry.count - known.count)
  }
  return null
}

function insertTurn(
  session: SqliteSession,
  turn: Turn,
  home: Home,
  growth: Growth,
): Refusal | null {
  const { changes } = session.run(INSERT.turn, turnValues(turn, home))
  if (changes === 0) return 'exists'
  return insertDocument(session, turnDocument(turn), home, growth)
}

function updateTurn(
  session: SqliteSession,
  next: Turn,
  home: Home,
  row: SqlRow,
  growth: Growth,
): Refusal | null {
  update(session, 'turn', turnValues(next, home), row)
  const document = turnDocument(next)
  const known = existingDocument(session, document.id)
  return known === null
    ? insertDocument(session, document, home, growth)
    : updateDocument(session, document, home, known, growth)
}

function countUses(session: SqliteSession, change: Extract<Change, { op: 'count' }>): void {
  const where = conjunction([
    { sql: 'memory.id = ?', values: [change.id] },
    ...within('memory', change.scope, session, []),
  ])
  session.run(
    `UPDATE memory SET use_count = use_count + ?, last_used_at = max(coalesce(last_used_at, ?), ?)
     WHERE ${where.sql}`,
    [change.uses, change.usedAt, change.usedAt, ...where.values],
  )
}

function existing(session: SqliteSession, table: Table, id: string): SqlRow | null {
  const [row] = session.all(
    `SELECT ${table}.*, place.owner, place.user
     FROM ${table} JOIN place ON place.number = ${table}.place_number
     WHERE ${table}.id = ?`,
    [id],
  )
  // The documents of turns stand among the memories and are none.
  return row === undefined || (table === 'memory' && row.type === 'turn') ? null : row
}

export function existingDocument(session: SqliteSession, id: MemoryId): SqlRow | null {
  const [row] = session.all(
    `SELECT memory.*, place.owner, place.user
     FROM memory JOIN place ON place.number = memory.place_number WHERE memory.id = ?`,
    [id],
  )
  return row ?? null
}

function refusal(expect: Put['expect'], row: SqlRow | null, scope: Scope): Refusal | null {
  return refusalOf(
    expect,
    row && { version: Number(row.version ?? 1), isCovered: covers(scope, toPlace(row)) },
  )
}

const COLUMNS: { readonly [T in Table]: readonly string[] } = {
  memory: MEMORY_COLUMNS,
  revision: REVISION_COLUMNS,
  tombstone: TOMBSTONE_COLUMNS,
  entry: ENTRY_COLUMNS,
  turn: TURN_COLUMNS,
}

function valuesOf(change: Exclude<Put, Put<'memory' | 'turn'>>, home: Home): readonly SqlValue[] {
  switch (change.table) {
    case 'revision':
      return revisionValues(change.row, home)
    case 'tombstone':
      return tombstoneValues(change.row, home)
    case 'entry':
      return entryValues(change.row, home)
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
const LASTING: ReadonlySet<string> = new Set(['id', 'owner_number', 'place_number', 'kind'])
const UPDATE_IN_PLACE = statements((table, columns) =>
  updating(
    table,
    columns.filter((column) => !LASTING.has(column)),
  ),
)

const REWRITE_ENTRY = `${UPDATE_IN_PLACE.entry} AND version = ? AND place_number = ? AND kind = ?`

function updating(table: Table, columns: readonly string[]): string {
  const set = columns.map((column) => `${column} = ${KEPT[column] ?? '?'}`)
  return `UPDATE OR IGNORE ${table} SET ${set.join(', ')} WHERE id = ?`
}

/** Without looking first, as it nearly always goes well: whether an entry was there as expected, and is written over. */
function isRewritten(session: SqliteSession, { row, expect }: Put<'entry'>, home: Home): boolean {
  if (typeof expect === 'string') return false
  const { changes } = session.run(REWRITE_ENTRY, [
    ...entryValues(row, home).filter((_, at) => !LASTING.has(ENTRY_COLUMNS[at] ?? '')),
    ...[row.id, expect.version, home.number, row.kind],
  ])
  return changes > 0
}

/** Writes values, in the order of the table's columns, over a row. */
function update(session: SqliteSession, table: Table, values: readonly SqlValue[], row: SqlRow) {
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
