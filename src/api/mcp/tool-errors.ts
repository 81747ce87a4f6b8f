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
      id === undefined ? null : 'Look for it with memory_search and use the id that it gives.',
    forbidden: 'Do not try again; tell the user that their key does not allow it.',
    conflict: ({ version }) =>
      version === undefined ? null : 'Read it again with memory_get, then call again.',
    forgotten: 'The user had it forgotten. Save it only if the user says it anew.',
    too_many_requests: 'Wait a little before calling again.',
    missing_part: 'Go on without it.',
  }
const RETRY = 'Call again in a moment; if it still fails, tell the user.'
const TELL_USER = 'Do not try again; tell the user.'
/** More field errors than this do not help to correct the first ones. */
const FAULTS_SHOWN = 20

export function formatToolError(thrown: unknown): {
  readonly text: string
  readonly error: AppError
} {
  const error = toAppError(thrown)
  const { code } = error
  // Internal details stay in the log.
  const message = code === 'internal' ? ERRORS.internal.help : error.message
  const faults = code === 'internal' ? [] : error.details
  const advice = adviceFor(error)
  const isToldAlready = faults.length === 1 && faults[0]?.message === message
  const lines = [
    `${code}: ${message}`,
    ...(isToldAlready ? [] : faults.slice(0, FAULTS_SHOWN).map((fault) => `- ${fault.message}`)),
    ...(faults.length > FAULTS_SHOWN ? [`- and ${faults.length - FAULTS_SHOWN} more`] : []),
    ...(advice === null ? [] : [advice]),
  ]
  return { text: lines.join('\n'), error }
}

function adviceFor({ code, facts, retryable }: AppError): string | null {
  const advice = ADVICE[code] ?? (retryable ? RETRY : TELL_USER)
  return typeof advice === 'string' ? advice : advice(facts)
}
