import type { Provider } from './provider.ts'

export type HeaderPairs = readonly (readonly [name: string, value: string])[]

/** Pairs of what the platform gives as names and values in turn; only those that are to be kept, by their name in lower case. */
export function headerPairs(
  raw: readonly string[],
  isKept: (name: string, value: string) => boolean,
): HeaderPairs {
  const pairs: (readonly [string, string])[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [raw[at] ?? '', raw[at + 1] ?? '']
    if (isKept(name.toLowerCase(), value)) pairs.push([name, value])
  }
  return pairs
}

export type UpstreamRequest = {
  readonly provider: Provider
  readonly method: string
  /** Below the provider's base URL, with its query: `/chat/completions`. */
  readonly path: string
  readonly headers: HeaderPairs
  readonly body: Uint8Array | null
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

export type UpstreamResponse = {
  readonly status: number
  /** As they came. */
  readonly headers: HeaderPairs
  /** Compressed or not, as it came; reading no further holds the sender up. Fails when the provider breaks off. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Upstream: the gateway's far side. It moves bytes and doesn't know what they say, so that everything survives.
 *
 * A provider that can't be reached, or doesn't answer in time, is an `unavailable` or `timeout` error that holds no
 * secret; any answer of its own, errors included, is an answer. A request is sent again only while nothing of it can
 * have been worked on.
 */
export interface Upstream {
  send(request: UpstreamRequest): Promise<UpstreamResponse>
  close(): Promise<void>
}

/** In lower case; empty when there is none. */
export function headerValue(headers: HeaderPairs, wanted: string): string {
  const found = headers.find(([name]) => name.toLowerCase() === wanted)
  return found?.[1].trim().toLowerCase() ?? ''
}
