/**
 * SSRF guard. The gateway connects from inside the operator's network, so addresses with machine secrets are always
 * blocked, and private ones open only to hosts that the operator marked as private.
 *
 * Host names are checked on every resolution, on the addresses that are then connected to, which defeats DNS rebinding.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { AppError, type ErrorCode } from '../../lib/errors.ts'
import type { Provider } from '../provider.ts'

export type AddressClass = 'public' | 'private' | 'refused'

/** Resolves a host name to all its addresses. */
export type ResolveHost = (
  name: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void

type Subnet = readonly [network: string, prefix: number]

/** Always blocked: unspecified, link-local, metadata, multicast and reserved addresses. */
const REFUSED = blockList(
  [
    ['0.0.0.0', 8],
    ['169.254.0.0', 16],
    ['100.100.100.200', 32],
    ['168.63.129.16', 32],
    ['192.0.0.192', 32],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ],
  [
    ['::', 128],
    // NAT64 prefixes: the embedded IPv4 address depends on the network.
    ['64:ff9b:1::', 48],
    ['fe80::', 10],
    ['ff00::', 8],
    ['fd00:ec2::254', 128],
    ['fd20:ce::254', 128],
    ['fd00:42::42', 128],
  ],
)
/** One's own machine and network, and what isn't routed on the internet. */
const PRIVATE = blockList(
  [
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
  ],
  [
    ['::1', 128],
    ['fc00::', 7],
    ['fec0::', 10],
    ['2001:db8::', 32],
  ],
)
const REFUSED_NAMES: ReadonlySet<string> = new Set([
  ...['metadata', 'metadata.google.internal', 'metadata.goog'],
  ...['instance-data', 'instance-data.ec2.internal'],
])

function blockList(version4: readonly Subnet[], version6: readonly Subnet[]): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of version4) list.addSubnet(network, prefix, 'ipv4')
  for (const [network, prefix] of version6) list.addSubnet(network, prefix, 'ipv6')
  return list
}

/** What no address is, is refused. */
export function classifyAddress(address: string): AddressClass {
  const bare = address.replace(/%.*$/, '')
  const version = isIP(bare)
  if (version === 0) return 'refused'
  const inner = version === 6 ? extractEmbeddedIpv4(bare) : null
  const family = version === 6 ? 'ipv6' : 'ipv4'
  const reaches = [
    inner === null ? 'public' : classifyAddress(inner),
    listed(bare, family),
  ] as const
  return (['refused', 'private'] as const).find((reach) => reaches.includes(reach)) ?? 'public'
}

function listed(address: string, family: 'ipv4' | 'ipv6'): AddressClass {
  if (REFUSED.check(address, family)) return 'refused'
  return PRIVATE.check(address, family) ? 'private' : 'public'
}

/** The IPv4 address that one of IPv6 leads to: mapped, compatible, translated (NAT64), tunnelled (6to4, Teredo). */
function extractEmbeddedIpv4(address: string): string | null {
  const groups = groupsOf(address)
  const [first = 0, second = 0] = groups
  const isBelow = (...beginning: readonly number[]) =>
    beginning.every((group, index) => groups[index] === group)
  const [high = 0, low = 0] = groups.slice(6)
  if (isBelow(0, 0, 0, 0, 0) && [0, 0xffff].includes(groups[5] ?? -1)) {
    // `::` and `::1` have the same form but embed no IPv4 address.
    return groups[5] === 0 && high === 0 && low <= 1 ? null : toDottedIpv4(high, low)
  }
  if (isBelow(0, 0, 0, 0, 0xffff, 0)) return toDottedIpv4(high, low)
  if (isBelow(0x64, 0xff9b)) return toDottedIpv4(high, low)
  if (first === 0x2002) return toDottedIpv4(second, groups[2] ?? 0)
  if (isBelow(0x2001, 0)) return toDottedIpv4(high ^ 0xffff, low ^ 0xffff)
  return null
}

function toDottedIpv4(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight groups of an address that is known to be one. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = address.split('::')
  const [before, after] = [pieces(head), pieces(tail ?? '')]
  const gap = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...new Array<number>(gap).fill(0), ...after]
}

function pieces(text: string): readonly number[] {
  if (text === '') return []
  return text.split(':').flatMap((piece) => {
    if (!piece.includes('.')) return [Number.parseInt(piece, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = piece.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

/** The host of an address, as resolvers take it: without brackets and without the dot that ends a full name. */
export function getHost(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}

/** Whether a name may stand for an address of a private network. */
export function isPrivateAllowed({ isPrivate }: Pick<Provider, 'isPrivate'>, url: URL): boolean {
  const host = getHost(url)
  if (isPrivate) return true
  if (isIP(host) !== 0) return classifyAddress(host) === 'private'
  return !host.includes('.') || host.endsWith('.localhost')
}

/** Refuses what can be refused without resolving the name. */
export function parseProviderAddress(provider: Pick<Provider, 'name' | 'baseUrl'>): URL {
  const { name, baseUrl } = provider
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === null || !isHttp || url.username !== '' || url.password !== '') {
    throw new AppError(
      'invalid_input',
      `The base URL of the provider ${name} must start with http:// or https:// and contain no credentials.`,
      { provider: name },
    )
  }
  const host = getHost(url)
  const isRefused = isIP(host) === 0 ? REFUSED_NAMES.has(host) : classifyAddress(host) === 'refused'
  if (isRefused) throw createBlockedAddressError('invalid_input', name, host, 'refused')
  return url
}

/** Looks names up as the system does, and fails when any of the addresses may not be connected to. */
export function createGuardedLookup(
  provider: Pick<Provider, 'name'>,
  allowsPrivate: boolean,
  resolve: ResolveHost = resolveAll,
): LookupFunction {
  return (name, options, done) => {
    resolve(name, (error, addresses) => {
      if (error !== null) return done(error, '', 0)
      const wanted = addresses.filter(({ family }) => isWanted(family, options.family))
      const [first] = wanted
      if (first === undefined) return done(notFound(name), '', 0)
      for (const { address } of addresses) {
        const reach = classifyAddress(address)
        if (reach === 'public' || (reach === 'private' && allowsPrivate)) continue
        return done(createBlockedAddressError('unavailable', provider.name, name, reach), '', 0)
      }
      if (options.all) return done(null, [...wanted])
      return done(null, first.address, first.family)
    })
  }
}

const resolveAll: ResolveHost = (name, done) => systemLookup(name, { all: true }, done)

function isWanted(family: number, asked: number | string | undefined): boolean {
  return asked === undefined || asked === 0 || asked === family || asked === `IPv${family}`
}

function notFound(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address for ${name}`), { code: 'ENOTFOUND' })
}

function createBlockedAddressError(
  code: ErrorCode,
  provider: string,
  host: string,
  reach: AddressClass,
): AppError {
  const why =
    reach === 'private'
      ? `the name ${host} stands for an address of a private network. If that is meant, set "private": true for this provider, or write the address itself`
      : `${host} is, or stands for, an address that no provider has: one of this link, of a machine's metadata, or of nobody. Use the provider's own address; for this machine, 127.0.0.1`
  const facts = { provider, host, retryable: false }
  return new AppError(code, `The provider ${provider} can't be used: ${why}.`, facts)
}
