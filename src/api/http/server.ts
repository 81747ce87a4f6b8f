/**
 * The HTTP server. Every request passes the same checks in the same order (host, origin, address,
 * key, rate) before anything is read, and ends in the same response shape.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { ApiKeyId } from '../../domain/ids.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { isAboutKind } from '../../storage/access/change-feed.ts'
import type { Change } from '../../storage/store.ts'
import type { Caller } from '../operations/authorization.ts'
import { OPERATIONS } from '../operations/index.ts'
import type { Operation } from '../operations/operation.ts'
import { createBuiltinRoutes } from './builtin-routes.ts'
import { ConnectionTracker } from './connection-tracker.ts'
import { HEADERS_TIMEOUT_MS, KEEP_ALIVE_TIMEOUT_MS } from './http-limits.ts'
import { rejectConnect, respondMalformedRequest } from './malformed-request.ts'
import { drainRequest } from './messages/request-body.ts'
import {
  errorBody,
  sendEmpty,
  sendJson,
  setSecurityHeaders,
  statusOf,
} from './messages/response.ts'
import { handleOperation, type ReadOperations } from './operation-handler.ts'
import type { BuiltinRoute, RequestContext, ServerContext } from './request-context.ts'
import { Router } from './router.ts'
import {
  Authenticator,
  firstHeaderValue,
  LOCAL_PRINCIPAL,
  type Principal,
} from './security/authentication.ts'
import {
  assertAllowedHost,
  assertAllowedOrigin,
  assertNoExpectHeader,
  clientAddress,
  isPreflight,
  isSameOrigin,
  isSecure,
  setCorsHeaders,
  setPreflightHeaders,
} from './security/host-validation.ts'
import { RateLimiter } from './security/rate-limiter.ts'
import type { HttpServerOptions, Mount } from './server-options.ts'
import { toUpgradeResponse, WebSocketAwareRequest } from './web-socket-request.ts'

/** How often slow headers are checked for. */
const CHECK_MS = 2_000
const UNKNOWN_ROUTE = '(unknown)'
const REQUEST_ID = /^[\w.:-]{1,100}$/
/** A mount defines its own methods. */
const MOUNT_METHODS = ['GET', 'POST', 'DELETE']
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

type Target =
  | { readonly kind: 'operation'; readonly operation: Operation }
  | { readonly kind: 'builtin'; readonly route: BuiltinRoute }
  | { readonly kind: 'mount'; readonly mount: Mount }

/** What is known of a request so far, for the access log. */
type Progress = { route: string; principal: Principal | null; error: unknown }

export type HttpServer = {
  readonly server: Server
  /**
   * Stops accepting requests, waits for those in flight, then aborts them, then closes the
   * remaining connections.
   */
  close(graceMs?: number): Promise<void>
  /** The token of a link that signs a browser on this machine in to the Studio, once. */
  issueSignInToken(key: ApiKeyId): string
}

export function createHttpServer(
  options: HttpServerOptions,
  tls: { readonly cert: Buffer; readonly key: Buffer } | null = null,
): HttpServer {
  const dispatcher = new RequestDispatcher(options)
  // A missing Host header is refused in the standard error shape.
  const settings = {
    ...{ connectionsCheckingInterval: CHECK_MS, requireHostHeader: false },
    IncomingMessage: WebSocketAwareRequest,
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    // A failure while sending an error ends this connection, not the server.
    dispatcher.answer(request, response).catch(() => response.destroy())
  }
  const server: Server =
    tls === null
      ? createServer(settings, listener)
      : createTlsServer({ ...settings, ...tls }, listener)
  server.headersTimeout = HEADERS_TIMEOUT_MS
  // Bodies have their own limits, because imports may take long.
  server.requestTimeout = 0
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS
  server.on('clientError', respondMalformedRequest)
  server.on('checkExpectation', listener)
  server.on('connect', rejectConnect)
  server.on('upgrade', (request, socket, head) => {
    // Connections of this server are sockets, with TLS and without.
    listener(request, toUpgradeResponse(request, socket as Socket, head))
  })
  return {
    server,
    close: (graceMs) => dispatcher.close(server, graceMs),
    issueSignInToken: (key) => dispatcher.issueSignInToken(key),
  }
}

class RequestDispatcher {
  readonly connections = new ConnectionTracker()
  readonly #options: HttpServerOptions
  readonly #context: ServerContext
  readonly #authentication: Authenticator
  readonly #rateLimiter: RateLimiter
  readonly #router = new Router<Target>()
  readonly #readers: ReadOperations
  readonly #mounts: readonly Mount[]
  readonly #unsubscribe: readonly (() => void)[]

  constructor(options: HttpServerOptions) {
    const { engine, version, clock, embeddingProviders = [], mounts = [] } = options
    this.#options = options
    this.#context = { engine, version, embeddingProviders }
    this.#authentication = new Authenticator(engine.admin.keys, clock)
    this.#rateLimiter = new RateLimiter(
      clock,
      async () => (await engine.admin.settings.resolve(null))['server.requestsPerMinute'],
      engine.admin.changeFeed.takeTokens,
    )
    this.#unsubscribe = [
      engine.admin.changeFeed.subscribe((changes) => {
        if (isAboutKind(changes, 'key')) this.#authentication.forget()
        if (isAboutKind(changes, 'setting')) this.#rateLimiter.invalidateLimit()
      }),
      engine.onChanged((changes) => {
        if (changes.some(isKeyRemoval)) this.#authentication.forget()
      }),
    ]
    this.#mounts = mounts
    this.#readers = new Map(
      OPERATIONS.filter(({ http }) => http.method === 'GET' && http.version !== undefined).map(
        (operation) => [operation.http.path, operation],
      ),
    )
    this.#addRoutes()
  }

  async close(server: Server, graceMs?: number): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await this.connections.close(server, graceMs)
  }

  issueSignInToken(key: ApiKeyId): string {
    return this.#authentication.signInTokens.issue(key)
  }

  #addRoutes(): void {
    for (const operation of OPERATIONS) {
      const { method, path } = operation.http
      this.#router.add(method, path, { kind: 'operation', operation })
    }
    for (const operation of OPERATIONS) {
      const { method, path } = operation.http
      if (method === 'PUT' && !this.#router.has('PATCH', path)) {
        this.#router.add('PATCH', path, { kind: 'operation', operation })
      }
    }
    const builtin = createBuiltinRoutes({
      ...this.#options,
      context: this.#context,
      authentication: this.#authentication,
      isStopping: () => this.connections.isStopping,
      stopping: this.connections.stopping,
    })
    for (const route of builtin)
      this.#router.add(route.method, route.path, { kind: 'builtin', route })
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = requestIdOf(request)
    const progress: Progress = { route: UNKNOWN_ROUTE, principal: null, error: undefined }
    this.#report(request, response, requestId, progress)
    const signal = this.connections.track(request, response)
    response.setHeader('x-request-id', requestId)
    const isProxied = this.#mountAt(pathOf(request))?.isProxied?.(pathOf(request)) === true
    setSecurityHeaders(response, isSecure(this.#options, request), isProxied)
    if (this.connections.isStopping) response.setHeader('connection', 'close')
    try {
      await this.#handle(request, response, requestId, signal, progress)
    } catch (thrown) {
      const error = toAppError(thrown)
      if (statusOf(error) >= 500) progress.error = error
      await this.#sendError(request, response, error, requestId)
    }
    drainRequest(request)
  }

  async #handle(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<void> {
    assertAllowedHost(this.#options, request)
    assertNoExpectHeader(request)
    assertAllowedOrigin(this.#options, request)
    setCorsHeaders(this.#options, request, response)
    const path = pathOf(request)
    const method = request.method ?? ''
    const match = this.#find(method, path)
    if (match.kind === 'nothing') throw new AppError('not_found', 'No route matches this path.')
    progress.route = match.template
    const allowed = match.kind === 'other-method' ? match.allowed : MOUNT_METHODS
    if (isPreflight(this.#options, request)) {
      setPreflightHeaders(request, response, allowed)
      return sendEmpty(response, 204)
    }
    if (match.kind === 'other-method') {
      response.setHeader('allow', match.allowed.join(', '))
      throw new AppError(
        'method_not_allowed',
        `The method ${method} is not supported by this route.`,
      )
    }
    const address = clientAddress(this.#options, request)
    const { target, fields } = match
    const principal = await this.#authenticate(request, response, target, address, signal, progress)
    const exchange: RequestContext = {
      ...{ request, response, requestId, path, address, signal, principal, fields },
      query: (request.url ?? '').slice(path.length + 1),
    }
    await this.#dispatch(target, exchange)
  }

  #mountAt(path: string): Mount | undefined {
    return this.#mounts.find((each) => path === each.path || path.startsWith(`${each.path}/`))
  }

  #find(method: string, path: string) {
    const mount = this.#mountAt(path)
    if (mount === undefined) return this.#router.find(method, path)
    const target: Target = { kind: 'mount', mount }
    return { kind: 'found' as const, target, template: mount.path, fields: {} }
  }

  /** The authenticated principal. Null only where none is required. */
  async #authenticate(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    address: string,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<Principal | null> {
    const access = target.kind === 'builtin' ? target.route.access : 'key'
    if (access === 'open') return null
    if (this.#options.auth === 'off') return LOCAL_PRINCIPAL
    const principal = await this.#authentication.identify(request, address, signal)
    progress.principal = principal
    if (principal === null) {
      if (access === 'optional') return null
      throw new AppError(
        'unauthenticated',
        'An API key is required. Send `Authorization: Bearer rc_…`.',
      )
    }
    const isSafe = SAFE_METHODS.has(request.method ?? '')
    if (principal.isSession && !isSafe && !isSameOrigin(this.#options, request)) {
      throw new AppError(
        'forbidden',
        'With a session cookie, only pages of this server may send changes.',
      )
    }
    await this.#rateLimiter.take(principal.caller.key ?? '', response)
    return principal
  }

  async #dispatch(target: Target, exchange: RequestContext): Promise<void> {
    if (target.kind === 'builtin') return target.route.handle(exchange)
    const { caller } = exchange.principal ?? LOCAL_PRINCIPAL // both kinds below are admitted with one only
    const { request, response } = exchange
    if (target.kind === 'mount') {
      const { requestId, signal } = exchange
      const charge = (requests: number) => this.#charge(caller, response, requests)
      return target.mount.handle(request, response, caller, charge, { requestId, signal })
    }
    const { operation } = target
    try {
      await handleOperation(this.#context, this.#readers, operation, caller, exchange)
    } finally {
      // Keys may have been created or revoked.
      if (operation.access === 'manage' && operation.targets !== undefined) {
        this.#authentication.forget()
      }
    }
  }

  /** Takes further requests from a key's bucket. */
  async #charge({ key }: Caller, response: ServerResponse, requests: number): Promise<void> {
    if (this.#options.auth !== 'off') await this.#rateLimiter.take(key ?? '', response, requests)
  }

  async #sendError(
    request: IncomingMessage,
    response: ServerResponse,
    error: AppError,
    requestId: string,
  ): Promise<void> {
    // A truncated response must not look complete, and a disconnected client gets none.
    if (response.headersSent || response.destroyed || error.code === 'cancelled') {
      if (!response.writableEnded) request.socket.destroy()
      return
    }
    // Headers of the proxied response are dropped: this response replaces it.
    setSecurityHeaders(response, isSecure(this.#options, request), false)
    const { retryAfter } = error.facts
    // The rest of its body would be read as the next request.
    if (error.code === 'timeout') response.setHeader('connection', 'close')
    if (error.code === 'unauthenticated') {
      response.setHeader('www-authenticate', 'Bearer realm="recollect"')
    }
    if (typeof retryAfter === 'number') response.setHeader('retry-after', retryAfter)
    const mount = this.#mountAt(pathOf(request))
    const idHeader = mount?.errorIdHeader?.(request) ?? null
    if (idHeader !== null) response.setHeader(idHeader, requestId)
    const body = mount?.errorBody?.(request, error, requestId) ?? errorBody(error, requestId)
    await sendJson(request, response, statusOf(error), body)
  }

  #report(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    progress: Progress,
  ): void {
    const { onRequest } = this.#options
    if (onRequest === undefined) return
    const startedAt = performance.now()
    const { socket } = request
    const sentBefore = socket.bytesWritten
    response.once('close', () => {
      const { route, principal, error } = progress
      const report = {
        requestId,
        method: request.method ?? '',
        route,
        status: response.headersSent ? response.statusCode : CLIENT_CLOSED_STATUS,
        ms: performance.now() - startedAt,
        bytes: socket.bytesWritten - sentBefore,
        keyId: principal?.caller.key ?? null,
        ...(error === undefined ? {} : { error }),
      }
      try {
        onRequest(report)
      } catch {
        /* a failing listener must not end the server */
      }
    })
  }
}

/** Whether the change revokes a key or closes a login session. */
function isKeyRemoval(change: Change): boolean {
  return change.op === 'remove' && change.table === 'entry' && /^(?:key|lgn)_/.test(change.id)
}

/** The status that is logged for a client that disconnected. */
const CLIENT_CLOSED_STATUS = 499

function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}

function requestIdOf({ headers }: IncomingMessage): string {
  const requestId = firstHeaderValue(headers, 'x-request-id') ?? ''
  return REQUEST_ID.test(requestId) ? requestId : `req_${randomUUID()}`
}
