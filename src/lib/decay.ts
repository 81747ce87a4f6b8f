/** How things fade with time: always computed from what is stored and the time, never stored itself. */

export const DAY_MS = 86_400_000

/** 1 for what was of use just now, halving with every half-life. A clock that was set back makes nothing fresher than new. */
export function exponentialDecay(idleMs: number, halfLifeDays: number): number {
  return 2 ** (-Math.max(0, idleMs) / DAY_MS / halfLifeDays)
}
