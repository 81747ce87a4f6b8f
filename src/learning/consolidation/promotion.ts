/** Facts that recent episodes keep mentioning become more salient. All of a run is one change. */

import type { MemoryId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import { TimeSlice, yieldToEventLoop } from '../../lib/event-loop.ts'
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'
import { buildReplacement } from '../../memory/memory-changes.ts'
import { commitWithRetry } from '../../storage/access/optimistic-commit.ts'
import { type ConsolidationRun, createChangeId, loadMemories } from './consolidation-run.ts'
import { encodeWords } from './merging/word-sets.ts'
import {
  EPISODES_MAX,
  isPromotable,
  MENTIONS_MIN,
  MentionIndex,
  promoteMemory,
  RECENT_DAYS,
} from './promotion-policy.ts'
import type { MemoryStatistics } from './statistics.ts'

const MEMORIES_PER_REPORT = 200

/** So few that others are answered between two commits. */
const MEMORIES_PER_COMMIT = 10

type MentionedFact = {
  readonly index: number
  readonly id: MemoryId
  readonly mentions: readonly Instant[]
}

export async function promoteMentioned(
  run: ConsolidationRun,
  census: MemoryStatistics,
): Promise<number> {
  const mentions = await indexMentions(run, census)
  const change = createChangeId(run)
  const pace = new TimeSlice()
  let waiting: MentionedFact[] = []
  let count = 0
  const flush = async () => {
    count += await promoteBatch(run, census, waiting, change)
    waiting = []
    await yieldToEventLoop()
  }
  for (let index = 0; mentions !== null && index < census.count; index++) {
    if (index % MEMORIES_PER_REPORT === 0) {
      run.reportProgress({ step: 'promote', done: index, total: census.count })
    }
    if (pace.isExpired) await pace.yieldThread()
    if (!census.isFact(index)) continue
    const found = mentions.of(census.words.at(index))
    if (found.length < MENTIONS_MIN) continue
    waiting.push({ index, id: census.idAt(index), mentions: found })
    if (waiting.length === MEMORIES_PER_COMMIT) await flush()
  }
  if (waiting.length > 0) await flush()
  return count
}

/** Null when there are too few episodes to mention anything often enough. */
async function indexMentions(
  run: ConsolidationRun,
  census: MemoryStatistics,
): Promise<MentionIndex | null> {
  const from = addMs(run.now, -RECENT_DAYS * DAY_MS)
  const ids = census.recentEpisodes(from, run.now, EPISODES_MAX)
  if (ids.length < MENTIONS_MIN) return null
  const pace = new TimeSlice()
  const episodes: { readonly words: Uint32Array; readonly at: Instant }[] = []
  for (const episode of await loadMemories(run, ids)) {
    episodes.push({ words: encodeWords(encodeStatement(episode)), at: episode.createdAt })
    if (pace.isExpired) await pace.yieldThread()
  }
  return new MentionIndex(episodes)
}

function encodeStatement({ content, entities, metadata }: Memory): string {
  const { topics } = metadata
  const named = Array.isArray(topics) ? topics.filter((topic) => typeof topic === 'string') : []
  return [content, ...entities, ...named].join('\n')
}

async function promoteBatch(
  run: ConsolidationRun,
  census: MemoryStatistics,
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
  const meant = isDryRun
    ? await decide()
    : await commitWithRetry(ports, async () => {
        const memories = await decide()
        const changes = memories.flatMap((memory) =>
          buildReplacement(ports, memory, promoteMemory(memory, stamp)),
        )
        return { changes, result: memories }
      })
  for (const memory of meant) {
    census.touch(byId.get(memory.id)?.index ?? 0, promoteMemory(memory, stamp).salience, now)
    run.actions.add({
      kind: 'promote',
      memories: [memory.id],
      reason: `${mentionsOfOne(memory).length} conversations of the last ${RECENT_DAYS} days mention it.`,
      change: isDryRun ? null : change,
    })
  }
  return meant.length
}
