/** Sends requests to the REST API: time limits, retries, cancellation, and streams of lines and events. */
import { exponentialBackoffMs, withJitter } from '../lib/backoff.ts'
import { isObject } from '../lib/json.ts'
import { createSseParser } from '../lib/sse.ts'
import { RecollectError } from './rest-error.ts'

export type TransportOptions = {
  readonly url: string
  readonly apiKey: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly retries: number
  readonly fetch: typeof fetch
}

export type CallOptions = {
  readonly signal?: AbortSignal
  /** Until the answer begins. Default: that of the client. */
  readonly timeoutMs?: number
  /** How often a request is repeated that failed for a passing reason. Default: that of the client. */
  readonly retries?: number
  /** Makes the server do a write once, however often it is sent. Default: one for each call. */
  readonly idempotencyKey?: string
}

export type RestRequest = {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Whether it may be sent again after a failure. Writes are sent under an idempotency key then. */
  readonly isRepeatable: boolean
  readonly accept: string
  readonly body?: string | ReadableStream<Uint8Array>
  readonly contentType?: string
}

const BACKOFF = { firstMs: 200, maxMs: 5_000 }
const RETRY_AFTER_MS_MAX = 60_000
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/** The response, once it is a success; its body is not read. */
export async function sendRequest(
  transport: TransportOptions,
  request: RestRequest,
  options: CallOptions = {},
): Promise<Response> {
  const { retries = transport.retries, signal } = options
  const attempts = request.isRepeatable ? retries : 0
  const idempotencyKey =
    request.method === 'GET' || !request.isRepeatable
      ? null
      : (options.idempotencyKey ?? crypto.randomUUID())
  for (let failures = 0; ; failures++) {
    try {
      return await attempt(transport, request, { ...options, idempotencyKey })
    } catch (thrown) {
      const pauseMs = retryPauseMs(thrown, failures, attempts)
      if (pauseMs === null) throw thrown
      await pause(pauseMs, signal)
    }
  }
}

type AttemptOptions = Omit<CallOptions, 'idempotencyKey'> & {
  readonly idempotencyKey: string | null
}

async function attempt(
  transport: TransportOptions,
  { method, path, accept, body, contentType }: RestRequest,
  { signal, timeoutMs = transport.timeoutMs, idempotencyKey }: AttemptOptions,
): Promise<Response> {
  const { url, apiKey, headers } = transport
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), timeoutMs)
  const signals = signal === undefined ? [deadline.signal] : [deadline.signal, signal]
  let response: Response
  try {
    response = await transport.fetch(url + path, {
      method,
      headers: {
        ...headers,
        accept,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      },
      redirect: 'error',
      signal: AbortSignal.any(signals),
      ...(body === undefined ? {} : { body }),
      ...(typeof body === 'object' ? { duplex: 'half' } : {}),
    } as RequestInit) // `duplex` is required for streams and missing in the types of Node
  } catch (thrown) {
    throw toFailure(thrown, transport, { signal, isLate: deadline.signal.aborted, timeoutMs })
  } finally {
    clearTimeout(timer)
  }
  if (response.ok) return response
  throw await toRestError(response)
}

function toFailure(
  cause: unknown,
  { url }: TransportOptions,
  when: {
    readonly signal: AbortSignal | undefined
    readonly isLate: boolean
    readonly timeoutMs: number
  },
): RecollectError {
  if (when.signal?.aborted === true) return cancelledError(cause)
  if (when.isLate) {
    const message = `The server at ${url} did not answer within ${when.timeoutMs} ms.`
    return new RecollectError('timeout', message, { retryable: true, cause })
  }
  const message = `The server at ${url} must be reachable; start it with \`recollect serve\`.`
  return new RecollectError('unreachable', message, { retryable: true, cause })
}

function cancelledError(cause?: unknown): RecollectError {
  return new RecollectError('cancelled', 'The call was aborted.', { cause })
}

async function toRestError(response: Response): Promise<RecollectError> {
  const { status, headers } = response
  const body: unknown = await response.json().catch(() => null)
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return new RecollectError(
    typeof error.code === 'string' ? error.code : 'unavailable',
    typeof error.message === 'string'
      ? error.message
      : `The server answered with status ${status}.`,
    {
      status,
      details: Array.isArray(error.details) ? (error.details as RecollectError['details']) : [], // as the API describes it
      retryable: error.retryable === true || RETRIED_STATUSES.has(status),
      requestId: headers.get('x-request-id'),
      retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
    },
  )
}

/** Null when the request is not repeated. */
function retryPauseMs(thrown: unknown, failures: number, attempts: number): number | null {
  if (!(thrown instanceof RecollectError) || failures >= attempts) return null
  const isPassing =
    thrown.status === 0 ? thrown.code !== 'cancelled' : RETRIED_STATUSES.has(thrown.status)
  if (!isPassing || !thrown.retryable) return null
  const { retryAfterMs } = thrown
  if (retryAfterMs !== null) return retryAfterMs > RETRY_AFTER_MS_MAX ? null : retryAfterMs
  return withJitter(exponentialBackoffMs(failures, BACKOFF), Math.random())
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(cancelledError())
    const stop = () => {
      clearTimeout(timer)
      reject(cancelledError())
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

export async function* readBytes(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body === null) return
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cancelledError(cause)
    const message = 'The connection closed before the response was complete.'
    throw new RecollectError('unreachable', message, { retryable: true, cause })
  } finally {
    // Whoever stops reading early closes the connection.
    await reader.cancel().catch(() => {})
  }
}

/** The lines of an NDJSON response. */
export async function* readLines(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let partial = ''
  for await (const bytes of readBytes(response)) {
    const lines = (partial + decoder.decode(bytes, { stream: true })).split('\n')
    partial = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
  partial += decoder.decode()
  if (partial !== '') yield partial
}

/** The data of each server-sent event of one name. */
export async function* readEvents(response: Response, name: string): AsyncGenerator<string> {
  const pending: string[] = []
  const parse = createSseParser((event) => {
    if (event.name === name) pending.push(event.data)
  })
  for await (const bytes of readBytes(response)) {
    parse(bytes)
    yield* pending.splice(0)
  }
}
