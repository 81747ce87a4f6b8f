/** What the HTTP door needs to know, and what it tells. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AppError } from '../../lib/errors.ts'
import type { Caller } from '../operations/authorization.ts'
import type { EmbeddingProvider } from '../operations/operation.ts'

/** Another door behind the same port. It is reached only after host, origin, key and rate were checked. */
export type Mount = {
  /** As `/mcp`. Addresses below it belong to it too. */
  readonly path: string
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    charge: ConsumeRequests,
    visit: MountContext,
  ): Promise<void>
  /** Whether nearly all answers there are somebody else's, and in a hurry: they get the fewest headers of ours. */
  isProxied?(path: string): boolean
  /** How errors look to its clients, where that is not our own shape. */
  errorBody?(request: IncomingMessage, error: AppError, requestId: string): object
  /** The header that its clients read the id of a failed request from, where that is not our own. */
  errorIdHeader?(request: IncomingMessage): string | null
}

export type MountContext = {
  readonly requestId: string
  /** Fires when the client leaves, or when the server stops and has waited long enough. */
  readonly signal: AbortSignal
}

/**
 * Takes further requests off the key's account, for what asks for several things at once; the first one is taken
 * already. Fails when there are not so many left.
 */
export type ConsumeRequests = (requests: number) => Promise<void>

/** One answered request. The route is a template, never the address itself, which may hold names. */
export type RequestReport = {
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly ms: number
  /** Sent to the client, headers included. */
  readonly bytes: number
  readonly keyId: string | null
  /** What went wrong inside, when that was the reason for the status. */
  readonly error?: unknown
}

export type HttpServerOptions = {
  readonly engine: Engine
  readonly version: string
  readonly clock: Clock
  /** `off` lets everybody in as a superadmin; only for a server that nobody else can reach. Default: `keys`. */
  readonly auth?: 'keys' | 'off'
  /** Whether the connection itself is encrypted. */
  readonly isTls?: boolean
  /** Believes `X-Forwarded-For` and `X-Forwarded-Proto`, which only a proxy in front may set. */
  readonly trustProxy?: boolean
  /** Names under which this server may be asked for, without ports. */
  readonly allowedHosts: readonly string[]
  /** Whether any IP address is a good name too. It is no name that anybody could make point elsewhere. */
  readonly allowsIpAddresses?: boolean
  /** Other web pages that may ask from a browser, as `https://app.example`. Default: none. */
  readonly allowedOrigins?: readonly string[]
  readonly embeddingProviders?: readonly EmbeddingProvider[]
  /** The text of `/metrics`; without it there is none. */
  readonly metrics?: () => Promise<string>
  /** Whether `/metrics` is told without a key. */
  readonly hasPublicMetrics?: boolean
  /** The folder of the built Studio; without it, `/` is a plain page. */
  readonly studioFolder?: string
  readonly onRequest?: (report: RequestReport) => void
  readonly mounts?: readonly Mount[]
}

/** How `serve` meets the world. */
export type ServerNetworkOptions = {
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Believe what a proxy says about who asks and how. */
  readonly trustProxy: boolean
  /** Names under which it may be asked, besides its own address. */
  readonly allowedHosts: readonly string[]
  /** Pages of other origins that may ask it. */
  readonly allowedOrigins: readonly string[]
}
