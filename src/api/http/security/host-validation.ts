/**
 * Who may ask at all, before any key is looked at. A web page elsewhere can make a browser send requests here, by
 * resolving its own name to this machine or by simply asking; the headers Host and Origin give both away.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { AppError } from '../../../lib/errors.ts'
import { addVary } from '../messages/response.ts'
import type { HttpServerOptions } from '../server-options.ts'

type HostValidationOptions = Pick<
  HttpServerOptions,
  'allowedHosts' | 'allowsIpAddresses' | 'allowedOrigins' | 'isTls' | 'trustProxy'
>

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]']
const HOST_FIELD = 'host'
const WILDCARDS = ['0.0.0.0', '::']
const EXPOSED =
  'etag, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, x-request-id, idempotency-replayed, x-recollect-memory, x-recollect-request-id'
const ASKED_HEADERS =
  'authorization, content-type, idempotency-key, if-match, if-none-match, x-api-key, x-request-id'
const HEADER_NAMES = /^[\w-]{1,64}(?:, ?[\w-]{1,64}){0,63}$/
const PREFLIGHT_SECONDS = '600'

/** The names that a server bound to this host answers to. */
export function allowedHostsFor(
  bound: string,
  configured: readonly string[] = [],
): readonly string[] {
  return [...LOOPBACK_HOSTS, formatHost(bound), ...configured].map(parseHostName)
}

export function isWildcard(host: string): boolean {
  return WILDCARDS.includes(host)
}

/** Whether only this machine can reach a server bound to this host. */
export function isLoopback(host: string): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(host) || host === '::1' || host === 'localhost'
}

export function formatHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}

/** The name without its port; IPv6 addresses keep their brackets. */
export function parseHostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '')
}

export function assertAllowedHost(options: HostValidationOptions, request: IncomingMessage): void {
  const name = parseHostName(onlyHost(request))
  if (options.allowedHosts.includes(name)) return
  if (options.allowsIpAddresses === true && isIP(name.replace(/^\[|\]$/g, '')) > 0) return
  throw new AppError(
    'forbidden',
    'This server does not answer under that name. Further names are given with --allow-host or RECOLLECT_ALLOWED_HOSTS.',
  )
}

/** Two of them could mean one server to a proxy and another one here. */
function onlyHost({ headers, rawHeaders }: IncomingMessage): string {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHostField(rawHeaders[at] ?? '')) times++
  if (times === 1 && headers.host !== undefined) return headers.host
  throw new AppError('invalid_input', 'A request has one Host header.', { field: 'Host' })
}

function isHostField(name: string): boolean {
  return name.length === HOST_FIELD.length && name.toLowerCase() === HOST_FIELD
}

/** Only `100-continue` can be expected, and that is answered before a request gets here. */
export function assertNoExpectHeader({ headers: { expect } }: IncomingMessage): void {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return
  const message = 'Nothing but 100-continue can be expected.'
  throw new AppError('invalid_input', message, { field: 'Expect' })
}

export function assertAllowedOrigin(
  options: HostValidationOptions,
  request: IncomingMessage,
): void {
  const { origin } = request.headers
  if (origin === undefined || isSameOrigin(options, request)) return
  if (options.allowedOrigins?.includes(origin) === true) return
  throw new AppError('forbidden', 'This server does not answer to pages of other origins.')
}

/** Whether a page of this very server asks. */
export function isSameOrigin(options: HostValidationOptions, request: IncomingMessage): boolean {
  const scheme = isSecure(options, request) ? 'https' : 'http'
  return request.headers.origin === `${scheme}://${request.headers.host ?? ''}`.toLowerCase()
}

export function isSecure(
  { isTls, trustProxy }: HostValidationOptions,
  { headers }: IncomingMessage,
): boolean {
  return isTls === true || (trustProxy === true && headers['x-forwarded-proto'] === 'https')
}

/** Where a request comes from. A proxy adds the address it saw at the end. */
export function clientAddress(
  { trustProxy }: HostValidationOptions,
  request: IncomingMessage,
): string {
  const forwarded = [request.headers['x-forwarded-for']].flat().at(-1)?.split(',').at(-1)?.trim()
  if (trustProxy === true && forwarded !== undefined && isIP(forwarded) > 0) return forwarded
  return request.socket.remoteAddress ?? ''
}

/** Lets pages of the configured origins read the answer. Cookies never come with them. */
export function setCorsHeaders(
  { allowedOrigins }: HostValidationOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (allowedOrigins === undefined || allowedOrigins.length === 0) return
  addVary(response, 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !allowedOrigins.includes(origin)) return
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', EXPOSED)
  response.setHeader('cross-origin-resource-policy', 'cross-origin')
}

/** A browser asks beforehand whether a page of another origin may send this. */
export function isPreflight(
  { allowedOrigins }: HostValidationOptions,
  request: IncomingMessage,
): boolean {
  const { origin } = request.headers
  return (
    request.method === 'OPTIONS' &&
    origin !== undefined &&
    allowedOrigins?.includes(origin) === true &&
    request.headers['access-control-request-method'] !== undefined
  )
}

/** Clients of model providers bring many headers of their own; a page that may ask may ask with them. */
export function setPreflightHeaders(
  request: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
): void {
  const asked = request.headers['access-control-request-headers'] ?? ''
  response.setHeader('access-control-allow-methods', methods.join(', '))
  response.setHeader(
    'access-control-allow-headers',
    HEADER_NAMES.test(asked) ? asked : ASKED_HEADERS,
  )
  response.setHeader('access-control-max-age', PREFLIGHT_SECONDS)
}
