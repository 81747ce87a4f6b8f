/** Maps provider errors to AppErrors. Provider text is never repeated, since it may quote the request. */
import { AppError, type ErrorDetails } from '../../lib/errors.ts'
import { getField } from '../../lib/json.ts'
import type { Provider } from '../provider.ts'
import type { HeaderPairs } from '../upstream.ts'

/** Error codes that are safe to repeat; others could hold anything. */
const KNOWN_CODES: ReadonlySet<unknown> = new Set([
  ...['insufficient_quota', 'billing_hard_limit_reached', 'credit_balance_too_low'],
  ...['context_length_exceeded', 'string_above_max_length', 'request_too_large'],
  ...['model_not_found', 'not_found_error', 'invalid_api_key', 'authentication_error'],
  ...['permission_error', 'rate_limit_exceeded', 'rate_limit_error', 'overloaded_error'],
  ...['invalid_request_error', 'unsupported_parameter', 'unsupported_value', 'server_error'],
  ...['api_error', 'content_filter', 'content_policy_violation'],
  ...['RESOURCE_EXHAUSTED', 'INVALID_ARGUMENT', 'API_KEY_INVALID', 'UNAVAILABLE'],
])
/** Quota exhausted: retrying does not help. */
const USED_UP: ReadonlySet<unknown> = new Set([
  ...['insufficient_quota', 'billing_hard_limit_reached', 'credit_balance_too_low'],
])

/** `facts.retryable` is false when a retry cannot help; `facts.retryAfterMs` is the provider's requested pause. */
export function toProviderError(
  provider: Provider,
  status: number,
  answer: unknown,
  retryAfterMs: number | null,
): AppError {
  const { name } = provider
  const code = knownCode(answer)
  const facts = { provider: name, status, ...(code === null ? {} : { reason: code }) }
  const said = `${status}${code === null ? '' : `, ${code}`}`
  const refused = (message: string) => new AppError('invalid_input', message, facts)
  if (status === 401 || status === 403 || code === 'API_KEY_INVALID') {
    const advice = provider.key === null ? 'Configure its key.' : 'Check it.'
    return refused(`The provider ${name} refused the key (${said}). ${advice}`)
  }
  if (status === 404) {
    const message = `The provider ${name} does not know this model or URL (${said}).`
    return new AppError('not_found', message, facts)
  }
  if (status === 429) return tooMany(name, said, facts, retryAfterMs)
  if (status === 408)
    return new AppError('timeout', `The provider ${name} timed out (${said}).`, facts)
  if (status >= 500 || status === 425) {
    return failing(`The provider ${name} failed (${said}).`, facts, retryAfterMs)
  }
  if (status >= 300 && status < 400) {
    return refused(
      `The provider ${name} answered with a redirect (${said}), which is not followed. Check its base URL.`,
    )
  }
  return refused(`The provider ${name} refused the request (${said}).`)
}

function tooMany(
  name: string,
  said: string,
  facts: ErrorDetails,
  retryAfterMs: number | null,
): AppError {
  if (!USED_UP.has(facts.reason)) {
    return failing(`The provider ${name} is rate limiting (${said}).`, facts, retryAfterMs)
  }
  const message = `The provider ${name} reports that the quota is exhausted (${said}).`
  return new AppError('unavailable', message, { ...facts, retryable: false })
}

function failing(message: string, facts: ErrorDetails, retryAfterMs: number | null): AppError {
  const wait = retryAfterMs === null ? {} : { retryAfterMs }
  return new AppError('unavailable', message, { ...facts, ...wait, retryable: true })
}

/** An unusable response. A retry would be billed again. */
export function createInvalidResponseError({ name }: Provider, what: string): AppError {
  const facts = { provider: name, retryable: false }
  return new AppError('unavailable', `The provider ${name} answered with ${what}.`, facts)
}

export function createInterruptedError({ name }: Provider): AppError {
  const message = `The provider ${name} ended its response early.`
  return new AppError('unavailable', message, { provider: name })
}

function knownCode(answer: unknown): string | null {
  const error = getField(answer, 'error') ?? answer
  const details = getField(error, 'details')
  const reasons = Array.isArray(details) ? details.map((detail) => getField(detail, 'reason')) : []
  const candidates = [
    ...reasons,
    ...['code', 'status', 'type'].map((name) => getField(error, name)),
  ]
  const found = candidates.find((candidate) => KNOWN_CODES.has(candidate))
  return typeof found === 'string' ? found : null
}

export function findHeader(headers: HeaderPairs, name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1]
}
