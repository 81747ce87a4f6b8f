/** Scopes and filters as SQL conditions. Values only ever travel as parameters. */
import type { Scope } from '../../core/ids.ts'
import { toStorable } from '../../core/storable-text.ts'
import type {
  MemoryFilter,
  RevisionFilter,
  Table,
  Tables,
  TombstoneFilter,
} from '../../ports/store.ts'
import type { SqlValue } from './driver.ts'
import { fingerprintToken, quoted } from './rows.ts'
import type { SqliteSession } from './session.ts'

export type Condition = { readonly sql: string; readonly values: readonly SqlValue[] }

export function conjunction(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map((condition) => condition.sql).join(' AND ') || 'true',
    values: conditions.flatMap((condition) => condition.values),
  }
}

/** A number that no place has: whoever was never written for has no rows. */
const NOWHERE = -1

/** Rows of `table` that the scope covers. The user goes by number, because keys and fingerprints are indexed by it. */
export function within(table: string, scope: Scope, session: SqliteSession): readonly Condition[] {
  const owner = condition(`${table}.owner_number = ?`, session.ownerNumber(scope) ?? NOWHERE)
  const user =
    scope.user === undefined
      ? []
      : [condition(`${table}.place_number = ?`, session.placeNumber(scope) ?? NOWHERE)]
  const inSession = given(scope.session, (name) =>
    condition(`${table}.session IS ?`, name === null ? null : toStorable(name)),
  )
  return [owner, ...user, ...inSession]
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
}

export function memoryConditions(where: MemoryFilter): readonly Condition[] {
  return [
    ...given(where.ids, (ids) => isOneOf('memory.id', ids)),
    ...given(where.key, (key) => condition('memory.key = ?', toStorable(key))),
    ...given(where.fingerprint, (value) =>
      // The full-text index finds it: an index of its own would cost every write a tenth of its time.
      condition(
        `memory.number IN (SELECT rowid FROM memory_terms WHERE memory_terms MATCH ?)
         AND memory.fingerprint = ?`,
        quoted(fingerprintToken(value)),
        value,
      ),
    ),
    ...given(where.statuses, (values) => isOneOf('memory.status', values)),
    ...given(where.types, (values) => isOneOf('memory.type', values)),
    ...given(where.categories, (values) => isOneOf('memory.category', values)),
    ...given(where.pinned, (pinned) => condition('memory.pinned = ?', pinned ? 1 : 0)),
    ...given(where.change, (change) => condition('memory.change = ?', change)),
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
  ]
}

function revisionConditions(where: RevisionFilter): readonly Condition[] {
  return [
    ...given(where.memories, (ids) => isOneOf('revision.memory', ids)),
    ...given(where.madeBy, (change) => condition('revision.made_by = ?', change)),
    ...given(where.replacedBy, (change) => condition('revision.replaced_by = ?', change)),
    ...given(where.inForceAt, (at) =>
      condition('revision.recorded_at <= ? AND revision.replaced_at > ?', at, at),
    ),
  ]
}

function given<Value>(
  value: Value | undefined,
  toCondition: (value: Value) => Condition,
): readonly Condition[] {
  return value === undefined ? [] : [toCondition(value)]
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
