/**
 * Requests to Qdrant: under a time limit, tried again where that may help, and with errors of two kinds. `unavailable` may
 * be asked again later, `invalid_input` never works. Nothing of a request is in them: no key, no name, no vector.
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
  /** With the path before Qdrant's own, where a proxy has one. */
  readonly url: string
  /** Sent to Qdrant and to nobody else: it is in no error. */
  readonly apiKey?: string
  readonly clock: Clock
  /** Somebody waits for a search. */
  readonly searchTimeoutMs?: number
  /** For everything else. */
  readonly timeoutMs?: number
  /** 0 … 1, so that many who failed together don't come back together. */
  readonly random?: () => number
  /** Instead of the platform's own. */
  readonly fetch?: typeof fetch
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** How patient a call is. */
export type TimeoutClass = 'searching' | 'working' | 'probing'

export type QdrantClient = {
  /** What the answer holds as its result. */
  request(
    method: HttpMethod,
    path: string,
    body?: unknown,
    patience?: TimeoutClass,
  ): Promise<unknown>
  /** The same; null where there is no such thing. */
  requestOrNull(
    method: HttpMethod,
    path: string,
    body?: unknown,
    patience?: TimeoutClass,
  ): Promise<unknown>
  /** Comes back when Qdrant is ready, with its version. */
  waitUntilReady(): Promise<string>
  close(): void
}

type CallLimits = {
  readonly timeoutMs: number
  readonly retries: number
  /** Whoever is asked for a longer pause than this doesn't wait: the caller learns how long, and decides. */
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
  const patience = parseLimits(options)
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
    const answer = await withRetries(patience[how], (signal) =>
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
      const { probing } = patience
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

/** The status that Qdrant answered with, where it is why a call failed. */
export function getHttpStatus(thrown: unknown): number | null {
  const status = thrown instanceof AppError ? thrown.facts.status : null
  return typeof status === 'number' ? status : null
}

export function createInvalidResponseError(): AppError {
  return new AppError('unavailable', `${SOURCE} answered in a form that is not known.`)
}

function parseLimits(options: QdrantClientOptions): Readonly<Record<TimeoutClass, CallLimits>> {
  const parse = (option: string, value: number) =>
    parseIntegerOption(option, value, 1, TIMEOUT_MS_MAX)
  const searchTimeoutMs = parse('searchTimeoutMs', options.searchTimeoutMs ?? SEARCH_TIMEOUT_MS)
  const timeoutMs = parse('timeoutMs', options.timeoutMs ?? TIMEOUT_MS)
  return {
    // There is another index that answers: better at once than late.
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
  // Whoever waited that long is not made to wait as long again.
  return new AppError('unavailable', message, { timeoutMs, retryable: false })
}

/** What was answered as the two kinds of errors that a mirror has. */
function toReplicaError(thrown: unknown): AppError {
  const error = toAppError(thrown)
  const { status } = error.facts
  if (typeof status !== 'number') return error
  if (status === 401 || status === 403) {
    return createInvalidInputError(
      `${SOURCE} refused the API key (${status}). Check it, and that it may write.`,
      status,
    )
  }
  if (status === 404) {
    return new AppError('unavailable', `${SOURCE} does not have what was asked for (404).`, {
      status,
    })
  }
  if (status >= 300 && status < 500 && ![408, 425, 429].includes(status)) {
    return createInvalidInputError(`${SOURCE} refused the request (${status}).`, status)
  }
  return new AppError('unavailable', error.message, error.facts)
}

function createInvalidInputError(message: string, status: number): AppError {
  return new AppError('invalid_input', message, { status })
}
