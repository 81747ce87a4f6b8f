/** Errors as the client libraries of the called API read them. */
import type { IncomingMessage } from 'node:http'
import { type AppError, ERRORS, type ErrorCode } from '../../lib/errors.ts'

type Kind = { readonly openai: string; readonly code: string | null; readonly anthropic: string }

const REQUEST: Kind = {
  openai: 'invalid_request_error',
  code: null,
  anthropic: 'invalid_request_error',
}
const SERVER: Kind = { openai: 'server_error', code: null, anthropic: 'api_error' }

/** Those that look different from others of their status. */
const KINDS: { readonly [Code in ErrorCode]?: Kind } = {
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
  const kind = KINDS[error.code] ?? (status >= 500 ? SERVER : REQUEST)
  const message = error.code === 'internal' ? ERRORS.internal.help : error.message
  if (isAnthropicRequest(request)) {
    return { type: 'error', error: { type: kind.anthropic, message }, request_id: requestId }
  }
  const { field } = error.facts
  const code = codeOf(error) ?? kind.code
  const param = code === 'model_not_found' ? 'model' : typeof field === 'string' ? field : null
  return { error: { message, type: kind.openai, param: param === '' ? null : param, code } }
}

/** Anthropic's clients look for the id in a header of its own name; OpenAI's in the one that all our answers have. */
export function errorIdHeaderFor(request: IncomingMessage): string | null {
  return isAnthropicRequest(request) ? 'request-id' : null
}

/** Some things have a code of their own. */
function codeOf({ code, facts }: AppError): string | null {
  if (code === 'not_found' && facts.model !== undefined) return 'model_not_found'
  return facts.previous === undefined ? null : 'previous_response_not_found'
}

/** Its clients say so with every request, whatever they ask for. */
export function isAnthropicRequest({ url = '', headers }: IncomingMessage): boolean {
  return url.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined
}
