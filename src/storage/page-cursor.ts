import { parseInteger } from '../domain/field-parsers.ts'
import { PAGE_ROWS_MAX } from '../domain/limits.ts'
import { AppError } from '../lib/errors.ts'
import type { Instant } from '../lib/time.ts'
import type { FindQuery, Page, Row, SessionQuery, SessionSummary, Table, Tables } from './store.ts'

/** The rows of a list that a page holds. */
export type PageRange = { readonly limit: number; readonly offset: number }

/** Interprets `limit` and `offset` for all stores. */
export function toPageRange(query: FindQuery<Table>): PageRange {
  const { limit, offset = 0 } = query
  parseInteger('offset', offset, 0, Number.MAX_SAFE_INTEGER)
  return { limit: Math.max(0, Math.min(limit, PAGE_ROWS_MAX)), offset }
}

/** The fields that lists are ordered by, besides the id. */
export type OrderField =
  | 'saidAt'
  | 'position'
  | 'updatedAt'
  | 'importance'
  | 'salience'
  | 'lastUsedAt'
  | 'useCount'

type Order = Tables[Table]['order']

const ORDERS: Readonly<
  Record<Order, { readonly fields: readonly OrderField[]; readonly isForward: boolean }>
> = {
  oldest: { fields: [], isForward: true },
  newest: { fields: [], isForward: false },
  said: { fields: ['saidAt', 'position'], isForward: true },
  lastSaid: { fields: ['saidAt', 'position'], isForward: false },
  updated: { fields: ['updatedAt'], isForward: false },
  importance: { fields: ['importance'], isForward: false },
  salience: { fields: ['salience'], isForward: false },
  lastUsed: { fields: ['lastUsedAt'], isForward: false },
  mostUsed: { fields: ['useCount'], isForward: false },
  leastUsed: { fields: ['useCount'], isForward: true },
}

/** Sorts rows without an instant, such as memories that were never used, before all others. */
export const NEVER_INSTANT = Number.MIN_SAFE_INTEGER

/** A position in an order: a number per field, and an id. */
export type OrderPoint = readonly [...numbers: number[], id: string]

/** The order of a list: by fields and then the id, in one direction, starting after a position. */
export type Ordering = {
  readonly fields: readonly OrderField[]
  readonly isForward: boolean
  readonly after: OrderPoint | null
}

/** Interprets `order` and `after` for all stores. */
export function parseOrdering({ order = 'newest', after }: FindQuery<Table>): Ordering {
  const { fields, isForward } = ORDERS[order]
  return { fields, isForward, after: after === undefined ? null : parseCursor(fields, after) }
}

export function getOrderPoint(fields: readonly OrderField[], row: Row<Table>): OrderPoint {
  const values: Partial<Record<OrderField, number | null>> = 'memory' in row ? {} : (row as object) // each order has a table with its fields
  return [...fields.map((field) => values[field] ?? NEVER_INSTANT), row.id]
}

/** Occurs in no number, and needs no escape in a URL. */
const SEPARATOR = '~'

/** The cursor of the next page. It stays valid when the row it was made from is removed. */
export function encodeCursor(
  order: Order | undefined,
  last: Row<Table> | undefined,
): string | null {
  return last === undefined
    ? null
    : getOrderPoint(ORDERS[order ?? 'newest'].fields, last).join(SEPARATOR)
}

/** Salience is a fraction; all other order fields are integers. */
const NUMBER_PATTERNS: Readonly<Partial<Record<OrderField, RegExp>>> = {
  salience: /^\d(\.\d{1,20})?(e-\d{1,3})?$/,
}
const INTEGER = /^-?\d{1,16}$/

function parseCursor(fields: readonly OrderField[], cursor: string): OrderPoint {
  const parts = cursor.split(SEPARATOR)
  const numbers = fields.map((field, at) =>
    (NUMBER_PATTERNS[field] ?? INTEGER).test(parts[at] ?? '') ? Number(parts[at]) : Number.NaN,
  )
  const id = parts.slice(fields.length).join(SEPARATOR)
  if (fields.length > 0 && (id === '' || numbers.some(Number.isNaN))) {
    throw new AppError(
      'invalid_input',
      '`after` must be `next` of an earlier page in the same order.',
      { field: 'after' },
    )
  }
  return [...numbers, id]
}

/** A session with the fields that its list is ordered by. */
export type SessionListPosition = SessionSummary & { readonly lastId: string }

const SESSION_CURSOR = /^(-?\d{1,16})\.(.+)$/s

/** The position that a page of sessions starts after; null for the first page. */
export function parseSessionCursor({
  after,
}: SessionQuery): Pick<SessionListPosition, 'lastSaidAt' | 'lastId'> | null {
  if (after === undefined) return null
  const [, lastSaidAt, lastId] = SESSION_CURSOR.exec(after) ?? []
  if (lastId === undefined) {
    const message = '`after` must be `next` of an earlier page.'
    throw new AppError('invalid_input', message, { field: 'after' })
  }
  return { lastSaidAt: Number(lastSaidAt) as Instant, lastId } // as `buildSessionPage` encodes it
}

/** `sessions` holds one more than `limit` where there is another page. */
export function buildSessionPage(
  sessions: readonly SessionListPosition[],
  { limit }: SessionQuery,
): Page<SessionSummary> {
  const page = sessions.slice(0, limit)
  const last = sessions.length > limit ? page.at(-1) : undefined
  return {
    rows: page.map(({ lastId: _, ...summary }) => summary),
    next: last === undefined ? null : `${last.lastSaidAt}.${last.lastId}`,
  }
}
