/** Reads memories: lists, history, and the state at an earlier time. */

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
import type { SearchDocument } from '../domain/search-document.ts'
import { AppError } from '../lib/errors.ts'
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
  /** Default: active. */
  readonly statuses?: readonly MemoryStatus[]
  readonly types?: readonly MemoryType[]
  readonly categories?: readonly MemoryCategory[]
  readonly trusts?: readonly Trust[]
  /** `provenance.source`. */
  readonly sources?: readonly string[]
  readonly pinned?: boolean
  readonly key?: string
  readonly createdFrom?: Instant
  readonly createdBefore?: Instant
  readonly importanceMin?: number
  /** A substring of the content or the key, regardless of case. */
  readonly contains?: string
  readonly ids?: readonly MemoryId[]
  /** Includes memories past their expiry or validity. */
  readonly includeExpired?: boolean
}

export type ListQuery = ReadFilter & {
  readonly limit?: number
  readonly order?: MemoryOrder
  /** `next` of an earlier page in the same order. */
  readonly after?: string
  readonly offset?: number
}

export type HistoryEntry = {
  readonly memory: Memory
  /** Null for the current version. */
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

/** Every version of a memory, newest first. */
export async function listVersions(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [
    { memory: await getMemoryOrThrow(deps, scope, id), replacedAt: null },
  ]
  for await (const page of pages(deps.store, 'revision', scope, { where: { memories: [id] } })) {
    for (const { memory, replacedAt } of page) entries.push({ memory, replacedAt })
  }
  return entries.sort((a, b) => b.memory.version - a.memory.version)
}

/** The most memories that a chain names in each direction. */
const CHAIN_LENGTH_MAX = 50

/** A memory with those that it replaced, those that they replaced, and those that replaced it in turn, oldest first. */
export async function listChain(
  deps: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<readonly Memory[]> {
  const memory = await getMemoryOrThrow(deps, scope, id)
  const { session: _, ...home } = scope
  const chain = new Map([[id, memory]])
  let successor = memory.supersededBy
  while (successor !== null && !chain.has(successor) && chain.size <= CHAIN_LENGTH_MAX) {
    const next: Memory | null = await deps.store.get('memory', home, successor)
    if (next === null) break
    chain.set(next.id, next)
    successor = next.supersededBy
  }
  const replaced = await loadSuperseded(deps, memory)
  const open = [id]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const predecessor of replaced.get(next) ?? []) {
      if (chain.has(predecessor.id) || chain.size > 2 * CHAIN_LENGTH_MAX) continue
      chain.set(predecessor.id, predecessor)
      open.push(predecessor.id)
    }
  }
  return [...chain.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

/** The superseded memories of the user, by the memory that replaced them. */
async function loadSuperseded(
  { store }: MemoryDependencies,
  { place: { owner, user } }: Memory,
): Promise<ReadonlyMap<MemoryId, readonly Memory[]>> {
  const replaced = new Map<MemoryId, Memory[]>()
  const where = { statuses: ['superseded'] } as const
  for await (const page of pages(store, 'memory', { owner, user }, { where })) {
    for (const memory of page) {
      if (memory.supersededBy === null) continue
      replaced.set(memory.supersededBy, [...(replaced.get(memory.supersededBy) ?? []), memory])
    }
  }
  return replaced
}

/**
 * The memories that recall could use at an earlier instant, in their versions of that time. Memories erased since are
 * missing.
 */
export async function listMemoriesAsOf(
  deps: MemoryDependencies,
  scope: Scope,
  at: Instant,
  query: Pick<ListQuery, 'limit' | 'after'> & { readonly includeExpired?: boolean },
): Promise<Page<Memory>> {
  const page = await deps.store.find('memory', scope, {
    where: { createdBefore: addMs(at, 1) }, // "at or before", in whole milliseconds
    limit: parseLimit(query.limit ?? LIST_LIMIT),
    ...(query.after === undefined ? {} : { after: parseCursor('mem', query.after) }),
  })
  return { rows: await loadVersionsAsOf(deps, scope, page.rows, at), next: page.next }
}

/** Replaces documents by their versions at an earlier instant, and drops those that were not active or had ended. */
export async function loadVersionsAsOf<Document extends SearchDocument>(
  { store }: MemoryDependencies,
  scope: Scope,
  documents: readonly Document[],
  at: Instant,
): Promise<readonly (Document | Memory)[]> {
  const changed = documents.filter(({ updatedAt }) => updatedAt > at).map(({ id }) => id)
  const { rows: revisions } = await store.find('revision', scope, {
    where: { memories: changed, inForceAt: at },
    limit: PAGE_ROWS_MAX,
  })
  const versions = new Map(revisions.map(({ memory }) => [memory.id, memory]))
  return documents
    .flatMap((row): readonly (Document | Memory)[] => {
      const version = row.updatedAt <= at ? row : versions.get(row.id)
      return version === undefined ? [] : [version]
    })
    .filter((row) => row.status === 'active' && !hasEnded(row, at))
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
    // Superseded memories have ended; a filter that asks for them must find them.
    ...(query.includeExpired === true || statuses?.some((status) => status !== 'active')
      ? {}
      : { validAt: now }),
  }
}

function parseOffset(offset: number): number {
  if (Number.isSafeInteger(offset) && offset >= 0) return offset
  throw new AppError(
    'invalid_input',
    `\`offset\` must be an integer of at least 0; got ${offset}.`,
    {
      field: 'offset',
    },
  )
}

function toCursor(order: MemoryOrder | undefined, after: string): string {
  // Cursors of rankings, in which memories move, are read by the store.
  return MEMORY_RANKINGS.some((ranking) => ranking === order) ? after : parseCursor('mem', after)
}
