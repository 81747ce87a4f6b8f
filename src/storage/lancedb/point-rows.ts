/** Encodes points as table rows, and filters as predicates. */
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { sha256 } from '../../lib/hash.ts'
import type { Instant } from '../../lib/time.ts'
import { isZeroVector } from '../../lib/vector-math.ts'
import { toStorable } from '../../text/storable-text.ts'
import type { VectorSpace } from '../vector-index.ts'
import type { ReplicaFilter, ReplicaPoint } from '../vector-replica.ts'
import {
  type ArrowSchema,
  type ArrowTable,
  type ColumnValues,
  createArrowTable,
  createKeyField,
  createNumberField,
  createTextField,
  createVectorField,
} from './arrow-table.ts'

/**
 * Signatures contain characters that table names must not, and differ in case where file names may
 * not.
 */
export function toTableName({ signature }: VectorSpace): string {
  return `space_${sha256(signature).slice(0, 40)}`
}

export function createPointSchema(dimensions: number): ArrowSchema {
  return {
    fields: [
      createKeyField('id'),
      createTextField('owner'),
      createTextField('user', true),
      createTextField('session', true),
      createTextField('type'),
      createNumberField('expires_at', true),
      createTextField('text_hash'),
      createVectorField('vector', dimensions),
    ],
  }
}

export function toPointTable(dimensions: number, points: readonly ReplicaPoint[]): ArrowTable {
  const each = (value: (point: ReplicaPoint) => ColumnValues[number]) => points.map(value)
  return createArrowTable(createPointSchema(dimensions), [
    each(({ id }) => id),
    each(({ place }) => toStorable(place.owner)),
    each(({ place }) => storableOrNull(place.user)),
    each(({ place }) => storableOrNull(place.session)),
    each(({ type }) => type),
    each(({ expiresAt }) => expiresAt),
    each(({ textHash }) => toStorable(textHash)),
    // A row without a vector is never found, as a zero vector requires.
    each(({ vector }) => (isZeroVector(vector) ? null : vector)),
  ])
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : toStorable(text)
}

export function toOwnerPredicate(owner: OwnerId): string {
  return `owner = ${quoteString(toStorable(owner))}`
}

export function toIdsPredicate(ids: readonly MemoryId[]): string {
  return `id IN (${ids.map(quoteString).join(', ')})`
}

export function toAfterPredicate(id: MemoryId): string {
  return `id > ${quoteString(id)}`
}

export function toExpiredPredicate(instant: Instant): string {
  return `expires_at < ${literal(instant)}`
}

/** The conditions besides the owner; null where there are none. */
export function toFilterPredicate(filter: ReplicaFilter): string | null {
  const { user, session, types, unexpiredAt } = filter
  const conditions = [
    ...(user === undefined ? [] : [equals('user', user)]),
    ...(session === undefined ? [] : [equals('session', session)]),
    ...(types === undefined ? [] : [`type IN (${types.map(quoteString).join(', ')})`]),
    ...(unexpiredAt === undefined
      ? []
      : [`(expires_at IS NULL OR expires_at > ${literal(unexpiredAt)})`]),
  ]
  return conditions.length === 0 ? null : joinPredicates(...conditions)
}

export function joinPredicates(...conditions: readonly (string | null)[]): string {
  return conditions.filter((condition) => condition !== null).join(' AND ')
}

/** The column name is quoted, because `user` is a keyword in SQL. */
function equals(column: string, value: string | null): string {
  return value === null
    ? `\`${column}\` IS NULL`
    : `\`${column}\` = ${quoteString(toStorable(value))}`
}

/** In this SQL dialect, the quote is the only special character in a string literal. */
export function quoteString(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function literal(instant: Instant): string {
  return instant.toFixed(1)
}
