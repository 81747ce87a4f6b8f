/**
 * HTTP client for Qdrant, with timeouts, retries and two kinds of errors: `unavailable` is
 * retryable, `invalid_input` is not. Errors contain nothing of a request: no key, no name, no
 * vector.
 */

import { parseIntegerOption } from '../../domain/field-parsers.ts'
import { parseApiKey, parseBaseUrl } from '../../domain/service-endpoint.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { type HttpEndpoint, requestJson, sendRequest } from '../../lib/http-client.ts'
import { getField } from '../../lib/json.ts'
import { exponentialBackoffMs, retry, serviceRetryDelayMs, withJitter } from '../../lib/retry.ts'
import { runWithTimeout } from '../../lib/timeout.ts'

export type QdrantClientOptions = {
  /** Includes the path prefix of a proxy, if there is one. */
  readonly url: string
  /** Sent to Qdrant only; errors never contain it. */
  readonly apiKey?: string
  readonly clock: Clock
  /** Timeout of searches, which callers wait for. */
  readonly searchTimeoutMs?: number
  /** Timeout of everything else. */
  readonly timeoutMs?: number
  /** Jitter from 0 to 1, so that clients that failed together do not retry together. */
  readonly random?: () => number
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Timeout and retries of a call. */
export type TimeoutClass = 'searching' | 'working' | 'probing'

export type QdrantClient = {
  /** The `result` of the response. */
  request(
    method: HttpMethod,
    path: string,
    body?: unknown,
    timeoutClass?: TimeoutClass,
  ): Promise<unknown>
  /** The same; null for 404. */
  requestOrNull(
    method: HttpMethod,
    path: string,
    body?: unknown,
    timeoutClass?: TimeoutClass,
  ): Promise<unknown>
  /** Resolves with the version once Qdrant is ready. */
  waitUntilReady(): Promise<string>
  close(): void
}

type CallLimits = {
  readonly timeoutMs: number
  readonly retries: number
  /** A longer `Retry-After` than this is not waited for: the caller gets it and decides. */
  readonly pauseMsMax: number
}

const SOURCE = 'Qdrant'
const SEARCH_TIMEOUT_MS = 5_000
const TIMEOUT_MS = 30_000
const PROBE_TIMEOUT_MS = 3_000
const TIMEOUT_MS_MAX = 2 ** 31 - 1
const FIRST_PAUSE_MS = 250
const VERSION_CHARACTERS_MAX = 40

export function openQdrantClient(options: QdrantClientOptions): QdrantClient {
  const { clock, random = Math.random } = options
  const base = parseBaseUrl(options.url, SOURCE)
  const apiKey = parseApiKey(options.apiKey, SOURCE)
  const limits = parseLimits(options)
  const closing = new AbortController()

  const senderOf = (path: string): HttpEndpoint => ({
    serviceName: SOURCE,
    url: `${base}${path}`,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { 'api-key': apiKey }),
    },
    secret: apiKey,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  })

  async function withRetries<Result>(
    limits: CallLimits,
    attempt: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { timeoutMs, retries, pauseMsMax } = limits
    const delayMs = (error: unknown, count: number) => {
      if (count >= retries) return null
      const backoff = exponentialBackoffMs(count, { firstMs: FIRST_PAUSE_MS, maxMs: pauseMsMax })
      return serviceRetryDelayMs(error, withJitter(backoff, random()), pauseMsMax)
    }
    const onTimeout = () => createTimeoutError(timeoutMs)
    const call = () => runWithTimeout(timeoutMs, attempt, { onTimeout, signals: [closing.signal] })
    try {
      return await retry(call, { clock, delayMs, signal: closing.signal })
    } catch (thrown) {
      throw closing.signal.aborted ? createClosedError() : toReplicaError(thrown)
    }
  }

  async function ask(
    method: HttpMethod,
    path: string,
    body?: unknown,
    how: TimeoutClass = 'working',
  ): Promise<unknown> {
    const what = {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    const answer = await withRetries(limits[how], (signal) =>
      requestJson(senderOf(path), what, signal),
    )
    return getField(answer, 'result')
  }

  return {
    request: ask,

    async requestOrNull(...call) {
      try {
        return await ask(...call)
      } catch (thrown) {
        if (getHttpStatus(thrown) === 404) return null
        throw thrown
      }
    },

    async waitUntilReady() {
      const { probing } = limits
      await withRetries(probing, (signal) =>
        sendRequest(senderOf('/readyz'), { method: 'GET' }, signal, async (response) => {
          await response.body?.cancel()
        }),
      )
      const about = await withRetries(probing, (signal) =>
        requestJson(senderOf('/'), { method: 'GET' }, signal),
      )
      return String(getField(about, 'version') ?? 'unknown').slice(0, VERSION_CHARACTERS_MAX)
    },

    close: () => closing.abort(),
  }
}

/** The status of Qdrant's response, where it made the call fail. */
export function getHttpStatus(thrown: unknown): number | null {
  const status = thrown instanceof AppError ? thrown.facts.status : null
  return typeof status === 'number' ? status : null
}

export function createInvalidResponseError(): AppError {
  return new AppError('unavailable', `${SOURCE} sent a response in an unknown format.`)
}

function parseLimits(options: QdrantClientOptions): Readonly<Record<TimeoutClass, CallLimits>> {
  const parse = (option: string, value: number) =>
    parseIntegerOption(option, value, 1, TIMEOUT_MS_MAX)
  const searchTimeoutMs = parse('searchTimeoutMs', options.searchTimeoutMs ?? SEARCH_TIMEOUT_MS)
  const timeoutMs = parse('timeoutMs', options.timeoutMs ?? TIMEOUT_MS)
  return {
    // No retry: the primary index can serve the search at once.
    searching: { timeoutMs: searchTimeoutMs, retries: 1, pauseMsMax: 500 },
    working: { timeoutMs, retries: 3, pauseMsMax: 10_000 },
    probing: { timeoutMs: Math.min(PROBE_TIMEOUT_MS, timeoutMs), retries: 0, pauseMsMax: 0 },
  }
}

function createClosedError(): AppError {
  return new AppError('unavailable', `The connection to ${SOURCE} is closed.`, { retryable: false })
}

function createTimeoutError(timeoutMs: number): AppError {
  const message = `${SOURCE} did not answer within ${timeoutMs} ms.`
  // A timeout is not retried, so that the caller does not wait as long again.
  return new AppError('unavailable', message, { timeoutMs, retryable: false })
}

/** Maps a response to the two kinds of errors of a replica. */
function toReplicaError(thrown: unknown): AppError {
  const error = toAppError(thrown)
  const { status } = error.facts
  if (typeof status !== 'number') return error
  if (status === 401 || status === 403) {
    return createInvalidInputError(
      `${SOURCE} rejected the API key (${status}). Check the key and its write permission.`,
      status,
    )
  }
  if (status === 404) {
    return new AppError('unavailable', `${SOURCE} did not find the resource (404).`, {
      status,
    })
  }
  if (status >= 300 && status < 500 && ![408, 425, 429].includes(status)) {
    return createInvalidInputError(`${SOURCE} rejected the request (${status}).`, status)
  }
  return new AppError('unavailable', error.message, error.facts)
}

function createInvalidInputError(message: string, status: number): AppError {
  return new AppError('invalid_input', message, { status })
}
