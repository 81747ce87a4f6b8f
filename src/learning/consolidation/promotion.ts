/** Facts that recent episodes keep mentioning become more salient. All of a run is one change. */

import type { MemoryId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import { DAY_MS } from '../../lib/decay.ts'
import { nextTurn, Pace } from '../../lib/event-loop.ts'
import type { Instant } from '../../lib/time.ts'
import { replacing } from '../../memory/memory-changes.ts'
import { decideAndCommit } from '../../storage/access/optimistic-commit.ts'
import { loadAll, nextChange, type Run } from './consolidation-run.ts'
import { wordNumbers } from './merging/word-sets.ts'
import {
  EPISODES_MAX,
  isPromoted,
  MENTIONS_MIN,
  Mentions,
  promoted,
  RECENT_DAYS,
} from './promotion-policy.ts'
import type { Census } from './statistics.ts'

const MEMORIES_PER_REPORT = 200

/** So few that others are answered between two commits. */
const MEMORIES_PER_COMMIT = 10

type Mentioned = {
  readonly index: number
  readonly id: MemoryId
  readonly mentions: readonly Instant[]
}

export async function promoteMentioned(run: Run, census: Census): Promise<number> {
  const mentions = await mentionsOf(run, census)
  const change = nextChange(run)
  const pace = new Pace()
  let waiting: Mentioned[] = []
  let count = 0
  const flush = async () => {
    count += await promoteTogether(run, census, waiting, change)
    waiting = []
    await nextTurn()
  }
  for (let index = 0; mentions !== null && index < census.count; index++) {
    if (index % MEMORIES_PER_REPORT === 0) {
      run.tell({ step: 'promote', done: index, total: census.count })
    }
    if (pace.isDue) await pace.rest()
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
async function mentionsOf(run: Run, census: Census): Promise<Mentions | null> {
  const from = (run.now - RECENT_DAYS * DAY_MS) as Instant
  const ids = census.recentEpisodes(from, run.now, EPISODES_MAX)
  if (ids.length < MENTIONS_MIN) return null
  const pace = new Pace()
  const episodes: { readonly words: Uint32Array; readonly at: Instant }[] = []
  for (const episode of await loadAll(run, ids)) {
    episodes.push({ words: wordNumbers(wordingOf(episode)), at: episode.createdAt })
    if (pace.isDue) await pace.rest()
  }
  return new Mentions(episodes)
}

function wordingOf({ content, entities, metadata }: Memory): string {
  const { topics } = metadata
  const named = Array.isArray(topics) ? topics.filter((topic) => typeof topic === 'string') : []
  return [content, ...entities, ...named].join('\n')
}

async function promoteTogether(
  run: Run,
  census: Census,
  mentioned: readonly Mentioned[],
  change: Memory['change'],
): Promise<number> {
  const { ports, now, isDryRun } = run
  const stamp = { change, now }
  const byId = new Map(mentioned.map((each) => [each.id, each]))
  const mentionsOfOne = ({ id }: Memory) => byId.get(id)?.mentions ?? []
  const decide = async () => {
    const memories = await loadAll(run, [...byId.keys()])
    return memories.filter((memory) =>
      isPromoted(memory, mentionsOfOne(memory), now, run.settings.consolidationIntervalHours),
    )
  }
  const meant = isDryRun
    ? await decide()
    : await decideAndCommit(ports, async () => {
        const memories = await decide()
        const changes = memories.flatMap((memory) =>
          replacing(ports, memory, promoted(memory, stamp)),
        )
        return { changes, result: memories }
      })
  for (const memory of meant) {
    census.touch(byId.get(memory.id)?.index ?? 0, promoted(memory, stamp).salience, now)
    run.actions.add({
      kind: 'promote',
      memories: [memory.id],
      because: `${mentionsOfOne(memory).length} conversations of the last ${RECENT_DAYS} days mention it.`,
      change: isDryRun ? null : change,
    })
  }
  return meant.length
}
