/** Points as rows of a table, and what a row must be to be meant. */
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { sha256 } from '../../lib/hash.ts'
import type { Instant } from '../../lib/time.ts'
import { isZero } from '../../lib/vector-math.ts'
import { toStorable } from '../../text/storable-text.ts'
import type { VectorSpace } from '../vector-index.ts'
import type { MirrorFilter, MirrorPoint } from '../vector-replica.ts'
import {
  type ArrowSchema,
  type ArrowTable,
  arrowTable,
  type ColumnValues,
  keyField,
  numberField,
  textField,
  vectorField,
} from './arrow-table.ts'

/** Signatures hold characters that names of tables must not, and differ in case where file names may not. */
export function tableName({ signature }: VectorSpace): string {
  return `space_${sha256(signature).slice(0, 40)}`
}

export function pointSchema(dimensions: number): ArrowSchema {
  return {
    fields: [
      keyField('id'),
      textField('owner'),
      textField('user', true),
      textField('session', true),
      textField('type'),
      numberField('expires_at', true),
      textField('text_hash'),
      vectorField('vector', dimensions),
    ],
  }
}

export function pointRows(dimensions: number, points: readonly MirrorPoint[]): ArrowTable {
  const each = (value: (point: MirrorPoint) => ColumnValues[number]) => points.map(value)
  return arrowTable(pointSchema(dimensions), [
    each(({ id }) => id),
    each(({ place }) => toStorable(place.owner)),
    each(({ place }) => storableOrNull(place.user)),
    each(({ place }) => storableOrNull(place.session)),
    each(({ type }) => type),
    each(({ expiresAt }) => expiresAt),
    each(({ textHash }) => toStorable(textHash)),
    // A row without a vector is never found, which is what a zero vector asks for.
    each(({ vector }) => (isZero(vector) ? null : vector)),
  ])
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : toStorable(text)
}

export function isOwners(owner: OwnerId): string {
  return `owner = ${quoted(toStorable(owner))}`
}

export function isAmong(ids: readonly MemoryId[]): string {
  return `id IN (${ids.map(quoted).join(', ')})`
}

export function isAfter(id: MemoryId): string {
  return `id > ${quoted(id)}`
}

export function hasExpiredBefore(instant: Instant): string {
  return `expires_at < ${literal(instant)}`
}

/** What is asked for besides the owner; null where nothing is. */
export function isPermitted(filter: MirrorFilter): string | null {
  const { user, session, types, unexpiredAt } = filter
  const conditions = [
    ...(user === undefined ? [] : [equals('user', user)]),
    ...(session === undefined ? [] : [equals('session', session)]),
    ...(types === undefined ? [] : [`type IN (${types.map(quoted).join(', ')})`]),
    ...(unexpiredAt === undefined
      ? []
      : [`(expires_at IS NULL OR expires_at > ${literal(unexpiredAt)})`]),
  ]
  return conditions.length === 0 ? null : allOf(...conditions)
}

export function allOf(...conditions: readonly (string | null)[]): string {
  return conditions.filter((condition) => condition !== null).join(' AND ')
}

/** The name of the column is quoted, because `user` means something else in SQL. */
function equals(column: string, value: string | null): string {
  return value === null ? `\`${column}\` IS NULL` : `\`${column}\` = ${quoted(toStorable(value))}`
}

/** In this SQL, a quote is the only character of a text that means anything. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function literal(instant: Instant): string {
  return instant.toFixed(1)
}
