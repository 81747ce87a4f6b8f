import { parseId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import { AppError } from '../../lib/errors.ts'

/** Checks a cursor. Any other text would look like the end of the list. */
export function parseCursor(prefix: 'mem' | 'aud' | 'rcp', after: string): string {
  try {
    return parseId(prefix, after)
  } catch (error) {
    throw new AppError(
      'invalid_input',
      '`after` must be `next` of the page before.',
      { field: 'after' },
      error,
    )
  }
}

export function parseLimit(limit: number, max = PAGE_ROWS_MAX): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > max) {
    const message = `\`limit\` must be an integer from 1 to ${max}; got ${limit}.`
    throw new AppError('invalid_input', message, { field: 'limit' })
  }
  return limit
}
