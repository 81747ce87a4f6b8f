/** Headers on their way to a provider and back: as they came, but for those that are about one connection only. */
import type { Provider } from '../provider.ts'
import { type HeaderPairs, headerPairs, type UpstreamRequest } from '../upstream.ts'

/** About one connection; a proxy has its own on either side. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings'],
])
/** Follow from where the request goes and what it holds. */
const OF_REQUEST: ReadonlySet<string> = new Set(['host', 'content-length', 'expect'])
/** Ways in which clients show who they are; none of them may go along with a key of ours. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  ...['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'],
])

const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/** Names that a configuration can't set. */
export function isReservedHeader(name: string): boolean {
  const known = name.toLowerCase()
  return OF_CONNECTION.has(known) || OF_REQUEST.has(known)
}

/** What is sent, in the form in which nothing of it is changed: names and values in turn. */
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
  const hasLength = body !== null || !BODILESS.has(method)
  if (hasLength) sent.push('content-length', String(body?.byteLength ?? 0))
  return sent
}

/** Its key, unless a header of its own stands for it, and its headers. */
function headersOf({ kind, key, headers }: Provider): HeaderPairs {
  const own = Object.entries(headers)
  if (key === null) return own
  const auth =
    kind === 'anthropic'
      ? (['x-api-key', key] as const)
      : (['authorization', `Bearer ${key}`] as const)
  const isGiven = own.some(([name]) => name.toLowerCase() === auth[0])
  return isGiven ? own : [auth, ...own]
}

/** What came back, in pairs. */
export function toResponseHeaders(raw: readonly string[]): HeaderPairs {
  return removeHopByHopHeaders(headerPairs(raw, () => true))
}

/** `Connection` may name others that are about the connection too. */
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
