/** Scopes and filters as SQL conditions. Values are always bound as parameters. */

import type { Scope } from '../../../domain/scope.ts'
import { toStorable } from '../../../text/storable-text.ts'
import { foldCase } from '../../../text/substring.ts'
import type {
  DocumentFilter,
  EntryFilter,
  JobFilter,
  RevisionFilter,
  SignalFilter,
  Table,
  Tables,
  TombstoneFilter,
  TurnFilter,
} from '../../store.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlValue } from '../connection/sqlite-driver.ts'
import { quoteFtsTerm, toFingerprintToken } from './row-codec.ts'

export type SqlCondition = {
  readonly sql: string
  readonly values: readonly SqlValue[]
  /** Whether an index finds the few matching rows: by this condition alone, or together with the owner. */
  readonly index?: 'alone' | 'with owner'
}

export function joinConditions(conditions: readonly SqlCondition[]): SqlCondition {
  return {
    sql: conditions.map((condition) => condition.sql).join(' AND ') || 'true',
    values: conditions.flatMap((condition) => condition.values),
  }
}

/** The number of no place: owners that were never written for have no rows. */
const NO_NUMBER = -1

/** Selects the rows of `table` in a scope. Rows hold owner and user as numbers. */
export function toScopeConditions(
  table: string,
  scope: Scope,
  database: SqliteDatabase,
  others: readonly SqlCondition[],
): readonly SqlCondition[] {
  const isFoundAlone = others.some(({ index }) => index === 'alone')
  const column = (name: string) =>
    isFoundAlone ? excludeFromIndex(`${table}.${name}`) : `${table}.${name}`
  const owner = condition(
    `${column('owner_number')} = ?`,
    database.findOwnerNumber(scope) ?? NO_NUMBER,
  )
  const user =
    scope.user === undefined
      ? []
      : [condition(`${column('place_number')} = ?`, database.findPlaceNumber(scope) ?? NO_NUMBER)]
  const inSession = isDefined(scope.session, (name) =>
    name === null
      ? condition(`${table}.session IS NULL`)
      : condition(`${table}.session = ?`, toStorable(name)),
  )
  return [owner, ...user, ...inSession]
}

/** The column to order a list by. Where an index finds few rows, SQLite must not scan all rows in order instead. */
export function toOrderColumn(column: string, conditions: readonly SqlCondition[]): string {
  return conditions.some(({ index }) => index !== undefined) ? excludeFromIndex(column) : column
}

/** A unary plus keeps SQLite from using an index on the column. It has no statistics to choose indexes well. */
function excludeFromIndex(column: string): string {
  return `+${column}`
}

export function toTableConditions<T extends Table>(
  table: T,
  where: Tables[T]['where'],
): readonly SqlCondition[] {
  return FILTERS[table](where)
}

const FILTERS: { readonly [T in Table]: (where: Tables[T]['where']) => readonly SqlCondition[] } = {
  memory: toDocumentConditions,
  revision: revisionConditions,
  tombstone: (where: TombstoneFilter) =>
    isDefined(where.ids, (ids) => isOneOf('tombstone.id', ids)),
  entry: entryConditions,
  turn: toTurnConditions,
  job: jobConditions,
  signal: signalConditions,
}

/** Documents of turns match only where `types` includes them. */
export function toDocumentConditions(where: DocumentFilter): readonly SqlCondition[] {
  return [
    ...isDefined(where.ids, (ids) => isOneOf('memory.id', ids)),
    ...isDefined(where.key, (key) => ({
      ...condition('memory.key = ?', toStorable(key)),
      index: 'with owner',
    })),
    ...isDefined(where.fingerprint, (value) =>
      // The full-text index finds fingerprints: an index of their own would slow down every write by a tenth.
      toIndexedCondition(
        `memory.number IN (SELECT rowid FROM memory_terms WHERE memory_terms MATCH ?)
         AND memory.fingerprint = ?`,
        quoteFtsTerm(toFingerprintToken(value)),
        value,
      ),
    ),
    ...isDefined(where.statuses, (values) => isOneOf('memory.status', values)),
    where.types === undefined ? MEMORY_CONDITION : isOneOf('memory.type', where.types),
    ...isDefined(where.categories, (values) => isOneOf('memory.category', values)),
    ...isDefined(where.trusts, (values) => isOneOf('memory.trust', values)),
    ...isDefined(where.hasConflict, (is) =>
      condition(`memory.conflicts_with IS ${is ? 'NOT NULL' : 'NULL'}`),
    ),
    ...isDefined(where.pinned, (pinned) => condition('memory.pinned = ?', pinned ? 1 : 0)),
    ...isDefined(where.change, (change) => toIndexedCondition('memory.change = ?', change)),
    ...isDefined(where.validAt, (at) =>
      condition(
        '(memory.expires_at IS NULL OR memory.expires_at > ?) AND (memory.valid_until IS NULL OR memory.valid_until > ?)',
        at,
        at,
      ),
    ),
    ...isDefined(where.expiredBy, (at) => condition('memory.expires_at <= ?', at)),
    ...isDefined(where.createdFrom, (at) => condition('memory.created_at >= ?', at)),
    ...isDefined(where.createdBefore, (at) => condition('memory.created_at < ?', at)),
    ...isDefined(where.importanceMin, (least) => condition('memory.importance >= ?', least)),
    // Compares JSON with JSON: `->` returns a JSON string, whatever text it holds.
    ...isDefined(where.sources, (values) =>
      isOneOf(
        "memory.provenance -> 'source'",
        values.map((value) => JSON.stringify(value)),
      ),
    ),
    // Last, because it reads the text of each row.
    ...isDefined(where.contains, (text) => {
      const wanted = toStorable(foldCase(text))
      return condition(
        '(holds_lowered(memory.content, ?) OR (memory.key IS NOT NULL AND holds_lowered(memory.key, ?)))',
        wanted,
        wanted,
      )
    }),
  ]
}

/** Excludes documents of turns. */
export const MEMORY_CONDITION: SqlCondition = condition("memory.type <> 'turn'")

function revisionConditions(where: RevisionFilter): readonly SqlCondition[] {
  return [
    ...isDefined(where.memories, (ids) => ({
      ...isOneOf('revision.memory', ids),
      index: 'alone',
    })),
    ...isDefined(where.madeBy, (change) => toIndexedCondition('revision.made_by = ?', change)),
    ...isDefined(where.replacedBy, (change) =>
      toIndexedCondition('revision.replaced_by = ?', change),
    ),
    ...isDefined(where.inForceAt, (at) =>
      condition('revision.recorded_at <= ? AND revision.replaced_at > ?', at, at),
    ),
  ]
}

function entryConditions(where: EntryFilter): readonly SqlCondition[] {
  return [
    ...isDefined(where.ids, (ids) => isOneOf('entry.id', ids)),
    ...isDefined(where.kinds, ([first, ...others]) =>
      // With a single kind, an index returns entries in the order of ids.
      first !== undefined && others.length === 0
        ? condition('entry.kind = ?', first)
        : isOneOf('entry.kind', where.kinds ?? []),
    ),
    ...isDefined(where.about, (owner) =>
      owner === null
        ? condition('entry.about IS NULL')
        : condition('entry.about = ?', toStorable(owner)),
    ),
    // Nearly all entries of a kind match a range of time: with an index by time, every page would have to sort them.
    ...isDefined(where.atFrom, (at) => condition(`${excludeFromIndex('entry.at')} >= ?`, at)),
    ...isDefined(where.atBefore, (at) => condition(`${excludeFromIndex('entry.at')} < ?`, at)),
    ...isDefined(where.expiredBy, (at) => toIndexedCondition('entry.expires_at <= ?', at)),
  ]
}

function jobConditions(where: JobFilter): readonly SqlCondition[] {
  return [
    ...isDefined(where.ids, (ids) => isOneOf('job.id', ids)),
    ...isDefined(where.kinds, (kinds) => isOneOf('job.kind', kinds)),
    ...isDefined(where.owner, (owner) => ({
      ...condition('job.for_owner IS ?', owner === null ? null : toStorable(owner)),
      index: 'with owner',
    })),
    ...isDefined(where.statuses, (statuses) => isOneOf('job.status', statuses)),
    // Few jobs are due, and the index by due time finds them.
    ...isDefined(where.dueFrom, (at) => toDueCondition('>=', at)),
    ...isDefined(where.dueBefore, (at) => toDueCondition('<', at)),
    ...isDefined(where.expiredBy, (at) => toIndexedCondition('job.expires_at <= ?', at)),
  ]
}

function toDueCondition(compared: '>=' | '<', at: number): SqlCondition {
  return { ...condition(`job.due_at ${compared} ?`, at), index: 'with owner' }
}

function signalConditions(where: SignalFilter): readonly SqlCondition[] {
  return [
    ...isDefined(where.ids, (ids) => isOneOf('signal.id', ids)),
    ...isDefined(where.statuses, ([first, ...others]) =>
      // With a single status, an index returns signals in the order of ids.
      first !== undefined && others.length === 0
        ? condition('signal.status = ?', first)
        : isOneOf('signal.status', where.statuses ?? []),
    ),
    ...isDefined(where.expiredBy, (at) => toIndexedCondition('signal.expires_at <= ?', at)),
  ]
}

export function toTurnConditions(where: TurnFilter): readonly SqlCondition[] {
  return [
    ...isDefined(where.ids, (ids) => isOneOf('turn.id', ids)),
    ...isDefined(where.saidFrom, (at) => condition('turn.said_at >= ?', at)),
    ...isDefined(where.saidBefore, (at) => condition('turn.said_at < ?', at)),
    ...isDefined(where.roles, (roles) => isOneOf('turn.role', roles)),
    ...isDefined(where.disabled, (disabled) => condition('turn.disabled = ?', disabled ? 1 : 0)),
  ]
}

function isDefined<Value>(
  value: Value | undefined,
  toCondition: (value: Value) => SqlCondition,
): readonly SqlCondition[] {
  return value === undefined ? [] : [toCondition(value)]
}

function toIndexedCondition(sql: string, ...values: readonly SqlValue[]): SqlCondition {
  return { sql, values, index: 'alone' }
}

function condition(sql: string, ...values: readonly SqlValue[]): SqlCondition {
  return { sql, values }
}

/** One JSON parameter instead of one per value, so that lists of any length share one prepared statement. */
function isOneOf(column: string, values: readonly string[]): SqlCondition {
  return {
    sql: `${column} IN (SELECT value FROM json_each(?))`,
    values: [JSON.stringify(values)],
  }
}
