/**
 * HTTP transport to providers. Connections are pooled: a new TLS connection costs more than everything else the gateway
 * adds.
 *
 * A request is retried only when it cannot have been processed: no connection was made, or a pooled connection turned out
 * to be closed on write. A model that runs twice is billed twice.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { createAbortedError, sleep, throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import type { Provider } from '../provider.ts'
import type { Upstream, UpstreamRequest, UpstreamResponse, UpstreamUpgrade } from '../upstream.ts'
import {
  createGuardedLookup,
  getHost,
  isPrivateAllowed,
  parseProviderAddress,
  type ResolveHost,
} from './ssrf-guard.ts'
import {
  createTimeoutError,
  createUnreachableError,
  isConnectFailure,
  isConnectionClosed,
  type TimeoutPhase,
} from './upstream-errors.ts'
import {
  toHandshakeHeaders,
  toRequestHeaders,
  toResponseHeaders,
  toUpgradeHeaders,
} from './upstream-headers.ts'

export type HttpUpstreamOptions = {
  /** Replaces the system's resolver. */
  readonly resolve?: ResolveHost
  /** Replaces the default CAs; PEM. */
  readonly certificates?: readonly string[]
}

/** Per provider. Requests beyond it wait for a connection. */
const SOCKETS_MAX = 512
const FREE_SOCKETS_MAX = 128
/**
 * Many servers close idle connections after 60 to 75 seconds; a shorter keep-alive announced by the server is respected.
 */
const FREE_SOCKET_MS = 50_000
/** Per address of a host name; the platform's 250 ms are too short for some networks. */
const FAMILY_MS = 1_000
const HEADER_BYTES_MAX = 64 * 1024
const RETRY_PAUSES_MS = [50, 250] as const
/** A later reset may have interrupted processing. */
const STALE_MS_MAX = 1_000

/** Target of a provider, built once. */
type UpstreamTarget = {
  readonly url: URL
  readonly host: string
  readonly agent: HttpAgent
  /** Request options common to all requests. */
  readonly options: RequestOptions
  readonly path: string
  readonly connected: 'secureConnect' | 'connect'
  readonly open: typeof httpRequest
}

export function createHttpUpstream(options: HttpUpstreamOptions = {}): Upstream {
  const agents = new Map<string, HttpAgent>()
  const targets = new WeakMap<Provider, UpstreamTarget>()

  function targetOf(provider: Provider): UpstreamTarget {
    const known = targets.get(provider)
    if (known !== undefined) return known
    const url = parseProviderAddress(provider)
    const allowsPrivate = isPrivateAllowed(provider, url)
    // Connections to private addresses are pooled separately.
    const name = `${url.origin} ${allowsPrivate}`
    const agent = agents.get(name) ?? createAgent(provider, url, allowsPrivate, options)
    agents.set(name, agent)
    const target = createTarget(url, agent)
    targets.set(provider, target)
    return target
  }

  return {
    send: (request) => sendWithRetries(request, targetOf),
    upgrade: async (request) => {
      throwIfAborted(request.signal)
      return upgrade(request, targetOf(request.provider))
    },
    close: async () => {
      for (const agent of agents.values()) agent.destroy()
      agents.clear()
    },
  }
}

function createTarget(url: URL, agent: HttpAgent): UpstreamTarget {
  const isSecure = url.protocol === 'https:'
  return {
    url,
    host: getHost(url),
    agent,
    options: {
      agent,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    path: url.pathname.replace(/\/+$/, ''),
    connected: isSecure ? 'secureConnect' : 'connect',
    open: isSecure ? httpsRequest : httpRequest,
  }
}

function createAgent(
  provider: Provider,
  url: URL,
  allowsPrivate: boolean,
  { resolve, certificates }: HttpUpstreamOptions,
): HttpAgent {
  const shared = {
    keepAlive: true,
    maxSockets: SOCKETS_MAX,
    maxFreeSockets: FREE_SOCKETS_MAX,
    timeout: FREE_SOCKET_MS,
    scheduling: 'lifo',
    autoSelectFamilyAttemptTimeout: FAMILY_MS,
    lookup: createGuardedLookup(provider, allowsPrivate, resolve),
  } as const
  if (url.protocol === 'http:') return new HttpAgent(shared)
  return new HttpsAgent(certificates === undefined ? shared : { ...shared, ca: [...certificates] })
}

async function sendWithRetries(
  request: UpstreamRequest,
  targetOf: (provider: Provider) => UpstreamTarget,
): Promise<UpstreamResponse> {
  throwIfAborted(request.signal)
  const target = targetOf(request.provider)
  // A stream is consumed by the first attempt.
  const pauses = request.body instanceof Readable ? [] : RETRY_PAUSES_MS
  for (const pauseMs of pauses) {
    const outcome = await attempt(request, target)
    if (outcome.kind === 'answered') return outcome.response
    if (outcome.kind === 'failed') throw outcome.error
    // Other pooled connections are probably as stale.
    if (outcome.kind === 'stale') closeFreeSockets(target.agent)
    else await pauseUnlessCancelled(pauseMs, request.signal)
  }
  const last = await attempt(request, target)
  if (last.kind === 'answered') return last.response
  throw last.error
}

async function pauseUnlessCancelled(ms: number, signal: AbortSignal): Promise<void> {
  if (!(await sleep(ms, signal))) throw createAbortedError()
}

function closeFreeSockets(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy()
  }
}

type FailedAttempt = {
  readonly kind: 'failed' | 'unconnected' | 'stale'
  readonly error: AppError
}
type AttemptOutcome =
  | { readonly kind: 'answered'; readonly response: UpstreamResponse }
  | FailedAttempt

/** One try, until the answer begins. */
function attempt(request: UpstreamRequest, target: UpstreamTarget): Promise<AttemptOutcome> {
  const { provider, signal, method, path } = request
  const { host, options } = target
  return new Promise<AttemptOutcome>((resolve) => {
    let sent: ClientRequest
    try {
      const headers = toRequestHeaders(request, target.url)
      sent = target.open({ ...options, method, path: `${target.path}${path}`, headers })
    } catch {
      // The platform rejects invalid header and path characters; its message would quote the path.
      const message = `The request for ${provider.name} contains an invalid header or path.`
      resolve({ kind: 'failed', error: new AppError('invalid_input', message) })
      return
    }
    const onLate = (phase: TimeoutPhase) => sent.destroy(createTimeoutError(provider, host, phase))
    const times = startAttemptTimer(sent, target, onLate, provider)
    let underWay: ClientRequest | IncomingMessage = sent
    const stop = () => underWay.destroy(createAbortedError())
    const release = () => signal.removeEventListener('abort', stop)
    signal.addEventListener('abort', stop, { once: true })
    sent.on('error', (thrown) => {
      times.stop()
      release()
      resolve(failure(request, target, thrown, sent, times))
    })
    sent.once('response', (incoming) => {
      times.stop()
      underWay = incoming
      resolve({ kind: 'answered', response: answer(provider, host, incoming, release) })
    })
    if (signal.aborted) stop()
    else if (request.body instanceof Readable) pipeBody(request.body, sent)
    else if (request.body === null) sent.end()
    else writeBytes(request.body, sent)
  })
}

/** Repeated once when a pooled connection turns out to be closed. */
function upgrade(
  request: UpstreamRequest,
  target: UpstreamTarget,
  isRepeated = false,
): Promise<UpstreamUpgrade> {
  const { provider, signal, path } = request
  const { host, options } = target
  return new Promise<UpstreamUpgrade>((resolve, reject) => {
    const headers = toUpgradeHeaders(request, target.url)
    const sent = target.open({ ...options, method: 'GET', path: `${target.path}${path}`, headers })
    const onLate = (phase: TimeoutPhase) => sent.destroy(createTimeoutError(provider, host, phase))
    const times = startAttemptTimer(sent, target, onLate, provider)
    const stop = () => sent.destroy(createAbortedError())
    signal.addEventListener('abort', stop, { once: true })
    const settle = () => {
      times.stop()
      signal.removeEventListener('abort', stop)
    }
    sent.on('error', (thrown) => {
      settle()
      const { kind, error } = failure(request, target, thrown, sent, times)
      if (kind !== 'stale' || isRepeated) return reject(error)
      closeFreeSockets(target.agent)
      resolve(upgrade(request, target, true))
    })
    sent.once('response', (incoming) => {
      settle()
      resolve({ kind: 'refused', response: answer(provider, host, incoming, () => {}) })
    })
    sent.once('upgrade', (incoming, socket, head) => {
      settle()
      if (head.length > 0) socket.unshift(head)
      socket.setTimeout(0)
      resolve({ kind: 'open', headers: toHandshakeHeaders(incoming.rawHeaders), socket })
    })
    sent.end()
  })
}

/** Encrypting more at once would hold the thread. */
const WRITE_BYTES_MAX = 262_144

/** With backpressure. */
function writeBytes(bytes: Uint8Array, sent: ClientRequest): void {
  let at = 0
  const writeNext = () => {
    for (;;) {
      const part = bytes.subarray(at, at + WRITE_BYTES_MAX)
      at += part.length
      if (at >= bytes.length) {
        sent.end(part)
        return
      }
      if (!sent.write(part)) {
        sent.once('drain', writeNext)
        return
      }
    }
  }
  writeNext()
}

/** With backpressure. A body that breaks off ends the request, which must not look complete. */
function pipeBody(body: Readable, sent: ClientRequest): void {
  const onClose = () => {
    if (!body.readableEnded) sent.destroy(createAbortedError())
  }
  body.once('close', onClose).once('error', onClose)
  sent.once('close', () => {
    body.off('close', onClose).off('error', onClose)
    body.unpipe(sent)
  })
  body.pipe(sent)
}

function failure(
  { provider, signal }: UpstreamRequest,
  { host }: UpstreamTarget,
  thrown: unknown,
  sent: ClientRequest,
  times: AttemptTimer,
): FailedAttempt {
  if (signal.aborted) return { kind: 'failed', error: createAbortedError() }
  const error = createUnreachableError(provider, host, thrown)
  // AppErrors were decided here and would recur.
  if (thrown instanceof AppError) return { kind: 'failed', error }
  if (!times.isConnected() && isConnectFailure(thrown)) return { kind: 'unconnected', error }
  const isStale =
    sent.reusedSocket && isConnectionClosed(thrown) && times.sinceSocketMs() < STALE_MS_MAX
  return { kind: isStale ? 'stale' : 'failed', error }
}

type AttemptTimer = {
  isConnected(): boolean
  /** Since there was a connection to write to. */
  sinceSocketMs(): number
  stop(): void
}

/** Watches over the time until the answer begins: for the connection, once one is being made, and for all of it. */
function startAttemptTimer(
  sent: ClientRequest,
  { connected }: UpstreamTarget,
  onLate: (phase: TimeoutPhase) => void,
  { timeouts }: Provider,
): AttemptTimer {
  let isConnected = false
  let socketAt = performance.now()
  let connecting: NodeJS.Timeout | undefined
  const answering = setTimeout(() => onLate('firstByteMs'), timeouts.firstByteMs)
  sent.once('socket', (socket: Socket) => {
    socketAt = performance.now()
    isConnected = sent.reusedSocket
    if (isConnected) return
    connecting = setTimeout(() => onLate('connectMs'), timeouts.connectMs)
    socket.once(connected, () => {
      isConnected = true
      clearTimeout(connecting)
    })
  })
  return {
    isConnected: () => isConnected,
    sinceSocketMs: () => performance.now() - socketAt,
    stop: () => {
      clearTimeout(answering)
      clearTimeout(connecting)
    },
  }
}

function answer(
  provider: Provider,
  host: string,
  incoming: IncomingMessage,
  onEnd: () => void,
): UpstreamResponse {
  const unwatch = watchIdleTimeout(incoming, provider.timeouts.idleMs, () =>
    incoming.destroy(createTimeoutError(provider, host, 'idleMs')),
  )
  const release = () => {
    onEnd()
    unwatch()
  }
  incoming.once('end', release).once('close', release)
  // The listener keeps the error for a later reader.
  incoming.on('error', release)
  const headers = toResponseHeaders(incoming.rawHeaders)
  return { status: incoming.statusCode ?? 502, headers, body: incoming }
}

/**
 * Tells when nothing has come for so long, and nothing that came waits for its reader: a slow reader is no silence of the
 * provider's, and one that has just caught up leaves the provider a whole period to go on.
 */
function watchIdleTimeout(
  incoming: IncomingMessage,
  ms: number,
  onSilence: () => void,
): () => void {
  const { socket } = incoming
  let wasWaiting = false
  let next: NodeJS.Immediate | undefined
  const onQuiet = () => {
    const heard = socket.bytesRead
    // After a busy event loop, timers run before received data is read.
    next = setImmediate(() => {
      const isWaiting = incoming.readableLength > 0
      if (!isWaiting && !wasWaiting && socket.bytesRead === heard) return onSilence()
      wasWaiting = isWaiting
      socket.setTimeout(ms)
    })
  }
  // A response in one chunk has ended by then and needs no timeout.
  next = setImmediate(() => {
    socket.setTimeout(ms)
    socket.on('timeout', onQuiet)
  })
  return () => {
    clearImmediate(next)
    socket.off('timeout', onQuiet)
  }
}
