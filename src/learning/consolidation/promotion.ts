/** Promotes facts that recent episodes keep mentioning. All promotions of a run share one change id. */

import type { MemoryId } from '../../domain/ids.ts'
import { METADATA_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import { TimeSlice, yieldToEventLoop } from '../../lib/event-loop.ts'
import { addMs, DAY_MS, HOUR_MS, type Instant } from '../../lib/time.ts'
import { buildReplacement, type ChangeStamp, stampMemory } from '../../memory/memory-changes.ts'
import { isExemptFromDecay } from '../../memory/salience-decay.ts'
import { commitWithRetry } from '../../storage/access/optimistic-commit.ts'
import { type ConsolidationRun, createChangeId, loadMemories } from './consolidation-run.ts'
import { encodeWords, selectContentWords } from './merging/word-sets.ts'
import type { MemoryStatistics } from './statistics.ts'

const RECENT_DAYS = 60

const EPISODES_MAX = 200

const MENTIONS_MIN = 3
const STEP = 0.05

/** The share of a fact's content words that an episode must contain to mention it. */
const SHARE_MIN = 0.6

/** A single shared word is coincidence. */
const WORDS_MIN = 2

/** The metadata field of the last promotion; undo reverts it with the salience. */
const PROMOTED_AT = 'promotedAt'
const WINDOW_HOURS_MIN = 24

/** Finds the recent episodes that mention a fact, by shared words. */
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

  /** Creation times of the episodes that mention these words. */
  of(words: Uint32Array): readonly Instant[] {
    const content = selectContentWords(words)
    const needed = Math.max(WORDS_MIN, Math.ceil(SHARE_MIN * content.length))
    if (content.length < WORDS_MIN) return []
    const shared = new Map<number, number>()
    for (const word of content) {
      for (const index of this.#episodes.get(word) ?? []) {
        shared.set(index, (shared.get(index) ?? 0) + 1)
      }
    }
    return [...shared].flatMap(([index, count]) =>
      count >= needed ? (this.#times[index] ?? []) : [],
    )
  }
}

/** At most one promotion per window, and another one only after a newer episode mentions the fact. */
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
  const before = memory.metadata[PROMOTED_AT]
  if (typeof before !== 'number') return true
  const windowMs = Math.max(WINDOW_HOURS_MIN, intervalHours) * HOUR_MS
  // A time in the future comes from a clock that was set back since.
  return Math.abs(now - before) >= windowMs && mentions.some((at) => at > before || before > now)
}

export function promoteMemory(memory: Memory, stamp: ChangeStamp): Memory {
  return {
    ...stampMemory(memory, stamp),
    salience: Math.min(1, Number((memory.salience + STEP).toFixed(6))),
    metadata: { ...memory.metadata, [PROMOTED_AT]: stamp.now },
  }
}

const FIELD_CHARACTERS = 32

function hasRoom({ metadata }: Memory): boolean {
  return JSON.stringify(metadata).length + FIELD_CHARACTERS <= METADATA_CHARACTERS_MAX
}

const MEMORIES_PER_REPORT = 200

/** Small commits let other requests run in between. */
const MEMORIES_PER_COMMIT = 10

type MentionedFact = {
  readonly index: number
  readonly id: MemoryId
  readonly mentions: readonly Instant[]
}

export async function promoteMentioned(
  run: ConsolidationRun,
  statistics: MemoryStatistics,
): Promise<number> {
  const mentions = await indexMentions(run, statistics)
  const change = createChangeId(run)
  const pace = new TimeSlice()
  let waiting: MentionedFact[] = []
  let count = 0
  const flush = async () => {
    count += await promoteBatch(run, statistics, waiting, change)
    waiting = []
    await yieldToEventLoop()
  }
  for (let index = 0; mentions !== null && index < statistics.count; index++) {
    if (index % MEMORIES_PER_REPORT === 0) {
      run.reportProgress({ step: 'promote', done: index, total: statistics.count })
    }
    if (pace.isExpired) await pace.yieldThread()
    if (!statistics.isFact(index)) continue
    const found = mentions.of(statistics.words.at(index))
    if (found.length < MENTIONS_MIN) continue
    waiting.push({ index, id: statistics.idAt(index), mentions: found })
    if (waiting.length === MEMORIES_PER_COMMIT) await flush()
  }
  if (waiting.length > 0) await flush()
  return count
}

/** Null when there are too few episodes to mention anything often enough. */
async function indexMentions(
  run: ConsolidationRun,
  statistics: MemoryStatistics,
): Promise<MentionIndex | null> {
  const from = addMs(run.now, -RECENT_DAYS * DAY_MS)
  const ids = statistics.recentEpisodes(from, run.now, EPISODES_MAX)
  if (ids.length < MENTIONS_MIN) return null
  const pace = new TimeSlice()
  const episodes: { readonly words: Uint32Array; readonly at: Instant }[] = []
  for (const episode of await loadMemories(run, ids)) {
    episodes.push({ words: encodeWords(joinEpisodeText(episode)), at: episode.createdAt })
    if (pace.isExpired) await pace.yieldThread()
  }
  return new MentionIndex(episodes)
}

function joinEpisodeText({ content, entities, metadata }: Memory): string {
  const { topics } = metadata
  const named = Array.isArray(topics) ? topics.filter((topic) => typeof topic === 'string') : []
  return [content, ...entities, ...named].join('\n')
}

async function promoteBatch(
  run: ConsolidationRun,
  statistics: MemoryStatistics,
  mentioned: readonly MentionedFact[],
  change: Memory['change'],
): Promise<number> {
  const { ports, now, isDryRun } = run
  const stamp = { change, now }
  const byId = new Map(mentioned.map((each) => [each.id, each]))
  const mentionsOfOne = ({ id }: Memory) => byId.get(id)?.mentions ?? []
  const decide = async () => {
    const memories = await loadMemories(run, [...byId.keys()])
    return memories.filter((memory) =>
      isPromotable(
        memory,
        mentionsOfOne(memory),
        now,
        run.settings['learning.consolidationIntervalHours'],
      ),
    )
  }
  const promoted = isDryRun
    ? await decide()
    : await commitWithRetry(ports, async () => {
        const memories = await decide()
        const changes = memories.flatMap((memory) =>
          buildReplacement(ports, memory, promoteMemory(memory, stamp)),
        )
        return { changes, result: memories }
      })
  for (const memory of promoted) {
    statistics.touch(byId.get(memory.id)?.index ?? 0, promoteMemory(memory, stamp).salience, now)
    run.actions.add({
      kind: 'promote',
      memories: [memory.id],
      reason: `${mentionsOfOne(memory).length} conversations of the last ${RECENT_DAYS} days mention it.`,
      change: isDryRun ? null : change,
    })
  }
  return promoted.length
}
