/** Makes a remote embedder resilient: rate limits, a timeout per request, and retries. */

import { NEVER_ABORTED, raceAbort, throwIfAborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { exponentialBackoffMs, retry, serviceRetryDelayMs, withJitter } from '../../lib/retry.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { runWithTimeout } from '../../lib/timeout.ts'
import { TokenBucket } from '../../lib/token-bucket.ts'
import type { Embedder } from '../embedder.ts'
import { estimateBilledTokens } from './billed-tokens.ts'

export type EmbedderRetryOptions = {
  readonly clock: Clock
  /** 0 … 1, for the jitter of retries. */
  readonly random?: () => number
}

export type EmbedderRateLimits = {
  readonly clock: Clock
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
}

export type EmbedderTimeouts = {
  readonly clock: Clock
  readonly queryTimeoutMs?: number
  /** Longer than for queries: no request waits for documents, and a call may hold many. */
  readonly documentTimeoutMs?: number
}

const RETRIES_MAX = 3
const BACKOFF = { firstMs: 500, maxMs: 8_000 }
/** Longer requested pauses fail the call; the caller decides. */
const RETRY_AFTER_MS_MAX = MINUTE_MS
const QUERY_TIMEOUT_MS = MINUTE_MS
const DOCUMENT_TIMEOUT_MS = 120_000

/** Every attempt waits for the rate limits and gets the whole timeout. */
export function createResilientEmbedder(
  embedder: Embedder,
  options: EmbedderRetryOptions & EmbedderRateLimits & EmbedderTimeouts,
): Embedder {
  return withRetries(withRateLimits(withEmbedderTimeouts(embedder, options), options), options)
}

/** Retries transient failures: a service that is busy, down or unreachable. */
export function withRetries(embedder: Embedder, options: EmbedderRetryOptions): Embedder {
  const { clock, random = Math.random } = options
  let retries = 0
  const delayMs = (error: unknown, count: number) => {
    const pauseMs = withJitter(exponentialBackoffMs(count, BACKOFF), random())
    const delay =
      count < RETRIES_MAX ? serviceRetryDelayMs(error, pauseMs, RETRY_AFTER_MS_MAX) : null
    if (delay !== null) retries++
    return delay
  }
  return {
    describe: (signal) => retry(() => embedder.describe(signal), { clock, delayMs, signal }),
    embed: (texts, call) =>
      retry(() => embedder.embed(texts, call), { clock, delayMs, signal: call.signal }),
    report: () => withFacts(embedder, { retries }),
    close: () => embedder.close(),
  }
}

/** Enforces requests and tokens per minute. Calls wait in order. */
export function withRateLimits(embedder: Embedder, limits: EmbedderRateLimits): Embedder {
  const { clock, requestsPerMinute, tokensPerMinute } = limits
  const createBucket = (perMinute: number | undefined) =>
    perMinute === undefined ? null : new TokenBucket(perMinute, () => clock.now())
  const requests = createBucket(requestsPerMinute)
  const tokens = createBucket(tokensPerMinute)
  let waitedMs = 0

  async function waitForTurn(texts: readonly string[], signal: AbortSignal | undefined) {
    const cost = texts.reduce((sum, text) => sum + estimateBilledTokens(text), 0)
    const pause = Math.max(requests?.take(1) ?? 0, tokens?.take(cost) ?? 0)
    if (pause === 0) return
    try {
      await raceAbort(clock.sleep(pause, signal ?? NEVER_ABORTED), signal)
      waitedMs += pause
    } catch (thrown) {
      requests?.refund(1)
      tokens?.refund(cost)
      throw thrown
    }
  }

  return {
    describe: (signal) => embedder.describe(signal),
    embed: async (texts, call) => {
      throwIfAborted(call.signal)
      if (texts.length > 0) await waitForTurn(texts, call.signal)
      return embedder.embed(texts, call)
    },
    report: () => withFacts(embedder, { rateLimitWaitMs: Math.round(waitedMs) }),
    close: () => embedder.close(),
  }
}

/** Aborts calls that take too long. */
export function withEmbedderTimeouts(embedder: Embedder, timeouts: EmbedderTimeouts): Embedder {
  const { clock, queryTimeoutMs = QUERY_TIMEOUT_MS } = timeouts
  const { documentTimeoutMs = DOCUMENT_TIMEOUT_MS } = timeouts

  function run<Result>(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    call: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const onTimeout = () => createTimeoutError(embedder.report().source, timeoutMs)
    return runWithTimeout(timeoutMs, call, { onTimeout, signals: [signal], clock })
  }

  return {
    describe: (signal) => run(documentTimeoutMs, signal, (stop) => embedder.describe(stop)),
    embed: (texts, { purpose, signal }) =>
      run(purpose === 'query' ? queryTimeoutMs : documentTimeoutMs, signal, (stop) =>
        embedder.embed(texts, { purpose, signal: stop }),
      ),
    report: () => embedder.report(),
    close: () => embedder.close(),
  }
}

function withFacts(embedder: Embedder, facts: Readonly<Record<string, number>>) {
  const report = embedder.report()
  return { ...report, facts: { ...report.facts, ...facts } }
}

function createTimeoutError(source: string, timeoutMs: number): AppError {
  const message = `${source} did not answer within ${timeoutMs / 1_000} seconds.`
  return new AppError('unavailable', message, { timeoutMs })
}
