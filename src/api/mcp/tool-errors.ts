/**
 * Errors as tool results that a model can act on: what happened, to which field, and what to do
 * next.
 */
import {
  type AppError,
  ERRORS,
  type ErrorCode,
  type ErrorDetails,
  toAppError,
} from '../../lib/errors.ts'

/**
 * Advice by error code. Codes without advice need a person. Where advice fits only some failures of
 * a code it is omitted: a wrong next step is worse than none.
 */
const ADVICE: { readonly [Code in ErrorCode]?: string | ((facts: ErrorDetails) => string | null) } =
  {
    invalid_input: 'Correct the input as described and call again.',
    not_found: ({ id }) =>
      id === undefined ? null : 'Find it with memory_search and use the id from its result.',
    forbidden: 'Do not try again; tell the user that their key does not allow it.',
    conflict: ({ version }) =>
      version === undefined ? null : 'Read it again with memory_get, then call again.',
    forgotten: 'The user asked to forget this. Save it only if the user states it again.',
    too_many_requests: 'Wait a little before calling again.',
    missing_part: 'Continue without it.',
  }
const RETRY = 'Call again in a moment; if it still fails, tell the user.'
const GIVE_UP = 'Do not try again; tell the user.'
/** More field errors than this do not help to correct the first ones. */
const FIELD_ERRORS_MAX = 20

export function formatToolError(thrown: unknown): {
  readonly text: string
  readonly error: AppError
} {
  const error = toAppError(thrown)
  const { code } = error
  // Internal details stay in the log.
  const message = code === 'internal' ? ERRORS.internal.help : error.message
  const fieldErrors = code === 'internal' ? [] : error.details
  const advice = adviceFor(error)
  const isRedundant = fieldErrors.length === 1 && fieldErrors[0]?.message === message
  const lines = [
    `${code}: ${message}`,
    ...(isRedundant
      ? []
      : fieldErrors.slice(0, FIELD_ERRORS_MAX).map((fieldError) => `- ${fieldError.message}`)),
    ...(fieldErrors.length > FIELD_ERRORS_MAX
      ? [`- and ${fieldErrors.length - FIELD_ERRORS_MAX} more`]
      : []),
    ...(advice === null ? [] : [advice]),
  ]
  return { text: lines.join('\n'), error }
}

function adviceFor({ code, facts, retryable }: AppError): string | null {
  const advice = ADVICE[code] ?? (retryable ? RETRY : GIVE_UP)
  return typeof advice === 'string' ? advice : advice(facts)
}
