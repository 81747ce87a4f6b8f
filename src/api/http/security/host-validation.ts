/**
 * Validates Host and Origin before any authentication: a web page can make a browser send requests
 * here, by DNS rebinding or cross-origin, and both headers reveal it.
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
const EXPOSED_HEADERS =
  'etag, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, x-request-id, idempotency-replayed, x-recollect-memory, x-recollect-request-id'
const DEFAULT_ALLOWED_HEADERS =
  'authorization, content-type, idempotency-key, if-match, if-none-match, x-api-key, x-request-id'
const HEADER_NAMES = /^[\w-]{1,64}(?:, ?[\w-]{1,64}){0,63}$/
const PREFLIGHT_SECONDS = '600'

/** The host names that a server bound to this address answers to. */
export function allowedHostsFor(
  bound: string,
  configured: readonly string[] = [],
): readonly string[] {
  return [...LOOPBACK_HOSTS, formatHost(bound), ...configured].map(parseHostName)
}

export function isWildcard(host: string): boolean {
  return WILDCARDS.includes(host)
}

/** Whether a server bound to this address is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(host) || host === '::1' || host === 'localhost'
}

export function formatHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}

/** The host without its port. IPv6 addresses keep their brackets. */
export function parseHostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '')
}

export function assertAllowedHost(options: HostValidationOptions, request: IncomingMessage): void {
  const name = parseHostName(onlyHost(request))
  if (options.allowedHosts.includes(name)) return
  if (options.allowsIpAddresses === true && isIP(name.replace(/^\[|\]$/g, '')) > 0) return
  throw new AppError(
    'forbidden',
    '`Host` must be an allowed host name. Add it with --allow-host or RECOLLECT_ALLOWED_HOSTS.',
  )
}

/** A proxy and this server could each pick a different one of two. */
function onlyHost({ headers, rawHeaders }: IncomingMessage): string {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHostField(rawHeaders[at] ?? '')) times++
  if (times === 1 && headers.host !== undefined) return headers.host
  throw new AppError('invalid_input', '`Host` must be present exactly once.', { field: 'Host' })
}

function isHostField(name: string): boolean {
  return name.length === HOST_FIELD.length && name.toLowerCase() === HOST_FIELD
}

/**
 * `100-continue` is the only valid expectation, and Node answers it before a request gets here.
 */
export function assertNoExpectHeader({ headers: { expect } }: IncomingMessage): void {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return
  const message = '`Expect` must be "100-continue".'
  throw new AppError('invalid_input', message, { field: 'Expect' })
}

export function assertAllowedOrigin(
  options: HostValidationOptions,
  request: IncomingMessage,
): void {
  const { origin } = request.headers
  if (origin === undefined || isSameOrigin(options, request)) return
  if (options.allowedOrigins?.includes(origin) === true) return
  throw new AppError(
    'forbidden',
    '`Origin` must be an allowed origin. Add it with --allow-origin or RECOLLECT_ALLOWED_ORIGINS.',
  )
}

/** Whether the request comes from a page of this server. */
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

/** The client address. A proxy appends the address that it saw. */
export function clientAddress(
  { trustProxy }: HostValidationOptions,
  request: IncomingMessage,
): string {
  const forwarded = [request.headers['x-forwarded-for']].flat().at(-1)?.split(',').at(-1)?.trim()
  if (trustProxy === true && forwarded !== undefined && isIP(forwarded) > 0) return forwarded
  return request.socket.remoteAddress ?? ''
}

/** Sets CORS headers for configured origins. Credentials are never allowed. */
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
  response.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
  response.setHeader('cross-origin-resource-policy', 'cross-origin')
}

/** Whether this is a CORS preflight request. */
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

/** Provider SDKs send many headers of their own; allowed origins may send any of them. */
export function setPreflightHeaders(
  request: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
): void {
  const requested = request.headers['access-control-request-headers'] ?? ''
  response.setHeader('access-control-allow-methods', methods.join(', '))
  response.setHeader(
    'access-control-allow-headers',
    HEADER_NAMES.test(requested) ? requested : DEFAULT_ALLOWED_HEADERS,
  )
  response.setHeader('access-control-max-age', PREFLIGHT_SECONDS)
}
