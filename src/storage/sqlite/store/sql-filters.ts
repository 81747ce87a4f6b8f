/** Scopes and filters as SQL conditions. Values only ever travel as parameters. */

import type { Scope } from '../../../domain/scope.ts'
import { toStorable } from '../../../text/storable-text.ts'
import { lowered } from '../../../text/substring.ts'
import type {
  DocumentFilter,
  EntryFilter,
  RevisionFilter,
  Table,
  Tables,
  TombstoneFilter,
  TurnFilter,
} from '../../store.ts'
import type { SqliteSession } from '../connection/sqlite-database.ts'
import type { SqlValue } from '../connection/sqlite-driver.ts'
import { fingerprintToken, quoted } from './row-codec.ts'

export type Condition = {
  readonly sql: string
  readonly values: readonly SqlValue[]
  /** An index that finds the few rows that meet it: by itself, or together with the owner. */
  readonly index?: 'alone' | 'with owner'
}

export function conjunction(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map((condition) => condition.sql).join(' AND ') || 'true',
    values: conditions.flatMap((condition) => condition.values),
  }
}

/** A number that no place has: whoever was never written for has no rows. */
const NOWHERE = -1

/** Rows of `table` that the scope covers. The user goes by number: numbers are what rows hold. */
export function within(
  table: string,
  scope: Scope,
  session: SqliteSession,
  others: readonly Condition[],
): readonly Condition[] {
  const isFoundAlone = others.some(({ index }) => index === 'alone')
  const column = (name: string) =>
    isFoundAlone ? notByIndex(`${table}.${name}`) : `${table}.${name}`
  const owner = condition(`${column('owner_number')} = ?`, session.ownerNumber(scope) ?? NOWHERE)
  const user =
    scope.user === undefined
      ? []
      : [condition(`${column('place_number')} = ?`, session.placeNumber(scope) ?? NOWHERE)]
  const inSession = given(scope.session, (name) =>
    name === null
      ? condition(`${table}.session IS NULL`)
      : condition(`${table}.session = ?`, toStorable(name)),
  )
  return [owner, ...user, ...inSession]
}

/** The order of a list. Where an index finds few rows, SQLite must not walk through all of them in order instead. */
export function ordered(column: string, conditions: readonly Condition[]): string {
  return conditions.some(({ index }) => index !== undefined) ? notByIndex(column) : column
}

/** A plus before a column keeps SQLite from choosing an index by it; it has no statistics to choose well. */
function notByIndex(column: string): string {
  return `+${column}`
}

export function matching<T extends Table>(
  table: T,
  where: Tables[T]['where'],
): readonly Condition[] {
  return FILTERS[table](where)
}

const FILTERS: { readonly [T in Table]: (where: Tables[T]['where']) => readonly Condition[] } = {
  memory: memoryConditions,
  revision: revisionConditions,
  tombstone: (where: TombstoneFilter) => given(where.ids, (ids) => isOneOf('tombstone.id', ids)),
  entry: entryConditions,
  turn: turnConditions,
}

/** Documents of turns pass only where `types` names them. */
export function memoryConditions(where: DocumentFilter): readonly Condition[] {
  return [
    ...given(where.ids, (ids) => isOneOf('memory.id', ids)),
    ...given(where.key, (key) => ({
      ...condition('memory.key = ?', toStorable(key)),
      index: 'with owner',
    })),
    ...given(where.fingerprint, (value) =>
      // The full-text index finds it: an index of its own would cost every write a tenth of its time.
      indexed(
        `memory.number IN (SELECT rowid FROM memory_terms WHERE memory_terms MATCH ?)
         AND memory.fingerprint = ?`,
        quoted(fingerprintToken(value)),
        value,
      ),
    ),
    ...given(where.statuses, (values) => isOneOf('memory.status', values)),
    where.types === undefined ? IS_MEMORY : isOneOf('memory.type', where.types),
    ...given(where.categories, (values) => isOneOf('memory.category', values)),
    ...given(where.trusts, (values) => isOneOf('memory.trust', values)),
    ...given(where.conflicting, (is) =>
      condition(`memory.conflicts_with IS ${is ? 'NOT NULL' : 'NULL'}`),
    ),
    ...given(where.pinned, (pinned) => condition('memory.pinned = ?', pinned ? 1 : 0)),
    ...given(where.change, (change) => indexed('memory.change = ?', change)),
    ...given(where.unendedAt, (at) =>
      condition(
        '(memory.expires_at IS NULL OR memory.expires_at > ?) AND (memory.valid_until IS NULL OR memory.valid_until > ?)',
        at,
        at,
      ),
    ),
    ...given(where.expiredBy, (at) => condition('memory.expires_at <= ?', at)),
    ...given(where.createdFrom, (at) => condition('memory.created_at >= ?', at)),
    ...given(where.createdBefore, (at) => condition('memory.created_at < ?', at)),
    ...given(where.importanceMin, (least) => condition('memory.importance >= ?', least)),
    // As JSON on both sides: any text is compared, and none has to be read.
    ...given(where.sources, (values) =>
      isOneOf(
        "memory.provenance -> 'source'",
        values.map((value) => JSON.stringify(value)),
      ),
    ),
    // Last, because it reads the text and is asked row by row.
    ...given(where.contains, (text) => {
      const wanted = toStorable(lowered(text))
      return condition(
        '(holds_lowered(memory.content, ?) OR (memory.key IS NOT NULL AND holds_lowered(memory.key, ?)))',
        wanted,
        wanted,
      )
    }),
  ]
}

/** Not that of a turn. */
export const IS_MEMORY: Condition = condition("memory.type <> 'turn'")

function revisionConditions(where: RevisionFilter): readonly Condition[] {
  return [
    ...given(where.memories, (ids) => ({
      ...isOneOf('revision.memory', ids),
      index: 'alone',
    })),
    ...given(where.madeBy, (change) => indexed('revision.made_by = ?', change)),
    ...given(where.replacedBy, (change) => indexed('revision.replaced_by = ?', change)),
    ...given(where.inForceAt, (at) =>
      condition('revision.recorded_at <= ? AND revision.replaced_at > ?', at, at),
    ),
  ]
}

function entryConditions(where: EntryFilter): readonly Condition[] {
  return [
    ...given(where.ids, (ids) => isOneOf('entry.id', ids)),
    ...given(where.kinds, ([first, ...others]) =>
      // One kind by itself lets an index find its entries in the order of ids.
      first !== undefined && others.length === 0
        ? condition('entry.kind = ?', first)
        : isOneOf('entry.kind', where.kinds ?? []),
    ),
    ...given(where.about, (owner) =>
      owner === null
        ? condition('entry.about IS NULL')
        : condition('entry.about = ?', toStorable(owner)),
    ),
    ...given(where.atFrom, (at) => atTime('>=', at, where)),
    ...given(where.atBefore, (at) => atTime('<', at, where)),
    ...given(where.expiredBy, (at) => indexed('entry.expires_at <= ?', at)),
  ]
}

/**
 * Few of all jobs are due, and the index by time finds them. Entries of other kinds are listed in the order of ids, and
 * nearly all are in time: finding them by it would mean to sort them all for every page.
 */
function atTime(compared: '>=' | '<', at: number, { kinds = [] }: EntryFilter): Condition {
  return kinds.length === 1 && kinds[0] === 'job'
    ? { ...condition(`entry.at ${compared} ?`, at), index: 'with owner' }
    : condition(`${notByIndex('entry.at')} ${compared} ?`, at)
}

export function turnConditions(where: TurnFilter): readonly Condition[] {
  return [
    ...given(where.ids, (ids) => isOneOf('turn.id', ids)),
    ...given(where.saidFrom, (at) => condition('turn.said_at >= ?', at)),
    ...given(where.saidBefore, (at) => condition('turn.said_at < ?', at)),
    ...given(where.roles, (roles) => isOneOf('turn.role', roles)),
    ...given(where.disabled, (disabled) => condition('turn.disabled = ?', disabled ? 1 : 0)),
  ]
}

function given<Value>(
  value: Value | undefined,
  toCondition: (value: Value) => Condition,
): readonly Condition[] {
  return value === undefined ? [] : [toCondition(value)]
}

function indexed(sql: string, ...values: readonly SqlValue[]): Condition {
  return { sql, values, index: 'alone' }
}

function condition(sql: string, ...values: readonly SqlValue[]): Condition {
  return { sql, values }
}

/** One JSON parameter instead of one per value: the statement stays the same for lists of any length. */
function isOneOf(column: string, values: readonly string[]): Condition {
  return {
    sql: `${column} IN (SELECT value FROM json_each(?))`,
    values: [JSON.stringify(values)],
  }
}
