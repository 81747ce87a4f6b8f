/**
 * Keeps within the requests and tokens a minute that a service allows. Calls wait in the order they came.
 *
 * Both limits are buckets that fill up steadily and may be overdrawn: a call takes what it needs at once and waits until
 * the bucket would no longer be empty. So no call is passed over, and one larger than the bucket still gets its turn.
 */

import { NEVER_CANCELLED, orCancelled, stopIfCancelled } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Embedder } from '../embedder.ts'
import { estimateTokens } from './billed-tokens.ts'

export type RateLimits = {
  readonly clock: Clock
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
}

const MINUTE_MS = 60_000
export function rateLimited(embedder: Embedder, limits: RateLimits): Embedder {
  const { clock } = limits
  const requests = bucket(limits.requestsPerMinute, clock)
  const tokens = bucket(limits.tokensPerMinute, clock)
  let waitedMs = 0

  async function takeTurn(texts: readonly string[], signal: AbortSignal | undefined) {
    const cost = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    const pause = Math.max(requests.take(1), tokens.take(cost))
    if (pause === 0) return
    try {
      await orCancelled(clock.sleep(pause, signal ?? NEVER_CANCELLED), signal)
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
      stopIfCancelled(call.signal)
      if (texts.length > 0) await takeTurn(texts, call.signal)
      return embedder.embed(texts, call)
    },
    report: () => {
      const report = embedder.report()
      return { ...report, facts: { ...report.facts, rateWaitedMs: Math.round(waitedMs) } }
    },
    close: () => embedder.close(),
  }
}

type Bucket = {
  /** How long to wait until what was taken is there. */
  take(amount: number): number
  giveBack(amount: number): void
}

const BOTTOMLESS: Bucket = { take: () => 0, giveBack: () => {} }

function bucket(perMinute: number | undefined, clock: Clock): Bucket {
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
