/**
 * Notices that a conversation approaches the context window of its model, where clients compact it. What it says should
 * be distilled before, once for each time that it fills up.
 */
import type { SessionPlace } from '../../domain/scope.ts'
import { hashParts } from '../../lib/hash.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import type { ConversationRequest, RequestOutcome } from '../conversations.ts'

/** After a restart, a conversation that is near its limit is distilled once more. */
const SESSIONS_MAX = 10_000

/** A conservative estimate where the provider does not count: code and other scripts have few characters per token. */
const CHARACTERS_PER_TOKEN = 3

/** Whether fewer than `reserveTokens` are left of the context window. A reserve of 0 turns this off. */
export function isWindowNearlyFull(
  { contextWindow, request }: Pick<ConversationRequest, 'contextWindow' | 'request'>,
  { answer }: Pick<RequestOutcome, 'answer'>,
  reserveTokens: number,
): boolean {
  if (contextWindow === null || reserveTokens === 0) return false
  const characters = request.characters + (answer?.text.length ?? 0)
  const usage = answer?.usage ?? null
  const used =
    usage === null ? Math.ceil(characters / CHARACTERS_PER_TOKEN) : usage.input + usage.output
  // Of a small window, at most half is reserved: otherwise every request would count as near the limit.
  return used >= contextWindow - Math.min(reserveTokens, Math.floor(contextWindow / 2))
}

export class CompactionWatch {
  readonly #flushed = new LruCache<string, true>({ entriesMax: SESSIONS_MAX })

  /** Whether the session is still to be distilled before it is compacted. */
  isDue(place: SessionPlace, isNearlyFull: boolean): boolean {
    return isNearlyFull && this.#flushed.get(toKey(place)) === undefined
  }

  /** Call once the turns are committed. A session that shrank was compacted, and may fill up again. */
  settle(place: SessionPlace, isNearlyFull: boolean): void {
    if (isNearlyFull) this.#flushed.set(toKey(place), true)
    else this.#flushed.delete(toKey(place))
  }
}

function toKey({ owner, user, session }: SessionPlace): string {
  return hashParts(owner, user, session)
}
