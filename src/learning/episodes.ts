/** Queries on episodes, the memories that summarize conversations. */

import type { MemoryId } from '../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../domain/limits.ts'
import type { Memory, MemoryStatus } from '../domain/memory.ts'
import { getEventTime } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import type { Json } from '../lib/json.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { parseCursor, parseLimit } from '../storage/access/page-request.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Page } from '../storage/store.ts'

export type EpisodeQuery = {
  /** When the conversation took place. */
  readonly from?: number
  readonly before?: number
  /** Matches any of these, case-insensitive, also as part of a topic. */
  readonly topics?: readonly string[]
  /** Default: active ones. */
  readonly statuses?: readonly MemoryStatus[]
  readonly limit?: number
  readonly after?: string
}

const LIST_LIMIT = 50

/** Newest first. */
export async function listEpisodes(
  { store }: MemoryDependencies,
  scope: Scope,
  query: EpisodeQuery,
): Promise<Page<Memory>> {
  const { statuses = ['active'], limit = LIST_LIMIT, after } = query
  const rowsMax = parseLimit(limit)
  const found: Memory[] = []
  let next = after === undefined ? null : parseCursor('mem', after)
  do {
    const page: Page<Memory> = await store.find('memory', scope, {
      where: { categories: ['episode'], statuses },
      limit: Math.min(PAGE_ROWS_MAX, rowsMax - found.length),
      ...(next === null ? {} : { after: next }),
    })
    found.push(...page.rows.filter((memory) => isMatchingEpisode(memory, query)))
    next = page.next
  } while (next !== null && found.length < rowsMax)
  return { rows: found, next }
}

function isMatchingEpisode(memory: Memory, { from, before, topics }: EpisodeQuery): boolean {
  const at = getEventTime(memory)
  if ((from !== undefined && at < from) || (before !== undefined && at >= before)) return false
  if (topics === undefined) return true
  const known = getEpisodeLines(memory, 'topics').map((topic) => topic.toLowerCase())
  return topics.some((topic) => known.some((each) => each.includes(topic.toLowerCase())))
}

/** Topics, decisions or action items. */
export function getEpisodeLines(
  { metadata }: Pick<Memory, 'metadata'>,
  name: 'topics' | 'decisions' | 'actionItems',
): readonly string[] {
  const value: Json | undefined = metadata[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** Fails with `not_found` for memories that are no episodes. */
export async function getEpisode(
  { store }: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  const memory = await store.get('memory', scope, id)
  if (memory?.category === 'episode') return memory
  throw new AppError('not_found', `Episode ${id} not found.`, { id })
}

/** Facts distilled from the same turns, oldest first. */
export async function listEpisodeFacts(
  { store }: MemoryDependencies,
  episode: Memory,
): Promise<readonly Memory[]> {
  const { place, provenance } = episode
  if (place.session === null) return []
  const turns = new Set(provenance.turns)
  const facts: Memory[] = []
  const where = { statuses: ['active', 'disabled', 'superseded'] } as const
  for await (const page of pages(store, 'memory', place, { where, order: 'oldest' })) {
    facts.push(
      ...page.filter(
        ({ id, category, provenance: from }) =>
          id !== episode.id && category !== 'episode' && from.turns.some((turn) => turns.has(turn)),
      ),
    )
  }
  return facts
}
