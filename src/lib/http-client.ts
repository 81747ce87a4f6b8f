/**
 * One JSON request and its answer. Everything that can go wrong becomes an AppError that says what to do and holds
 * nothing of the request: no key, no text.
 *
 * `facts.retryable` is false where trying again can't help; `facts.retryAfterMs` is what the service asked for.
 */

import { createAbortedError, throwIfAborted } from './abort.ts'
import { AppError, type ErrorDetails } from './errors.ts'
import { getField } from './json.ts'

export type HttpEndpoint = {
  readonly serviceName: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Must not show up in errors, whatever the service answers. */
  readonly secret: string | undefined
  readonly responseBytesMax?: number
  /** Instead of the platform's own. */
  readonly fetch?: typeof fetch
}

/** A hundred vectors of 4,096 numbers take about 10 MB as JSON. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024

export async function postJson(
  sender: HttpEndpoint,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const headers = { ...sender.headers, 'content-type': 'application/json' }
  return requestJson({ ...sender, headers }, { method: 'POST', body: JSON.stringify(body) }, signal)
}

/** What is asked, besides where and as whom. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: string | Blob | FormData
}

/** One request of any kind, and its answer as JSON. */
export function requestJson(
  sender: HttpEndpoint,
  what: HttpRequest,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const headers = { accept: 'application/json', ...sender.headers }
  return sendRequest({ ...sender, headers }, what, signal, async (response) =>
    parseAnswer(sender, await readText(sender, response)),
  )
}

/** One request, and what `read` makes of its answer, which is a good one. */
export async function sendRequest<Result>(
  sender: HttpEndpoint,
  { method, body }: HttpRequest,
  signal: AbortSignal | undefined,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  throwIfAborted(signal)
  try {
    const ask = sender.fetch ?? fetch
    const response = await ask(sender.url, {
      method,
      headers: sender.headers,
      ...(body === undefined ? {} : { body }),
      // Another server must not get the key and the texts.
      redirect: 'manual',
      ...(signal === undefined ? {} : { signal }),
    })
    if (!response.ok) throw await toStatusError(sender, response)
    return await read(response)
  } catch (thrown) {
    if (signal?.aborted) throw createAbortedError()
    throw thrown instanceof AppError ? thrown : unreachable(sender, thrown)
  }
}

async function readText(sender: HttpEndpoint, response: Response): Promise<string> {
  const bytesMax = sender.responseBytesMax ?? RESPONSE_BYTES_MAX
  const text = await readUpTo(response, bytesMax)
  if (text !== null) return text
  const message = `${sender.serviceName} answered with more than ${bytesMax} bytes.`
  throw new AppError('unavailable', message, { retryable: false })
}

/** Null when there is more. The rest is not read. */
async function readUpTo(response: Response, bytesMax: number): Promise<string | null> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  // Leaving the loop cancels the rest.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parseAnswer(sender: HttpEndpoint, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError(
      'unavailable',
      `${sender.serviceName} answered with something that is no JSON.`,
    )
  }
}

function unreachable(sender: HttpEndpoint, thrown: unknown): AppError {
  const reason = networkCode(thrown)
  const how = reason === null ? '' : ` (${reason})`
  const facts = { host: new URL(sender.url).host, ...(reason === null ? {} : { reason }) }
  const message = `${sender.serviceName} could not be reached at ${facts.host}${how}.`
  return new AppError('unavailable', message, facts)
}

/** Such as ECONNREFUSED, which the platform hides in the cause. */
function networkCode(thrown: unknown): string | null {
  for (const error of [getField(thrown, 'cause'), thrown]) {
    const code = getField(error, 'code')
    if (typeof code === 'string' && /^[A-Z_]{2,40}$/.test(code)) return code
  }
  return null
}

async function toStatusError(sender: HttpEndpoint, response: Response): Promise<AppError> {
  const answer = await errorAnswer(response)
  const code = errorCode(answer, sender.secret)
  const { status } = response
  const facts = { status, ...(code === null ? {} : { code }) }
  const said = `${status}${code === null ? '' : `, ${code}`}`
  const { serviceName: source } = sender
  if (status === 401 || status === 403 || code === 'API_KEY_INVALID') {
    return createFailure(`${source} refused the API key (${said}). Check it.`, facts, false)
  }
  if (status === 404) {
    return createFailure(`${source} does not know this model or address (${said}).`, facts, false)
  }
  if (status === 429) return tooMany(source, said, facts, retryAfter(response, answer))
  if ([400, 413, 422].includes(status)) {
    return new AppError('invalid_input', `${source} refused the texts (${said}).`, facts)
  }
  if (status >= 300 && status < 400) {
    const message = `${source} answered with a redirect (${said}), which is not followed. Check its address.`
    return createFailure(message, facts, false)
  }
  const isPassing = status >= 500 || status === 408 || status === 425
  const wait = status === 503 ? retryAfter(response, answer) : null
  return createFailure(
    `${source} failed (${said}).`,
    { ...facts, ...toRetryFacts(wait) },
    isPassing,
  )
}

function tooMany(
  source: string,
  said: string,
  facts: ErrorDetails,
  retryAfterMs: number | null,
): AppError {
  // What was paid for is used up: no pause helps.
  if (facts.code === 'insufficient_quota') {
    return createFailure(`${source} says that the quota is used up (${said}).`, facts, false)
  }
  const all = { ...facts, ...toRetryFacts(retryAfterMs) }
  return createFailure(`${source} gets too many requests (${said}).`, all, true)
}

function toRetryFacts(retryAfterMs: number | null): ErrorDetails {
  return retryAfterMs === null ? {} : { retryAfterMs }
}

function createFailure(message: string, facts: ErrorDetails, retryable: boolean): AppError {
  return new AppError('unavailable', message, { ...facts, retryable })
}

async function errorAnswer(response: Response): Promise<unknown> {
  try {
    return JSON.parse((await readUpTo(response, ERROR_BYTES_MAX)) ?? '')
  } catch {
    return null
  }
}

/**
 * The service's own name for the error. Its sentences are left out: they may repeat the key or the texts.
 * A reason inside `details` is more exact than a code, and a code than a type.
 */
function errorCode(answer: unknown, secret: string | undefined): string | null {
  const error = getField(answer, 'error') ?? answer
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

/** In milliseconds, from the headers or, as Google does it, from the answer. */
function retryAfter(response: Response, answer: unknown): number | null {
  const exact = Number(response.headers.get('retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  const text = response.headers.get('retry-after')
  if (text === null) return retryDelay(answer)
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Number(text) * 1_000
  // A date is compared with the service's own clock.
  const wait = Date.parse(text) - Date.parse(response.headers.get('date') ?? '')
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}

function retryDelay(answer: unknown): number | null {
  const details = getField(getField(answer, 'error'), 'details')
  if (!Array.isArray(details)) return null
  for (const detail of details) {
    const delay = getField(detail, 'retryDelay')
    const seconds = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined
    if (seconds !== undefined) return Number(seconds) * 1_000
  }
  return null
}

export function buildBearerHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}
