/** Reading: lists, history, and how things stood at an earlier time. */

import { parseInteger } from '../domain/field-parsers.ts'
import type { MemoryId } from '../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../domain/limits.ts'
import {
  hasEnded,
  type Memory,
  type MemoryCategory,
  type MemoryStatus,
  type MemoryType,
  type Trust,
} from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { addMs, type Instant } from '../lib/time.ts'
import { parseCursor, parseLimit } from '../storage/access/page-request.ts'
import { pages } from '../storage/access/row-pages.ts'
import {
  MEMORY_RANKINGS,
  type MemoryFilter,
  type MemoryOrder,
  type Page,
} from '../storage/store.ts'
import { getMemoryOrThrow } from './memory-changes.ts'
import type { MemoryDependencies } from './types.ts'

export type ReadFilter = {
  /** Only active ones unless said otherwise. */
  readonly statuses?: readonly MemoryStatus[]
  readonly types?: readonly MemoryType[]
  readonly categories?: readonly MemoryCategory[]
  readonly trusts?: readonly Trust[]
  /** What wrote it: `provenance.source`. */
  readonly sources?: readonly string[]
  readonly pinned?: boolean
  readonly key?: string
  readonly createdFrom?: Instant
  readonly createdBefore?: Instant
  readonly importanceMin?: number
  /** Stands in the content or the key, in capitals or not. */
  readonly contains?: string
  readonly ids?: readonly MemoryId[]
  /** Also those that have expired or ceased to hold. */
  readonly includeExpired?: boolean
}

export type ListQuery = ReadFilter & {
  readonly limit?: number
  readonly order?: MemoryOrder
  /** What `next` of an earlier page in the same order gave. */
  readonly after?: string
  readonly offset?: number
}

export type HistoryEntry = {
  readonly memory: Memory
  /** Null for the version in force. */
  readonly replacedAt: Instant | null
}

const LIST_LIMIT = 50

export async function listMemories(
  { store, clock }: MemoryDependencies,
  scope: Scope,
  query: ListQuery,
): Promise<Page<Memory>> {
  const { limit, order, after, offset } = query
  return store.find('memory', scope, {
    where: toMemoryFilter(query, clock.now()),
    limit: parseLimit(limit ?? LIST_LIMIT),
    ...(order === undefined ? {} : { order }),
    ...(after === undefined ? {} : { after: toCursor(order, after) }),
    ...(offset === undefined ? {} : { offset: parseOffset(offset) }),
  })
}

/** Every version of a memory, the one in force first. */
export async function listVersions(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [
    { memory: await getMemoryOrThrow(ports, scope, id), replacedAt: null },
  ]
  for await (const page of pages(ports.store, 'revision', scope, { where: { memories: [id] } })) {
    for (const { memory, replacedAt } of page) entries.push({ memory, replacedAt })
  }
  return entries.sort((a, b) => b.memory.version - a.memory.version)
}

/**
 * The memories as they were recorded at an earlier instant, without those that had ended by then: what recall could
 * have used. What has been erased since is gone from the past as well.
 */
export async function listMemoriesAsOf(
  { store }: MemoryDependencies,
  scope: Scope,
  at: Instant,
  query: Pick<ListQuery, 'limit' | 'after'> & { readonly includeExpired?: boolean },
): Promise<Page<Memory>> {
  const page = await store.find('memory', scope, {
    where: { createdBefore: addMs(at, 1) }, // "at or before", in whole milliseconds
    limit: parseLimit(query.limit ?? LIST_LIMIT),
    ...(query.after === undefined ? {} : { after: parseCursor('mem', query.after) }),
  })
  const changedSince = page.rows.filter((memory) => memory.updatedAt > at).map(({ id }) => id)
  const { rows: past } = await store.find('revision', scope, {
    where: { memories: changedSince, inForceAt: at },
    limit: PAGE_ROWS_MAX,
  })
  const then = new Map(past.map(({ memory }) => [memory.id, memory]))
  const rows = page.rows
    .flatMap((memory) => (memory.updatedAt <= at ? [memory] : (then.get(memory.id) ?? [])))
    .filter((memory) => memory.status === 'active' && !hasEnded(memory, at))
  return { rows, next: page.next }
}

export function toMemoryFilter(query: ReadFilter, now: Instant): MemoryFilter {
  const { statuses, types, categories, pinned, key, createdFrom, createdBefore } = query
  const { contains, ids, importanceMin, trusts, sources } = query
  return {
    statuses: statuses ?? ['active'],
    ...(types === undefined ? {} : { types }),
    ...(categories === undefined ? {} : { categories }),
    ...(trusts === undefined ? {} : { trusts }),
    ...(sources === undefined ? {} : { sources }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(key === undefined ? {} : { key }),
    ...(createdFrom === undefined ? {} : { createdFrom }),
    ...(createdBefore === undefined ? {} : { createdBefore }),
    ...(contains === undefined || contains === '' ? {} : { contains }),
    ...(ids === undefined ? {} : { ids }),
    ...(importanceMin === undefined ? {} : { importanceMin }),
    // A superseded memory has ended by that; who asks for such ones wants to see them.
    ...(query.includeExpired === true || statuses?.some((status) => status !== 'active')
      ? {}
      : { validAt: now }),
  }
}

function parseOffset(offset: number): number {
  return parseInteger('offset', offset, 0, Number.MAX_SAFE_INTEGER)
}

function toCursor(order: MemoryOrder | undefined, after: string): string {
  // In an order that memories move in, the store reads it.
  return MEMORY_RANKINGS.some((ranking) => ranking === order) ? after : parseCursor('mem', after)
}
