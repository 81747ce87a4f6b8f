/** Headers: what a client asks of memory, what goes on to the provider, and what comes back. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { PreparedRequest, SkipReason } from '../../../conversations/conversations.ts'
import { NAME_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { parseScope } from '../../../domain/scope.ts'
import { AppError } from '../../../lib/errors.ts'
import { type HeaderPairs, headerPairs } from '../../../models/upstream.ts'
import { API_KEY_HEADER, firstHeaderValue } from '../../http/security/authentication.ts'
import { type Caller, canReachOwner, hasAccess } from '../../operations/authorization.ts'

const YES = ['true', '1', 'yes']

/** For looking at one name at a time. */
const SAMPLE_OWNER = 'somebody'
const NAME_RULE = `at most ${NAME_CHARACTERS_MAX} characters, none of them a control character, and no @ before an agent.`

/** What the headers of a request say about memory. */
export type MemoryHeaders = {
  readonly owner: string
  readonly user: string | null
  readonly session: string | null
  readonly memory: boolean
  readonly inject: boolean
  readonly extract: boolean
}

export function parseMemoryHeaders({ headers }: IncomingMessage, caller: Caller): MemoryHeaders {
  const says = (...names: readonly string[]) =>
    names.some((name) => YES.includes(firstHeaderValue(headers, name)?.trim().toLowerCase() ?? ''))
  const agent = readName(headers, 'x-recollect-agent', 'x-osaurus-agent-id')
  const user = readName(headers, 'x-recollect-user')
  const session = readName(headers, 'x-recollect-session', 'x-omniroute-session-id')
  assertValidNames({ owner: agent, user, session })
  const owner = agent ?? caller.home
  if (!canReachOwner(caller, owner, 'write')) {
    throw new AppError('forbidden', 'The key may not act for this agent.', {
      field: 'x-recollect-agent',
    })
  }
  const isHome = owner === caller.home
  return {
    owner,
    user: user ?? (isHome ? (caller.user ?? null) : null),
    session,
    memory: !says('x-recollect-no-memory', 'x-omniroute-no-memory'),
    inject: !says('x-recollect-no-inject'),
    // Who may only read gets answers, and leaves nothing behind.
    extract: !says('x-recollect-no-extract') && hasAccess(caller, 'write'),
  }
}

const NAMING_HEADERS = {
  owner: 'x-recollect-agent',
  user: 'x-recollect-user',
  session: 'x-recollect-session',
} as const

/** A name that memory can't keep would mean an answer without memory, and nobody to tell why. */
function assertValidNames(
  names: Readonly<Record<keyof typeof NAMING_HEADERS, string | null>>,
): void {
  for (const [part, header] of Object.entries(NAMING_HEADERS)) {
    const value = names[part as keyof typeof NAMING_HEADERS] // a key of the table
    try {
      if (value !== null) parseScope({ owner: SAMPLE_OWNER, [part]: value })
    } catch {
      throw new AppError(
        'invalid_input',
        `${header} is not a name that can be used: ${NAME_RULE}`,
        {
          field: header,
        },
      )
    }
  }
}

/** Whether it can be the name of a user as it stands. */
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
    if (value !== undefined && value !== '') return decoded(value)
  }
  return null
}

/** Headers are bytes; names in other scripts are sent as UTF-8. */
function decoded(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}

/**
 * About this connection or this server; nothing to the provider. `Connection` itself names further ones, which are left
 * out together with it when the request is sent.
 */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...['keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer'],
  ...['upgrade', 'expect', 'host', 'content-length', 'cookie', 'origin', 'referer', 'forwarded'],
  ...['x-real-ip', 'x-osaurus-agent-id', 'proxy-authorization', 'traceparent', 'tracestate'],
])
const NOT_FORWARDED_BEGIN = /^(x-recollect-|x-omniroute-|x-forwarded-|sec-)/
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key'])
const OWN_KEY = /(^|\s)rc_/

/**
 * What the client sent, without what concerns only us. Its credentials go on when they are not those it showed us: it
 * has a header of ours for them, or needs none.
 */
export function selectForwardedHeaders(request: IncomingMessage, isOpen: boolean): HeaderPairs {
  const passesCredentials = isOpen || request.headers[API_KEY_HEADER] !== undefined
  return headerPairs(request.rawHeaders, (name, value) => {
    if (NOT_FORWARDED.has(name) || NOT_FORWARDED_BEGIN.test(name)) return false
    return !CREDENTIALS.has(name) || (passesCredentials && !OWN_KEY.test(value))
  })
}

/** About the provider's own connection and origin; wrong in our name. */
const NOT_RETURNED: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'transfer-encoding', 'te', 'trailer'],
  ...['upgrade', 'set-cookie', 'strict-transport-security', 'alt-svc', 'content-security-policy'],
  ...['access-control-allow-origin', 'access-control-allow-credentials', 'report-to', 'nel'],
])

export function copyResponseHeaders(response: ServerResponse, headers: HeaderPairs): void {
  // The client's own support will ask for the provider's id; ours is beside it.
  const ours = response.getHeader('x-request-id')
  if (ours !== undefined) response.setHeader('x-recollect-request-id', ours)
  const begun = new Set<string>()
  for (const [raw, value] of headers) {
    const name = raw.toLowerCase()
    // A provider that is a Recollect itself tells of its own memory, not of ours.
    if (NOT_RETURNED.has(name) || name.startsWith('x-recollect-')) continue
    if (begun.has(name)) response.appendHeader(name, value)
    else response.setHeader(name, value)
    begun.add(name)
  }
}

/** Whether the provider will be asked with something that the client itself brought. */
export function hasCredentials(headers: HeaderPairs): boolean {
  return headers.some(([name]) => CREDENTIALS.has(name.toLowerCase()))
}

/** What memory did, for whoever looks at the answer. A receipt is named only where one will be written. */
export function renderMemoryHeader(
  { receipt, count, tokens, degraded, settings }: PreparedRequest,
  skipped: SkipReason | null,
): string {
  const outcome =
    skipped === null ? `injected; count=${count}; tokens=${tokens}` : `skipped; reason=${skipped}`
  const isWritten =
    receipt !== null && settings['gateway.enabled'] && settings['retention.receiptsMax'] > 0
  const told = isWritten ? `${outcome}; receipt=${receipt}` : outcome
  return degraded.length > 0 ? `${told}; degraded=${degraded.join(',')}` : told
}

export const MEMORY_HEADER = 'x-recollect-memory'
