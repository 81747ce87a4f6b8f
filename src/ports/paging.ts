import { AppError } from '../core/errors.ts'
import type { Instant } from '../core/ids.ts'
import { PAGE_ROWS_MAX } from '../core/limits.ts'
import type { Turn } from '../core/transcript.ts'
import type { FindQuery, Page, Row, SessionQuery, SessionTally, Table } from './store.ts'

/** Which part of a list is asked for. */
export type Part = { readonly limit: number; readonly offset: number }

/** The one reading of how much `find` is asked for, for all stores. */
export function partOf(query: FindQuery<Table>): Part {
  const { limit, offset = 0, order, after } = query
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw new AppError('invalid_input', `offset is a whole number from 0 on; not ${offset}.`, {
      field: 'offset',
    })
  }
  if (order === 'updated' && after !== undefined) {
    throw new AppError(
      'invalid_input',
      'A list in the order of updates has no "after", because rows move in it. Use offset.',
      { field: 'after' },
    )
  }
  return { limit: Math.max(0, Math.min(limit, PAGE_ROWS_MAX)), offset }
}

/** Where a turn stands in the course of conversations. */
export type SaidPoint = Pick<Turn, 'saidAt' | 'position'> & { readonly id: string }

/** The `next` of a page in the order of what was said. It leads on even when its turn is removed meanwhile. */
function saidCursor({ saidAt, position, id }: SaidPoint): string {
  return `${saidAt}.${position}.${id}`
}

const SAID_CURSOR = /^(-?\d{1,16})\.(\d{1,16})\.(.+)$/s

function parseSaidCursor(cursor: string): SaidPoint {
  const [, saidAt, position, id] = SAID_CURSOR.exec(cursor) ?? []
  if (id === undefined) {
    throw new AppError(
      'invalid_input',
      'In the order of what was said, "after" takes only what an earlier page gave as "next".',
      { field: 'after' },
    )
  }
  return { saidAt: Number(saidAt) as Instant, position: Number(position), id } // as `saidCursor` wrote it
}

/** The place of a turn after which a page in the order of what was said begins; null for other orders and first pages. */
export function saidAfter({ order, after }: FindQuery<Table>): SaidPoint | null {
  return isSaidOrder(order) && after !== undefined ? parseSaidCursor(after) : null
}

export function isSaidOrder(order: FindQuery<Table>['order']): order is 'said' | 'lastSaid' {
  return order === 'said' || order === 'lastSaid'
}

/** What leads on from the last row of a page that is not the last one. */
export function cursorAfter<T extends Table>(
  order: FindQuery<T>['order'],
  last: Row<T> | undefined,
): string | null {
  if (last === undefined || order === 'updated') return null
  return isSaidOrder(order) ? saidCursor(last as Turn) : last.id // only turns have these orders
}

/** A conversation with what its place in the list is by. */
export type SessionPoint = SessionTally & { readonly lastId: string }

const SESSION_CURSOR = /^(-?\d{1,16})\.(.+)$/s

/** The place of a conversation after which a page begins; null for first pages. */
export function sessionAfter({
  after,
}: SessionQuery): Pick<SessionPoint, 'lastSaidAt' | 'lastId'> | null {
  if (after === undefined) return null
  const [, lastSaidAt, lastId] = SESSION_CURSOR.exec(after) ?? []
  if (lastId === undefined) {
    const message = '"after" takes only what an earlier page gave as "next".'
    throw new AppError('invalid_input', message, { field: 'after' })
  }
  return { lastSaidAt: Number(lastSaidAt) as Instant, lastId } // as `sessionPage` wrote it
}

/** From what was found with one more than asked for, which tells whether there is another page. */
export function sessionPage(
  found: readonly SessionPoint[],
  { limit }: SessionQuery,
): Page<SessionTally> {
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    rows: page.map(({ lastId: _, ...tally }) => tally),
    next: last === undefined ? null : `${last.lastSaidAt}.${last.lastId}`,
  }
}
