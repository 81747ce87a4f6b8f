/** Error bodies in the format of the called API, which its client libraries parse. */
import type { IncomingMessage } from 'node:http'
import { type AppError, ERRORS, type ErrorCode } from '../../lib/errors.ts'

type ErrorType = {
  readonly openai: string
  readonly code: string | null
  readonly anthropic: string
}

const REQUEST: ErrorType = {
  openai: 'invalid_request_error',
  code: null,
  anthropic: 'invalid_request_error',
}
const SERVER: ErrorType = { openai: 'server_error', code: null, anthropic: 'api_error' }

/** Codes whose type differs from the default of their status. */
const ERROR_TYPES: { readonly [Code in ErrorCode]?: ErrorType } = {
  unauthenticated: { ...REQUEST, code: 'invalid_api_key', anthropic: 'authentication_error' },
  forbidden: { ...REQUEST, code: 'permission_denied', anthropic: 'permission_error' },
  not_found: { ...REQUEST, code: 'not_found', anthropic: 'not_found_error' },
  too_large: { ...REQUEST, code: 'request_too_large', anthropic: 'request_too_large' },
  too_many_requests: {
    openai: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    anthropic: 'rate_limit_error',
  },
  gateway_timeout: { ...SERVER, anthropic: 'timeout_error' },
}

export function errorBodyFor(request: IncomingMessage, error: AppError, requestId: string): object {
  const { status } = ERRORS[error.code]
  const type = ERROR_TYPES[error.code] ?? (status >= 500 ? SERVER : REQUEST)
  const message = error.code === 'internal' ? ERRORS.internal.help : error.message
  if (isAnthropicRequest(request)) {
    return { type: 'error', error: { type: type.anthropic, message }, request_id: requestId }
  }
  const { field } = error.facts
  const code = getSpecificCode(error) ?? type.code
  const param = code === 'model_not_found' ? 'model' : typeof field === 'string' ? field : null
  return { error: { message, type: type.openai, param: param === '' ? null : param, code } }
}

/** Anthropic's clients read the request id from their own header; OpenAI's from `x-request-id`, which every response has. */
export function errorIdHeaderFor(request: IncomingMessage): string | null {
  return isAnthropicRequest(request) ? 'request-id' : null
}

function getSpecificCode({ code, facts }: AppError): string | null {
  if (code === 'not_found' && facts.model !== undefined) return 'model_not_found'
  return facts.previous === undefined ? null : 'previous_response_not_found'
}

/** Anthropic's clients send their version with every request. */
export function isAnthropicRequest({ url = '', headers }: IncomingMessage): boolean {
  return url.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined
}
