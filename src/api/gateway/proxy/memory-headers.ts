/** Headers: the memory options of a request, the headers forwarded to the provider, and those returned to the client. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { PreparedRequest, SkipReason } from '../../../conversations/conversations.ts'
import { NAME_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { parseScope } from '../../../domain/scope.ts'
import { AppError } from '../../../lib/errors.ts'
import { type HeaderPairs, headerPairs } from '../../../models/upstream.ts'
import { API_KEY_HEADER, firstHeaderValue } from '../../http/security/authentication.ts'
import { type Caller, canReachOwner, hasAccess } from '../../operations/authorization.ts'

const TRUE_VALUES = ['true', '1', 'yes']

/** A valid owner, for validating one other name at a time. */
const SAMPLE_OWNER = 'somebody'
const NAME_RULE = `at most ${NAME_CHARACTERS_MAX} characters, none of them a control character, and no @ before an agent.`

/** The memory options of a request. */
export type MemoryHeaders = {
  readonly owner: string
  readonly user: string | null
  readonly session: string | null
  readonly memory: boolean
  readonly inject: boolean
  readonly extract: boolean
}

export function parseMemoryHeaders({ headers }: IncomingMessage, caller: Caller): MemoryHeaders {
  const isTrue = (...names: readonly string[]) =>
    names.some((name) =>
      TRUE_VALUES.includes(firstHeaderValue(headers, name)?.trim().toLowerCase() ?? ''),
    )
  const agent = readName(headers, 'x-recollect-agent', 'x-osaurus-agent-id')
  const user = readName(headers, 'x-recollect-user')
  const session = readName(headers, 'x-recollect-session', 'x-omniroute-session-id')
  assertValidNames({ owner: agent, user, session })
  const owner = agent ?? caller.home
  if (!canReachOwner(caller, owner, 'write')) {
    throw new AppError('forbidden', `The API key may not act for the agent "${owner}".`, {
      field: 'x-recollect-agent',
    })
  }
  const isHome = owner === caller.home
  return {
    owner,
    user: user ?? (isHome ? (caller.user ?? null) : null),
    session,
    memory: !isTrue('x-recollect-no-memory', 'x-omniroute-no-memory'),
    inject: !isTrue('x-recollect-no-inject'),
    // A key without write access gets context, and nothing is learned from its requests.
    extract: !isTrue('x-recollect-no-extract') && hasAccess(caller, 'write'),
  }
}

const NAMING_HEADERS = {
  owner: 'x-recollect-agent',
  user: 'x-recollect-user',
  session: 'x-recollect-session',
} as const

/** Rejects an invalid name, which would otherwise silently disable memory for the request. */
function assertValidNames(
  names: Readonly<Record<keyof typeof NAMING_HEADERS, string | null>>,
): void {
  for (const [part, header] of Object.entries(NAMING_HEADERS)) {
    const value = names[part as keyof typeof NAMING_HEADERS] // a key of the table
    try {
      if (value !== null) parseScope({ owner: SAMPLE_OWNER, [part]: value })
    } catch (cause) {
      const message = `\`${header}\` must be a valid name: ${NAME_RULE}`
      throw new AppError('invalid_input', message, { field: header }, cause)
    }
  }
}

/** Whether a text is a valid user name. */
export function isValidUserName(text: string): boolean {
  try {
    parseScope({ owner: SAMPLE_OWNER, user: text })
    return true
  } catch {
    return false
  }
}

function readName(headers: IncomingHttpHeaders, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = firstHeaderValue(headers, name)?.trim()
    if (value !== undefined && value !== '') return decodeUtf8(value)
  }
  return null
}

/** Node decodes header bytes as Latin-1; names in other scripts are sent as UTF-8. */
function decodeUtf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}

/**
 * Headers of this connection and this server. `Connection` and the headers that it names are removed when the request is
 * sent.
 */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...['keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer'],
  ...['upgrade', 'expect', 'host', 'content-length', 'cookie', 'origin', 'referer', 'forwarded'],
  ...['x-real-ip', 'x-osaurus-agent-id', 'proxy-authorization', 'traceparent', 'tracestate'],
])
const NOT_FORWARDED_BEGIN = /^(x-recollect-|x-omniroute-|x-forwarded-|sec-)/
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'x-goog-api-key'])
const OWN_KEY = /(^|\s)rc_/

/**
 * The client's headers for the provider. Its credentials are forwarded only when they are not those of this server: it
 * sends its key in another header, or needs none.
 */
export function selectForwardedHeaders(
  request: IncomingMessage,
  isAuthDisabled: boolean,
): HeaderPairs {
  const passesCredentials = isAuthDisabled || request.headers[API_KEY_HEADER] !== undefined
  return headerPairs(request.rawHeaders, (name, value) => {
    if (NOT_FORWARDED.has(name) || NOT_FORWARDED_BEGIN.test(name)) return false
    return !CREDENTIALS.has(name) || (passesCredentials && !OWN_KEY.test(value))
  })
}

/** Headers about the provider's connection and origin. */
const NOT_RETURNED: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'transfer-encoding', 'te', 'trailer'],
  ...['upgrade', 'set-cookie', 'strict-transport-security', 'alt-svc', 'content-security-policy'],
  ...['access-control-allow-origin', 'access-control-allow-credentials', 'report-to', 'nel'],
])

export function copyResponseHeaders(response: ServerResponse, headers: HeaderPairs): void {
  // `x-request-id` stays the provider's, which its support asks for; the id of this server gets a name of its own.
  const requestId = response.getHeader('x-request-id')
  if (requestId !== undefined) response.setHeader('x-recollect-request-id', requestId)
  const copied = new Set<string>()
  for (const [raw, value] of headers) {
    const name = raw.toLowerCase()
    // A provider may itself be a Recollect, whose headers describe its own memory.
    if (NOT_RETURNED.has(name) || name.startsWith('x-recollect-')) continue
    if (copied.has(name)) response.appendHeader(name, value)
    else response.setHeader(name, value)
    copied.add(name)
  }
}

/** Whether the forwarded headers carry credentials of the client. */
export function hasCredentials(headers: HeaderPairs): boolean {
  return headers.some(([name]) => CREDENTIALS.has(name.toLowerCase()))
}

/** The value of the memory header. It names a receipt only if one will be written. */
export function renderMemoryHeader(
  { receipt, count, tokens, degraded, settings }: PreparedRequest,
  skipped: SkipReason | null,
): string {
  const outcome =
    skipped === null ? `injected; count=${count}; tokens=${tokens}` : `skipped; reason=${skipped}`
  const isWritten =
    receipt !== null && settings['gateway.enabled'] && settings['retention.receiptsMax'] > 0
  const value = isWritten ? `${outcome}; receipt=${receipt}` : outcome
  return degraded.length > 0 ? `${value}; degraded=${degraded.join(',')}` : value
}

export const MEMORY_HEADER = 'x-recollect-memory'
