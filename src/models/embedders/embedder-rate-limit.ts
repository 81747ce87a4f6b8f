/**
 * Keeps within the requests and tokens a minute that a service allows. Calls wait in the order they came.
 *
 * Both limits are buckets that fill up steadily and may be overdrawn: a call takes what it needs at once and waits until
 * the bucket would no longer be empty. So no call is passed over, and one larger than the bucket still gets its turn.
 */

import { NEVER_ABORTED, raceAbort, throwIfAborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import type { Embedder } from '../embedder.ts'
import { estimateBilledTokens } from './billed-tokens.ts'

export type EmbedderRateLimits = {
  readonly clock: Clock
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
}

export function withRateLimits(embedder: Embedder, limits: EmbedderRateLimits): Embedder {
  const { clock } = limits
  const requests = createTokenBucket(limits.requestsPerMinute, clock)
  const tokens = createTokenBucket(limits.tokensPerMinute, clock)
  let waitedMs = 0

  async function takeTurn(texts: readonly string[], signal: AbortSignal | undefined) {
    const cost = texts.reduce((sum, text) => sum + estimateBilledTokens(text), 0)
    const pause = Math.max(requests.take(1), tokens.take(cost))
    if (pause === 0) return
    try {
      await raceAbort(clock.sleep(pause, signal ?? NEVER_ABORTED), signal)
      waitedMs += pause
    } catch (thrown) {
      requests.giveBack(1)
      tokens.giveBack(cost)
      throw thrown
    }
  }

  return {
    describe: (signal) => embedder.describe(signal),
    embed: async (texts, call) => {
      throwIfAborted(call.signal)
      if (texts.length > 0) await takeTurn(texts, call.signal)
      return embedder.embed(texts, call)
    },
    report: () => {
      const report = embedder.report()
      return { ...report, facts: { ...report.facts, rateLimitWaitMs: Math.round(waitedMs) } }
    },
    close: () => embedder.close(),
  }
}

type TokenBucket = {
  /** How long to wait until what was taken is there. */
  take(amount: number): number
  giveBack(amount: number): void
}

const BOTTOMLESS: TokenBucket = { take: () => 0, giveBack: () => {} }

function createTokenBucket(perMinute: number | undefined, clock: Clock): TokenBucket {
  if (perMinute === undefined) return BOTTOMLESS
  let level = perMinute
  let filledAt: number = clock.now()
  const bounded = (amount: number) => Math.min(amount, perMinute)
  return {
    take(amount) {
      const now = clock.now()
      // A clock that is set back must not empty the bucket.
      const grown = (Math.max(0, now - filledAt) * perMinute) / MINUTE_MS
      level = Math.min(perMinute, level + grown) - bounded(amount)
      filledAt = now
      return level >= 0 ? 0 : Math.ceil((-level * MINUTE_MS) / perMinute)
    },
    giveBack(amount) {
      level = Math.min(perMinute, level + bounded(amount))
    },
  }
}
