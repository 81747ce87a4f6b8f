/** Foretells when memories leave if nobody uses them, and why: for people who want to keep some of them. */

import type { Memory } from '../../../domain/memory.ts'
import type { Scope } from '../../../domain/scope.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import { addMs, DAY_MS, type Instant } from '../../../lib/time.ts'
import type { MemoryDependencies } from '../../../memory/types.ts'
import { pages } from '../../../storage/access/row-pages.ts'
import { decideEviction, isProtectedFromEviction } from './eviction-policy.ts'

export type EvictionForecast = {
  readonly memory: Memory
  /** From when the memory may go to the trash, or is no longer recalled. */
  readonly at: Instant
  /** `evict`: its salience fades; `expire`: it is not used; `end`: its own date of expiry. */
  readonly kind: 'evict' | 'expire' | 'end'
}

/** What leaves later is not foretold. */
const HORIZON_DAYS = 365

/** The newest memories that are examined. */
const MEMORIES_MAX = 20_000

/** The next memories to leave, soonest first. */
export async function forecastEvictions(
  { store, clock }: MemoryDependencies,
  scope: Scope,
  settings: Settings,
  limit: number,
): Promise<readonly EvictionForecast[]> {
  const now = clock.now()
  const forecasts: EvictionForecast[] = []
  let examined = 0
  const where = { statuses: ['active'], validAt: now } as const
  for await (const page of pages(store, 'memory', scope, { where })) {
    for (const memory of page) {
      const forecast = forecastMemory(memory, now, settings)
      if (forecast !== null) forecasts.push(forecast)
    }
    examined += page.length
    if (examined >= MEMORIES_MAX) break
  }
  return forecasts.sort((a, b) => a.at - b.at).slice(0, limit)
}

function forecastMemory(memory: Memory, now: Instant, settings: Settings): EvictionForecast | null {
  const eviction = forecastDecision(memory, now, settings)
  const { expiresAt } = memory
  const isEnding = expiresAt !== null && expiresAt <= addMs(now, HORIZON_DAYS * DAY_MS)
  if (isEnding && (eviction === null || expiresAt < eviction.at)) {
    return { memory, at: expiresAt, kind: 'end' }
  }
  return eviction
}

/** The first day on which consolidation would evict the memory. Once it would, it would on every later day. */
function forecastDecision(
  memory: Memory,
  now: Instant,
  settings: Settings,
): EvictionForecast | null {
  const candidate = { ...memory, isProtected: isProtectedFromEviction(memory) }
  const decideIn = (days: number) => decideEviction(candidate, addMs(now, days * DAY_MS), settings)
  if (decideIn(HORIZON_DAYS) === null) return null
  let [stays, leaves] = [-1, HORIZON_DAYS]
  while (leaves - stays > 1) {
    const middle = Math.floor((stays + leaves) / 2)
    if (decideIn(middle) === null) stays = middle
    else leaves = middle
  }
  const kind = decideIn(leaves)?.kind === 'expire' ? 'expire' : 'evict'
  return { memory, at: addMs(now, leaves * DAY_MS), kind }
}
