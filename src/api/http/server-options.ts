/** Options and hooks of the HTTP server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AppError } from '../../lib/errors.ts'
import type { Caller } from '../operations/authorization.ts'
import type { EmbeddingProvider } from '../operations/operation.ts'

/** A path of a mount, for the description of the API. */
export type MountedPath = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** The content type of the body; without one there is none. */
  readonly body?: string
  /** The content type of the answer. Default: JSON. */
  readonly answer?: string
}

/** A handler mounted on the same port, behind host, origin, key and rate checks. */
export type Mount = {
  /** For example `/mcp`. Paths below it are included. */
  readonly path: string
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    charge: ConsumeRequests,
    context: MountContext,
  ): Promise<void>
  /** What the description of the API lists. */
  readonly paths?: readonly MountedPath[]
  /**
   * Whether most responses there are proxied and latency-sensitive: they get the fewest headers.
   */
  isProxied?(path: string): boolean
  /** Error format for its clients, where it differs from the standard shape. */
  errorBody?(request: IncomingMessage, error: AppError, requestId: string): object
  /** The header in which its clients expect the request id, where it differs. */
  errorIdHeader?(request: IncomingMessage): string | null
}

export type MountContext = {
  readonly requestId: string
  /** Aborts when the client disconnects, or when the shutdown grace period is over. */
  readonly signal: AbortSignal
}

/**
 * Takes further requests from the key's bucket, for batches; the first one is already taken. Fails
 * when too few are left.
 */
export type ConsumeRequests = (requests: number) => Promise<void>

/** One completed request. The route is the template, because paths may contain names. */
export type RequestReport = {
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly ms: number
  /** Bytes sent, including headers. */
  readonly bytes: number
  readonly keyId: string | null
  /** The internal error behind the status, if any. */
  readonly error?: unknown
}

export type HttpServerOptions = {
  readonly engine: Engine
  readonly version: string
  readonly clock: Clock
  /**
   * `off` treats every caller as superadmin; only for servers that nobody else can reach. Default:
   * `keys`.
   */
  readonly auth?: 'keys' | 'off'
  /** Whether the server itself terminates TLS. */
  readonly isTls?: boolean
  /** Trusts `X-Forwarded-For` and `X-Forwarded-Proto`. Only safe behind a proxy that sets them. */
  readonly trustProxy?: boolean
  /** Host names that the server answers to, without ports. */
  readonly allowedHosts: readonly string[]
  /** Whether any IP address is a valid host. DNS rebinding cannot use one. */
  readonly allowsIpAddresses?: boolean
  /** Origins of web pages that may call the API, such as `https://app.example`. Default: none. */
  readonly allowedOrigins?: readonly string[]
  readonly embeddingProviders?: readonly EmbeddingProvider[]
  /** The body of `/metrics`; without it there is none. */
  readonly metrics?: () => Promise<string>
  /** Whether `/metrics` needs no key. */
  readonly hasPublicMetrics?: boolean
  /** The folder of the built Studio; without it, `/` is a plain page. */
  readonly studioFolder?: string
  /** The folder of the built documentation; without it, `/docs` says how to build it. */
  readonly docsFolder?: string
  readonly onRequest?: (report: RequestReport) => void
  readonly mounts?: readonly Mount[]
}

/** Network options of `serve`. */
export type ServerNetworkOptions = {
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Trust proxy headers for client address and protocol. */
  readonly trustProxy: boolean
  /** Host names besides the bound address. */
  readonly allowedHosts: readonly string[]
  /** Allowed origins of other web pages. */
  readonly allowedOrigins: readonly string[]
}
