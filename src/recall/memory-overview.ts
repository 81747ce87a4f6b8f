/** Overviews of all memories: vectors for a map, entities for a graph, and a timeline. */

import { type MemoryId, parseId } from '../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import { getEventTime } from '../domain/memory.ts'
import { parseScope, type Scope, type ScopeInput } from '../domain/scope.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import { withTimeout } from '../lib/timeout.ts'
import { getMemoryOrThrow } from '../memory/memory-changes.ts'
import { type ReadFilter, toMemoryFilter } from '../memory/memory-reader.ts'
import { parseLimit } from '../storage/access/page-request.ts'
import type { Page } from '../storage/store.ts'
import { explainMissingVectors } from '../storage/vector-index.ts'
import type { Indexer } from './indexing/indexer.ts'
import { countFacets, type FacetQuery, type MemoryFacets } from './memory-facets.ts'
import type { RecallDependencies } from './types.ts'

/** Memories per overview. */
export const OVERVIEW_MEMORIES_MAX = 5_000

/** Timestamps are small, so a timeline may have more. */
const TIMES_MAX = 20_000

/** How long an overview waits for the embedding model. */
const OPEN_TIMEOUT_MS = 20_000

export type MemoryVector = {
  readonly memory: Memory
  /** Null when the memory has no vector yet, or no model is available. */
  readonly vector: Float32Array | null
}

export type MemoryVectors = {
  /** Newest first. */
  readonly memories: readonly MemoryVector[]
  readonly dimensions: number | null
  /** Whether the list has all memories. */
  readonly isComplete: boolean
  /** Why there are no vectors; null when there are. */
  readonly reason: string | null
}

/** Whether vector search can find a memory. */
export type VectorState = {
  readonly hasVector: boolean
  readonly dimensions: number | null
  /** Why it has no vector; null when it has one. */
  readonly reason: string | null
}

export type NamedEntity = { readonly name: string; readonly memories: number }

export type EntityOverview = {
  /** By number of memories, highest first. */
  readonly entities: readonly NamedEntity[]
  /** The memories with any of the entities, newest first, and the indexes of their entities in the list. */
  readonly memories: readonly {
    readonly memory: Memory
    readonly entities: readonly number[]
  }[]
  /** The number of all entities, including those not in the list. */
  readonly total: number
  readonly isComplete: boolean
}

export type Timeline = {
  /** When memories other than episodes were created. */
  readonly memories: readonly Instant[]
  /** When the conversations of the episodes took place. */
  readonly episodes: readonly Instant[]
  readonly isComplete: boolean
}

/** Overviews cover active memories, newest first. */
export interface MemoryOverview {
  /**
   * The newest memories with their vectors.
   *
   * @example
   * const { memories, reason } = await engine.admin.overview.vectors({ owner: 'ada' }, { limit: 500 })
   */
  vectors(scope: ScopeInput, options?: { readonly limit?: number }): Promise<MemoryVectors>
  /**
   * Whether a memory has a vector, and why not. Fails with `not_found` when there is no such memory.
   *
   * @example
   * const { hasVector } = await engine.admin.overview.vectorState({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  vectorState(scope: ScopeInput, id: string): Promise<VectorState>
  /**
   * Named entities by the number of memories that mention them.
   *
   * @example
   * const { entities } = await engine.admin.overview.entities({ owner: 'ada' }, { limit: 50 })
   */
  entities(
    scope: ScopeInput,
    options?: { readonly limit?: number; readonly memories?: number },
  ): Promise<EntityOverview>
  /**
   * How many memories match, by category, type, user and other fields, and how many more each filter excludes.
   *
   * @example
   * const { facets } = await engine.admin.overview.facets({ owner: 'ada' }, { categories: ['fact'] })
   */
  facets(scope: ScopeInput, query?: FacetQuery): Promise<MemoryFacets>
  /**
   * Memories by the time that they are about.
   *
   * @example
   * const timeline = await engine.admin.overview.times({ owner: 'ada' }, { from: Date.UTC(2026, 0) })
   */
  times(
    scope: ScopeInput,
    span?: { readonly from?: number; readonly before?: number },
  ): Promise<Timeline>
}

const ENTITIES_DEFAULT = 150

export function createMemoryOverview(
  deps: RecallDependencies,
  indexer: Indexer | null,
): MemoryOverview {
  return {
    facets: async (scope, query = {}) => countFacets(deps, parseScope(scope), query),
    vectors: async (scope, { limit = OVERVIEW_MEMORIES_MAX } = {}) => {
      const rowsMax = parseLimit(limit, OVERVIEW_MEMORIES_MAX)
      return loadVectors(deps, indexer, parseScope(scope), rowsMax)
    },
    vectorState: async (scope, id) =>
      loadVectorState(deps, indexer, parseScope(scope), parseId('mem', id)),
    entities: async (
      scope,
      { limit = ENTITIES_DEFAULT, memories = OVERVIEW_MEMORIES_MAX } = {},
    ) => {
      const rowsMax = parseLimit(memories, OVERVIEW_MEMORIES_MAX)
      const { rows, isComplete } = await loadNewest(deps, parseScope(scope), {}, rowsMax)
      return { ...collectEntities(rows, limit), isComplete }
    },
    times: async (scope, span = {}) => loadTimes(deps, parseScope(scope), span),
  }
}

async function loadNewest(
  { store, clock }: RecallDependencies,
  scope: Scope,
  filter: ReadFilter,
  rowsMax: number,
): Promise<{ readonly rows: readonly Memory[]; readonly isComplete: boolean }> {
  const where = toMemoryFilter(filter, clock.now())
  const rows: Memory[] = []
  let after: string | null = null
  do {
    const page: Page<Memory> = await store.find('memory', scope, {
      where,
      limit: Math.min(PAGE_ROWS_MAX, rowsMax - rows.length),
      order: 'newest',
      ...(after === null ? {} : { after }),
    })
    rows.push(...page.rows)
    after = page.next
    await yieldToEventLoop()
  } while (after !== null && rows.length < rowsMax)
  return { rows, isComplete: after === null }
}

async function loadVectors(
  deps: RecallDependencies,
  indexer: Indexer | null,
  scope: Scope,
  rowsMax: number,
): Promise<MemoryVectors> {
  const { rows, isComplete } = await loadNewest(deps, scope, {}, rowsMax)
  const withoutVectors = (reason: string): MemoryVectors => ({
    memories: rows.map((memory) => ({ memory, vector: null })),
    dimensions: null,
    isComplete,
    reason,
  })
  const { vectors } = deps
  if (indexer === null || vectors === undefined) return withoutVectors(explainMissingVectors(deps))
  const opened = await withTimeout(OPEN_TIMEOUT_MS, () => indexer.open(scope))
  if (opened.kind === 'failed') return withoutVectors(opened.reason)
  const { space } = opened.result
  const vectorOf = new Map<MemoryId, Float32Array>()
  for (let start = 0; start < rows.length; start += PAGE_ROWS_MAX) {
    const ids = rows.slice(start, start + PAGE_ROWS_MAX).map(({ id }) => id)
    for (const [id, vector] of await vectors.vectorsOf(space, scope, ids)) vectorOf.set(id, vector)
    await yieldToEventLoop()
  }
  return {
    memories: rows.map((memory) => ({ memory, vector: vectorOf.get(memory.id) ?? null })),
    dimensions: space.dimensions,
    isComplete,
    reason: null,
  }
}

async function loadVectorState(
  deps: RecallDependencies,
  indexer: Indexer | null,
  scope: Scope,
  id: MemoryId,
): Promise<VectorState> {
  const { vectors } = deps
  await getMemoryOrThrow(deps, scope, id)
  const none = (reason: string) => ({ hasVector: false, dimensions: null, reason })
  if (indexer === null || vectors === undefined) return none(explainMissingVectors(deps))
  const opened = await withTimeout(OPEN_TIMEOUT_MS, () => indexer.open(scope))
  if (opened.kind === 'failed') return none(opened.reason)
  const { space } = opened.result
  const stored = await vectors.vectorsOf(space, scope, [id])
  if (stored.has(id)) return { hasVector: true, dimensions: space.dimensions, reason: null }
  return none('The memory has no vector yet; keyword search finds it.')
}

/** Entities whose names differ only in case are one, in the newest spelling. */
function collectEntities(
  newestFirst: readonly Memory[],
  entitiesMax: number,
): Omit<EntityOverview, 'isComplete'> {
  const byKey = new Map<string, { readonly name: string; memories: number }>()
  for (const { entities } of newestFirst) {
    for (const [key, name] of deduplicate(entities)) {
      const entity = byKey.get(key) ?? { name, memories: 0 }
      entity.memories++
      byKey.set(key, entity)
    }
  }
  const selected = [...byKey]
    .sort(([, a], [, b]) => b.memories - a.memories || (a.name < b.name ? -1 : 1))
    .slice(0, entitiesMax)
  const indexOfKey = new Map(selected.map(([key], index) => [key, index]))
  const memories = newestFirst.flatMap((memory) => {
    const entities = [...deduplicate(memory.entities).keys()].flatMap(
      (key) => indexOfKey.get(key) ?? [],
    )
    return entities.length === 0 ? [] : [{ memory, entities }]
  })
  return { entities: selected.map(([, entity]) => entity), memories, total: byKey.size }
}

function deduplicate(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name.toLowerCase(), name]))
}

async function loadTimes(
  deps: RecallDependencies,
  scope: Scope,
  { from, before }: { readonly from?: number; readonly before?: number },
): Promise<Timeline> {
  const span = {
    ...(from === undefined ? {} : { createdFrom: from as Instant }), // validated by the caller
    ...(before === undefined ? {} : { createdBefore: before as Instant }),
  }
  // An episode is dated by its conversation, which may be much older than the distillation.
  const [created, episodes] = await Promise.all([
    loadNewest(deps, scope, span, TIMES_MAX),
    loadNewest(deps, scope, { categories: ['episode'], includeExpired: true }, TIMES_MAX),
  ])
  const isInSpan = (at: Instant) =>
    (from === undefined || at >= from) && (before === undefined || at < before)
  return {
    memories: created.rows
      .filter(({ category }) => category !== 'episode')
      .map(({ createdAt }) => createdAt),
    episodes: episodes.rows.map(getEventTime).filter(isInSpan),
    isComplete: created.isComplete && episodes.isComplete,
  }
}
