import { parseInteger } from '../../domain/field-parsers.ts'
import { parseId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import { AppError } from '../../lib/errors.ts'

/** What an earlier page gave as `next`. Anything else would look like the end of the list. */
export function parseCursor(prefix: 'mem' | 'aud' | 'rcp', after: string): string {
  try {
    return parseId(prefix, after)
  } catch (error) {
    throw new AppError(
      'invalid_input',
      '`after` is what `next` of the page before said.',
      {
        field: 'after',
      },
      error,
    )
  }
}

export function parseLimit(limit: number, max = PAGE_ROWS_MAX): number {
  return parseInteger('limit', limit, 1, max)
}
