/** How long to pause between attempts. */

export type BackoffLimits = { readonly firstMs: number; readonly maxMs: number }

/** Doubles with every failure: `firstMs` after the first one, which is number 0. */
export function exponentialBackoffMs(failure: number, { firstMs, maxMs }: BackoffLimits): number {
  return Math.min(maxMs, firstMs * 2 ** failure)
}

/** Spreads pauses by up to `share` in both directions, so that callers that failed together don't return together. */
export function withJitter(ms: number, random: number, share = 0.2): number {
  return ms * (1 + share * (2 * random - 1))
}
