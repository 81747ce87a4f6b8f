import { AppError } from '../core/errors.ts'
import { PAGE_ROWS_MAX } from '../core/limits.ts'
import type { FindQuery, Table } from './store.ts'

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
