/**
 * Client for JSON services. Every failure becomes an AppError that says what to do and holds nothing of the request:
 * no key, no text. `facts.retryable` is false where another attempt cannot help; `facts.retryAfterMs` is what the service
 * asked for.
 */

import { createAbortedError, throwIfAborted } from './abort.ts'
import { AppError, type ErrorDetails } from './errors.ts'
import { getField, parseJson } from './json.ts'
import { SECOND_MS } from './time.ts'

export type HttpEndpoint = {
  readonly serviceName: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Never appears in errors, whatever the service answers. */
  readonly secret: string | undefined
  readonly responseBytesMax?: number
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof fetch
}

/** A hundred vectors of 4,096 numbers take about 10 MB as JSON. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024

export async function postJson(
  endpoint: HttpEndpoint,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const headers = { ...endpoint.headers, 'content-type': 'application/json' }
  return requestJson(
    { ...endpoint, headers },
    { method: 'POST', body: JSON.stringify(body) },
    signal,
  )
}

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: string | Blob | FormData
}

/** Sends a request and parses the response as JSON. */
export function requestJson(
  endpoint: HttpEndpoint,
  request: HttpRequest,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const headers = { accept: 'application/json', ...endpoint.headers }
  return sendRequest({ ...endpoint, headers }, request, signal, async (response) =>
    parseBody(endpoint, await readText(endpoint, response)),
  )
}

/** Sends a request and reads the response, if its status is a success. */
export async function sendRequest<Result>(
  endpoint: HttpEndpoint,
  { method, body }: HttpRequest,
  signal: AbortSignal | undefined,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  throwIfAborted(signal)
  try {
    const send = endpoint.fetch ?? fetch
    const response = await send(endpoint.url, {
      method,
      headers: endpoint.headers,
      ...(body === undefined ? {} : { body }),
      // A redirect would send the key and the texts to another server.
      redirect: 'manual',
      ...(signal === undefined ? {} : { signal }),
    })
    if (!response.ok) throw await toStatusError(endpoint, response)
    return await read(response)
  } catch (thrown) {
    if (signal?.aborted) throw createAbortedError()
    throw thrown instanceof AppError ? thrown : createUnreachableError(endpoint, thrown)
  }
}

async function readText(endpoint: HttpEndpoint, response: Response): Promise<string> {
  const bytesMax = endpoint.responseBytesMax ?? RESPONSE_BYTES_MAX
  const text = await decodeUpTo(response, bytesMax)
  if (text !== null) return text
  const message = `${endpoint.serviceName} answered with more than ${bytesMax} bytes.`
  throw new AppError('unavailable', message, { retryable: false })
}

/** Null when the body is longer; the rest is not read. */
export async function readBodyUpTo(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop cancels the rest.
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function decodeUpTo({ body }: Response, bytesMax: number): Promise<string | null> {
  const bytes = await readBodyUpTo(body ?? (async function* () {})(), bytesMax)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

function parseBody({ serviceName }: HttpEndpoint, text: string): unknown {
  const value = parseJson(text)
  if (value !== undefined) return value
  throw new AppError('unavailable', `${serviceName} answered with something that is no JSON.`)
}

function createUnreachableError(endpoint: HttpEndpoint, thrown: unknown): AppError {
  const reason = findNetworkErrorCode(thrown)
  const how = reason === null ? '' : ` (${reason})`
  const facts = { host: new URL(endpoint.url).host, ...(reason === null ? {} : { reason }) }
  const message = `${endpoint.serviceName} could not be reached at ${facts.host}${how}.`
  return new AppError('unavailable', message, facts)
}

/** Such as ECONNREFUSED, which `fetch` hides in the cause. */
function findNetworkErrorCode(thrown: unknown): string | null {
  for (const error of [getField(thrown, 'cause'), thrown]) {
    const code = getField(error, 'code')
    if (typeof code === 'string' && /^[A-Z_]{2,40}$/.test(code)) return code
  }
  return null
}

async function toStatusError(endpoint: HttpEndpoint, response: Response): Promise<AppError> {
  const body = await readErrorBody(response)
  const code = findErrorCode(body, endpoint.secret)
  const { status } = response
  const { serviceName: source } = endpoint
  const facts = { status, ...(code === null ? {} : { code }) }
  const reason = `${status}${code === null ? '' : `, ${code}`}`
  if (status === 401 || status === 403 || code === 'API_KEY_INVALID') {
    return createFailure(`${source} refused the API key (${reason}). Check it.`, facts, false)
  }
  if (status === 404) {
    return createFailure(`${source} does not know this model or address (${reason}).`, facts, false)
  }
  if (status === 429) {
    return createRateLimitError(source, reason, facts, findRetryAfter(response, body))
  }
  if ([400, 413, 422].includes(status)) {
    return new AppError('invalid_input', `${source} refused the texts (${reason}).`, facts)
  }
  if (status >= 300 && status < 400) {
    const message = `${source} answered with a redirect (${reason}), which is not followed. Check its address.`
    return createFailure(message, facts, false)
  }
  const isTransient = status >= 500 || status === 408 || status === 425
  const retryFacts = toRetryFacts(status === 503 ? findRetryAfter(response, body) : null)
  return createFailure(`${source} failed (${reason}).`, { ...facts, ...retryFacts }, isTransient)
}

function createRateLimitError(
  source: string,
  reason: string,
  facts: ErrorDetails,
  retryAfterMs: number | null,
): AppError {
  // The quota is used up: waiting does not help.
  if (facts.code === 'insufficient_quota') {
    return createFailure(`${source} says that the quota is used up (${reason}).`, facts, false)
  }
  const all = { ...facts, ...toRetryFacts(retryAfterMs) }
  return createFailure(`${source} gets too many requests (${reason}).`, all, true)
}

function toRetryFacts(retryAfterMs: number | null): ErrorDetails {
  return retryAfterMs === null ? {} : { retryAfterMs }
}

function createFailure(message: string, facts: ErrorDetails, retryable: boolean): AppError {
  return new AppError('unavailable', message, { ...facts, retryable })
}

async function readErrorBody(response: Response): Promise<unknown> {
  const text = await decodeUpTo(response, ERROR_BYTES_MAX).catch(() => null)
  return parseJson(text ?? '') ?? null
}

/**
 * The error code of the service. Its messages are left out, because they may repeat the key or the texts.
 * A reason inside `details` is more specific than a code, and a code than a type.
 */
function findErrorCode(body: unknown, secret: string | undefined): string | null {
  const error = getField(body, 'error') ?? body
  const details = getField(error, 'details')
  const reasons = Array.isArray(details) ? details.map((detail) => getField(detail, 'reason')) : []
  const candidates = [
    ...reasons,
    getField(error, 'code'),
    getField(error, 'status'),
    getField(error, 'type'),
  ]
  const code = candidates.find(
    (candidate) => typeof candidate === 'string' && /^[A-Za-z][\w.-]{1,63}$/.test(candidate),
  )
  return typeof code === 'string' && (secret === undefined || !code.includes(secret)) ? code : null
}

/** From the headers or, in Google's APIs, from the body. */
function findRetryAfter({ headers }: Response, body: unknown): number | null {
  return parseRetryAfter((name) => headers.get(name)) ?? findRetryDelay(body)
}

/** How many milliseconds a service asks to wait. A date is compared with the service's own clock. */
export function parseRetryAfter(
  getHeader: (name: string) => string | null | undefined,
): number | null {
  const exact = Number(getHeader('retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  const text = getHeader('retry-after')?.trim()
  if (text === undefined) return null
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * SECOND_MS
  const wait = Date.parse(text) - Date.parse(getHeader('date') ?? '')
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}

function findRetryDelay(body: unknown): number | null {
  const details = getField(getField(body, 'error'), 'details')
  if (!Array.isArray(details)) return null
  for (const detail of details) {
    const delay = getField(detail, 'retryDelay')
    const seconds = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined
    if (seconds !== undefined) return Number(seconds) * SECOND_MS
  }
  return null
}

export function buildBearerHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}
