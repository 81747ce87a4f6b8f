/** Error bodies in the format of the called API, which its client libraries parse. */
import type { IncomingMessage } from 'node:http'
import { type AppError, ERRORS, type ErrorCode } from '../../lib/errors.ts'
import { parseGeminiTarget } from './formats/gemini-generate-content.ts'

type ErrorType = {
  readonly openai: string
  readonly code: string | null
  readonly anthropic: string
}

/** Names of statuses in Google's APIs; others stand for `INTERNAL`. */
const GOOGLE_STATUSES: { readonly [status: number]: string | undefined } = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
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
  if (isGeminiRequest(request)) {
    return { error: { code: status, message, status: GOOGLE_STATUSES[status] ?? 'INTERNAL' } }
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

/** Whether the request is one of Gemini's own API. Its stable version has the path of the others, and a key of its own. */
export function isGeminiRequest({ url = '', headers }: IncomingMessage): boolean {
  const [path = ''] = url.split('?')
  if (path.startsWith('/v1beta/') || headers['x-goog-api-key'] !== undefined) return true
  return parseGeminiTarget(path) !== null
}

/** Anthropic's clients send their version with every request. */
export function isAnthropicRequest({ url = '', headers }: IncomingMessage): boolean {
  return url.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined
}
