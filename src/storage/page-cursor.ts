import { parseInteger } from '../domain/field-parsers.ts'
import { PAGE_ROWS_MAX } from '../domain/limits.ts'
import { AppError } from '../lib/errors.ts'
import type { Instant } from '../lib/time.ts'
import type { FindQuery, Page, Row, SessionQuery, SessionSummary, Table, Tables } from './store.ts'

/** Which part of a list is asked for. */
export type PageRange = { readonly limit: number; readonly offset: number }

/** The one reading of how much `find` is asked for, for all stores. */
export function toPageRange(query: FindQuery<Table>): PageRange {
  const { limit, offset = 0 } = query
  parseInteger('offset', offset, 0, Number.MAX_SAFE_INTEGER)
  return { limit: Math.max(0, Math.min(limit, PAGE_ROWS_MAX)), offset }
}

/** What rows are put in order by, besides their id. */
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

/** What stands for the time of something that never was: before all times. */
export const NEVER_INSTANT = Number.MIN_SAFE_INTEGER

/** A place in an order: a number for each of its fields, and an id. */
export type OrderPoint = readonly [...numbers: number[], id: string]

/** How a list is ordered: by these fields and then the id, all in one direction; and after which point it begins. */
export type Ordering = {
  readonly fields: readonly OrderField[]
  readonly isForward: boolean
  readonly after: OrderPoint | null
}

/** The one reading of an order and its cursor, for all stores. */
export function parseOrdering({ order = 'newest', after }: FindQuery<Table>): Ordering {
  const { fields, isForward } = ORDERS[order]
  return { fields, isForward, after: after === undefined ? null : parseCursor(fields, after) }
}

export function getOrderPoint(fields: readonly OrderField[], row: Row<Table>): OrderPoint {
  const values: Partial<Record<OrderField, number | null>> = 'memory' in row ? {} : (row as object) // each order has a table with its fields
  return [...fields.map((field) => values[field] ?? NEVER_INSTANT), row.id]
}

/** No number has it in it, and no address needs to spell it otherwise. */
const BETWEEN = '~'

/** What leads on from the last row of a page that is not the last one, even when that row is gone by then. */
export function encodeCursor(
  order: Order | undefined,
  last: Row<Table> | undefined,
): string | null {
  return last === undefined
    ? null
    : getOrderPoint(ORDERS[order ?? 'newest'].fields, last).join(BETWEEN)
}

/** Salience is a share of one; whatever else is counted is whole. */
const NUMBERS: Readonly<Partial<Record<OrderField, RegExp>>> = {
  salience: /^\d(\.\d{1,20})?(e-\d{1,3})?$/,
}
const WHOLE = /^-?\d{1,16}$/

function parseCursor(fields: readonly OrderField[], cursor: string): OrderPoint {
  const parts = cursor.split(BETWEEN)
  const numbers = fields.map((field, at) =>
    (NUMBERS[field] ?? WHOLE).test(parts[at] ?? '') ? Number(parts[at]) : Number.NaN,
  )
  const id = parts.slice(fields.length).join(BETWEEN)
  if (fields.length > 0 && (id === '' || numbers.some(Number.isNaN))) {
    throw new AppError(
      'invalid_input',
      'In this order, "after" takes only what an earlier page in the same order gave as "next".',
      { field: 'after' },
    )
  }
  return [...numbers, id]
}

/** A conversation with what its place in the list is by. */
export type SessionListPosition = SessionSummary & { readonly lastId: string }

const SESSION_CURSOR = /^(-?\d{1,16})\.(.+)$/s

/** The place of a conversation after which a page begins; null for first pages. */
export function parseSessionCursor({
  after,
}: SessionQuery): Pick<SessionListPosition, 'lastSaidAt' | 'lastId'> | null {
  if (after === undefined) return null
  const [, lastSaidAt, lastId] = SESSION_CURSOR.exec(after) ?? []
  if (lastId === undefined) {
    const message = '"after" takes only what an earlier page gave as "next".'
    throw new AppError('invalid_input', message, { field: 'after' })
  }
  return { lastSaidAt: Number(lastSaidAt) as Instant, lastId } // as `sessionPage` wrote it
}

/** From what was found with one more than asked for, which tells whether there is another page. */
export function buildSessionPage(
  found: readonly SessionListPosition[],
  { limit }: SessionQuery,
): Page<SessionSummary> {
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    rows: page.map(({ lastId: _, ...tally }) => tally),
    next: last === undefined ? null : `${last.lastSaidAt}.${last.lastId}`,
  }
}
