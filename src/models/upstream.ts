import type { Duplex, Readable } from 'node:stream'
import { AppError } from '../lib/errors.ts'
import type { Provider } from './provider.ts'

export type HeaderPairs = readonly (readonly [name: string, value: string])[]

/** Pairs from the platform's raw header list; only the given names, in lower case. */
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
  /** Path below the provider's base URL, with the query: `/chat/completions`. */
  readonly path: string
  readonly headers: HeaderPairs
  /** A stream is sent as it comes, and never sent again. */
  readonly body: Uint8Array | Readable | null
  /** Of a stream, in bytes. Without it, the stream is sent in chunks. */
  readonly declaredLength?: number
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

export type UpstreamResponse = {
  readonly status: number
  /** Unchanged. */
  readonly headers: HeaderPairs
  /** Body bytes as received, with backpressure. Fails when the provider breaks off. */
  readonly body: AsyncIterable<Uint8Array>
}

/** `refused`: the provider answered something else. */
export type UpstreamUpgrade =
  | { readonly kind: 'refused'; readonly response: UpstreamResponse }
  | {
      readonly kind: 'open'
      /** Those of the handshake. */
      readonly headers: HeaderPairs
      readonly socket: Duplex
    }

export function createNoSocketError(provider: string): AppError {
  const message = `The provider ${provider} has no WebSockets.`
  return new AppError('not_found', message, { provider })
}

/**
 * Upstream: the connection to a provider. It moves bytes without interpreting them.
 *
 * An unreachable provider or a timeout is an `unavailable` or `timeout` error without secrets; any response, errors
 * included, is a result. A request is retried only while it cannot have been processed.
 */
export interface Upstream {
  send(request: UpstreamRequest): Promise<UpstreamResponse>
  /** Asks for a WebSocket; the handshake is in the headers. Absent where there are none. */
  readonly upgrade?: (request: UpstreamRequest) => Promise<UpstreamUpgrade>
  close(): Promise<void>
}

/** In lower case; empty when absent. */
export function headerValue(headers: HeaderPairs, wanted: string): string {
  const found = headers.find(([name]) => name.toLowerCase() === wanted)
  return found?.[1].trim().toLowerCase() ?? ''
}
