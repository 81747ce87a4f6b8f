/** Memories seen from afar: where they lie by meaning, what they name, and when they were made. */

import { getEpisodeTime } from '../domain/episode.ts'
import { type MemoryId, parseId } from '../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import { parseScope, type Scope, type ScopeInput } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import { withTimeout } from '../lib/timeout.ts'
import { type ReadFilter, toMemoryFilter } from '../memory/memory-reader.ts'
import { parseLimit } from '../storage/access/page-request.ts'
import type { Page } from '../storage/store.ts'
import { explainMissingVectors } from '../storage/vector-index.ts'
import type { Indexer } from './indexing/indexer.ts'
import type { RecallDependencies } from './types.ts'

/** What one overview looks at. */
export const OVERVIEW_MEMORIES_MAX = 5_000

/** Times are small, so there may be more of them. */
const TIMES_MAX = 20_000

/** A model may have to be loaded first; one that takes longer is told as missing. */
const OPEN_MS = 20_000

export type MemoryVector = {
  readonly memory: Memory
  /** Null when it has none yet, or there is no model to make one. */
  readonly vector: Float32Array | null
}

export type MemoryVectors = {
  /** Newest first. */
  readonly memories: readonly MemoryVector[]
  readonly dimensions: number | null
  /** Whether these are all. */
  readonly isComplete: boolean
  /** Why there are no vectors; null when there are. */
  readonly reason: string | null
}

/** Whether a memory can be found by its meaning. */
export type VectorState = {
  readonly hasVector: boolean
  readonly dimensions: number | null
  /** Why it has none; null when it has one. */
  readonly reason: string | null
}

export type NamedEntity = { readonly name: string; readonly memories: number }

export type EntityOverview = {
  /** Those that most memories name come first. */
  readonly entities: readonly NamedEntity[]
  /** The memories that name any of them, newest first, each with the places of its entities in the list. */
  readonly memories: readonly {
    readonly memory: Memory
    readonly entities: readonly number[]
  }[]
  /** How many entities there are, with those that are left out. */
  readonly total: number
  readonly isComplete: boolean
}

export type Timeline = {
  /** When memories other than digests were made. */
  readonly memories: readonly Instant[]
  /** When the conversations took place that there are digests of. */
  readonly episodes: readonly Instant[]
  readonly isComplete: boolean
}

/** Only active memories are looked at, the newest first. */
export interface MemoryOverview {
  vectors(scope: ScopeInput, options?: { readonly limit?: number }): Promise<MemoryVectors>
  /** `not_found` when there is no such memory. */
  vectorState(scope: ScopeInput, id: string): Promise<VectorState>
  entities(
    scope: ScopeInput,
    options?: { readonly limit?: number; readonly memories?: number },
  ): Promise<EntityOverview>
  times(
    scope: ScopeInput,
    span?: { readonly from?: number; readonly before?: number },
  ): Promise<Timeline>
}

const ENTITIES = 150

export function createMemoryOverview(
  ports: RecallDependencies,
  indexer: Indexer | null,
): MemoryOverview {
  return {
    vectors: async (scope, { limit = OVERVIEW_MEMORIES_MAX } = {}) => {
      const rowsMax = parseLimit(limit, OVERVIEW_MEMORIES_MAX)
      return loadVectors(ports, indexer, parseScope(scope), rowsMax)
    },
    vectorState: async (scope, id) =>
      vectorState(ports, indexer, parseScope(scope), parseId('mem', id)),
    entities: async (scope, { limit = ENTITIES, memories = OVERVIEW_MEMORIES_MAX } = {}) => {
      const rowsMax = parseLimit(memories, OVERVIEW_MEMORIES_MAX)
      const { rows, isComplete } = await loadNewest(ports, parseScope(scope), {}, rowsMax)
      return { ...collectEntities(rows, limit), isComplete }
    },
    times: async (scope, span = {}) => loadTimes(ports, parseScope(scope), span),
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
  ports: RecallDependencies,
  indexer: Indexer | null,
  scope: Scope,
  rowsMax: number,
): Promise<MemoryVectors> {
  const { rows, isComplete } = await loadNewest(ports, scope, {}, rowsMax)
  const without = (because: string): MemoryVectors => ({
    memories: rows.map((memory) => ({ memory, vector: null })),
    dimensions: null,
    isComplete,
    reason: because,
  })
  const { vectors } = ports
  if (indexer === null || vectors === undefined) return without(explainMissingVectors(ports))
  const opened = await withTimeout(OPEN_MS, () => indexer.open(scope))
  if (opened.kind === 'failed') return without(opened.reason)
  const { space } = opened.result
  const found = new Map<MemoryId, Float32Array>()
  for (let start = 0; start < rows.length; start += PAGE_ROWS_MAX) {
    const ids = rows.slice(start, start + PAGE_ROWS_MAX).map(({ id }) => id)
    for (const [id, vector] of await vectors.vectorsOf(space, scope, ids)) found.set(id, vector)
    await yieldToEventLoop()
  }
  return {
    memories: rows.map((memory) => ({ memory, vector: found.get(memory.id) ?? null })),
    dimensions: space.dimensions,
    isComplete,
    reason: null,
  }
}

async function vectorState(
  ports: RecallDependencies,
  indexer: Indexer | null,
  scope: Scope,
  id: MemoryId,
): Promise<VectorState> {
  const { store, vectors } = ports
  if ((await store.get('memory', scope, id)) === null) {
    throw new AppError('not_found', `There is no memory ${id} here.`, { id })
  }
  const none = (reason: string) => ({ hasVector: false, dimensions: null, reason })
  if (indexer === null || vectors === undefined) return none(explainMissingVectors(ports))
  const opened = await withTimeout(OPEN_MS, () => indexer.open(scope))
  if (opened.kind === 'failed') return none(opened.reason)
  const { space } = opened.result
  const found = await vectors.vectorsOf(space, scope, [id])
  if (found.has(id)) return { hasVector: true, dimensions: space.dimensions, reason: null }
  return none('It has none yet, and is found by its words.')
}

/** Names in capitals and without are one entity, spelled as it was last. */
export function collectEntities(
  newestFirst: readonly Memory[],
  entitiesMax: number,
): Omit<EntityOverview, 'isComplete'> {
  const known = new Map<string, { readonly name: string; memories: number }>()
  for (const { entities } of newestFirst) {
    for (const [key, name] of deduplicate(entities)) {
      const entity = known.get(key) ?? { name, memories: 0 }
      entity.memories++
      known.set(key, entity)
    }
  }
  const chosen = [...known]
    .sort(([, a], [, b]) => b.memories - a.memories || (a.name < b.name ? -1 : 1))
    .slice(0, entitiesMax)
  const placeOf = new Map(chosen.map(([key], place) => [key, place]))
  const memories = newestFirst.flatMap((memory) => {
    const entities = [...deduplicate(memory.entities).keys()].flatMap(
      (key) => placeOf.get(key) ?? [],
    )
    return entities.length === 0 ? [] : [{ memory, entities }]
  })
  return { entities: chosen.map(([, entity]) => entity), memories, total: known.size }
}

function deduplicate(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name.toLowerCase(), name]))
}

async function loadTimes(
  ports: RecallDependencies,
  scope: Scope,
  { from, before }: { readonly from?: number; readonly before?: number },
): Promise<Timeline> {
  const span = {
    ...(from === undefined ? {} : { createdFrom: from as Instant }), // checked by whoever asks
    ...(before === undefined ? {} : { createdBefore: before as Instant }),
  }
  // An episode is told by when the conversation was, which may be long before it was distilled.
  const [made, digests] = await Promise.all([
    loadNewest(ports, scope, span, TIMES_MAX),
    loadNewest(ports, scope, { categories: ['episode'], includeExpired: true }, TIMES_MAX),
  ])
  const isInSpan = (at: Instant) =>
    (from === undefined || at >= from) && (before === undefined || at < before)
  return {
    memories: made.rows
      .filter(({ category }) => category !== 'episode')
      .map(({ createdAt }) => createdAt),
    episodes: digests.rows.map(getEpisodeTime).filter(isInSpan),
    isComplete: made.isComplete && digests.isComplete,
  }
}
