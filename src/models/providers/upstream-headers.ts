/** Forwards headers in both directions, except hop-by-hop headers. */
import type { Provider } from '../provider.ts'
import { type HeaderPairs, headerPairs, type UpstreamRequest } from '../upstream.ts'

/** Hop-by-hop headers. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings'],
])
/** Derived from target and body. */
const OF_REQUEST: ReadonlySet<string> = new Set(['host', 'content-length', 'expect'])
/** Client credentials; never forwarded together with a configured key. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  ...['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'],
])

/** Of kinds whose key is no bearer token. */
const KEY_HEADERS: { readonly [Kind in Provider['kind']]?: string } = {
  anthropic: 'x-api-key',
  azure: 'api-key',
}

const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/** Headers that a configuration must not set. */
export function isReservedHeader(name: string): boolean {
  const known = name.toLowerCase()
  return OF_CONNECTION.has(known) || OF_REQUEST.has(known)
}

/** Raw header list: names and values alternate, unchanged. */
export function toRequestHeaders(request: UpstreamRequest, url: URL): string[] {
  const { provider, headers, method, body } = request
  const added = headersOf(provider)
  const replaced = new Set(added.map(([name]) => name.toLowerCase()))
  const hasCredentials = added.some(([name]) => CREDENTIALS.has(name.toLowerCase()))
  const sent = ['host', url.host]
  for (const [name, value] of removeHopByHopHeaders(headers)) {
    const known = name.toLowerCase()
    if (OF_REQUEST.has(known) || replaced.has(known)) continue
    if (!hasCredentials || !CREDENTIALS.has(known)) sent.push(name, value)
  }
  for (const [name, value] of added) sent.push(name, value)
  if (body instanceof Uint8Array) sent.push('content-length', String(body.byteLength))
  else if (body !== null) sent.push(...framingOf(request))
  else if (!BODILESS.has(method)) sent.push('content-length', '0')
  return sent
}

/** The same for a WebSocket. */
export function toUpgradeHeaders(request: UpstreamRequest, url: URL): string[] {
  return [...toRequestHeaders(request, url), 'connection', 'Upgrade', 'upgrade', 'websocket']
}

/** Those of the answer that belong to the handshake. */
export function toHandshakeHeaders(raw: readonly string[]): HeaderPairs {
  return headerPairs(raw, (name) => name.startsWith('sec-websocket-'))
}

/** A stream of known length keeps it; another one is sent in chunks. */
function framingOf({ declaredLength }: UpstreamRequest): readonly [string, string] {
  return declaredLength === undefined
    ? ['transfer-encoding', 'chunked']
    : ['content-length', String(declaredLength)]
}

/** The configured key, unless a custom header replaces it, and custom headers. */
function headersOf({ kind, key, headers }: Provider): HeaderPairs {
  const own = Object.entries(headers)
  if (key === null) return own
  const header = KEY_HEADERS[kind]
  const auth = [header ?? 'authorization', header === undefined ? `Bearer ${key}` : key] as const
  const isGiven = own.some(([name]) => name.toLowerCase() === auth[0])
  return isGiven ? own : [auth, ...own]
}

/** Response headers as pairs. */
export function toResponseHeaders(raw: readonly string[]): HeaderPairs {
  return removeHopByHopHeaders(headerPairs(raw, () => true))
}

/** `Connection` may name further hop-by-hop headers. */
function removeHopByHopHeaders(headers: HeaderPairs): HeaderPairs {
  const named: string[] = []
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'connection') continue
    named.push(...value.split(',').map((each) => each.trim().toLowerCase()))
  }
  return headers.filter(([name]) => {
    const known = name.toLowerCase()
    return !OF_CONNECTION.has(known) && !named.includes(known)
  })
}
