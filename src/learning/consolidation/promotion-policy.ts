/** Facts that keep coming up in conversations become a little more salient. */

import { METADATA_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import { HOUR_MS, type Instant } from '../../lib/time.ts'
import { isExemptFromDecay } from '../../memory/salience-decay.ts'
import type { ChangeStamp } from './merging/merge-decision.ts'
import { selectContentWords } from './merging/word-sets.ts'

export const RECENT_DAYS = 60

export const EPISODES_MAX = 200

export const MENTIONS_MIN = 3
const STEP = 0.05

/** How much of what a fact is about an episode must hold to mention it. */
const SHARE_MIN = 0.6

/** One word in common is chance. */
const WORDS_MIN = 2

/** Where a fact remembers it, so that undoing takes both back. */
const NOTE = 'promotedAt'
const WINDOW_HOURS_MIN = 24

/** Which of the recent episodes mention something, by their words. */
export class MentionIndex {
  readonly #episodes = new Map<number, number[]>()
  readonly #times: readonly Instant[]

  constructor(episodes: readonly { readonly words: Uint32Array; readonly at: Instant }[]) {
    this.#times = episodes.map(({ at }) => at)
    for (const [index, { words }] of episodes.entries()) {
      for (const word of words) {
        const known = this.#episodes.get(word)
        if (known === undefined) this.#episodes.set(word, [index])
        else known.push(index)
      }
    }
  }

  /** When the episodes that mention these words were made. */
  of(words: Uint32Array): readonly Instant[] {
    const telling = selectContentWords(words)
    const needed = Math.max(WORDS_MIN, Math.ceil(SHARE_MIN * telling.length))
    if (telling.length < WORDS_MIN) return []
    const shared = new Map<number, number>()
    for (const word of telling) {
      for (const index of this.#episodes.get(word) ?? []) {
        shared.set(index, (shared.get(index) ?? 0) + 1)
      }
    }
    return [...shared].flatMap(([index, count]) =>
      count >= needed ? (this.#times[index] ?? []) : [],
    )
  }
}

/**
 * Whether a fact has become more salient. Once in a window, however often somebody looks, and again only when a newer
 * episode mentions it.
 */
export function isPromotable(
  memory: Memory,
  mentions: readonly Instant[],
  now: Instant,
  intervalHours: number,
): boolean {
  if (memory.status !== 'active' || memory.category === 'episode' || isExemptFromDecay(memory))
    return false
  if (memory.trust === 'suspect' || memory.salience >= 1) return false
  if (mentions.length < MENTIONS_MIN || !hasRoom(memory)) return false
  const before = memory.metadata[NOTE]
  if (typeof before !== 'number') return true
  const windowMs = Math.max(WINDOW_HOURS_MIN, intervalHours) * HOUR_MS
  // A time far ahead was noted by a clock that has been set back since.
  return Math.abs(now - before) >= windowMs && mentions.some((at) => at > before || before > now)
}

export function promoteMemory(memory: Memory, { change, now }: ChangeStamp): Memory {
  return {
    ...memory,
    salience: Math.min(1, Number((memory.salience + STEP).toFixed(6))),
    metadata: { ...memory.metadata, [NOTE]: now },
    version: memory.version + 1,
    change,
    updatedAt: now,
  }
}

const NOTE_CHARACTERS = 32

function hasRoom({ metadata }: Memory): boolean {
  return JSON.stringify(metadata).length + NOTE_CHARACTERS <= METADATA_CHARACTERS_MAX
}
