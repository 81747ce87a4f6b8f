/**
 * Finds candidates that a new statement may restate or contradict: equal statements, shared words, the same attribute in
 * other words, and close vectors. `write-decision.ts` decides about them.
 */

import { buildSpaceSignature, renderEmbeddingText } from '../domain/embedding-text.ts'
import type { MemoryId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { NARRATIVE_KEY } from '../domain/memory.ts'
import { type Place, type Scope, toUserScope } from '../domain/scope.ts'
import { CircuitBreaker } from '../lib/circuit-breaker.ts'
import type { Clock } from '../lib/clock.ts'
import { MINUTE_MS } from '../lib/time.ts'
import type { Embedder } from '../models/embedder.ts'
import type { MemoryFilter } from '../storage/store.ts'
import type { VectorIndex, VectorSpace } from '../storage/vector-index.ts'
import { computeFingerprint } from '../text/fingerprint.ts'
import { getSearchHints } from './contradiction/attributes.ts'
import { listStateTerms } from './contradiction/state-changes.ts'
import { parseStatement } from './contradiction/statements.ts'
import type { Draft } from './draft.ts'
import type { MemoryDependencies } from './types.ts'

export type SimilarMemories = {
  /** Exact restatements first, then the others, nearest first. */
  readonly memories: readonly Memory[]
  /** Memories with close vectors. */
  readonly close: ReadonlySet<MemoryId>
}

type ComparableDraft = Pick<Draft, 'content' | 'provenance'>

const EXACT_MAX = 5

/** Vectors above this similarity make a candidate, nothing more. */
const SIMILARITY_MIN = 0.86
const CLOSE_MAX = 5

/** Longer texts make several statements and take long to embed. */
const CLOSE_CHARACTERS_MAX = 300

/** How long a write waits for vector search. */
const CLOSE_TIMEOUT_MS = 150

/** How long a model that failed or timed out is not called again. */
const PAUSE_MS = MINUTE_MS

export async function findSimilarMemories(
  deps: MemoryDependencies,
  place: Place,
  draft: ComparableDraft,
  limit: number,
): Promise<SimilarMemories> {
  const { store, clock } = deps
  const scope = toUserScope(place)
  const validAt = clock.now()
  const { rows: exact } = await store.find('memory', scope, {
    where: {
      fingerprint: computeFingerprint(draft.content),
      statuses: ['active', 'disabled'],
      validAt,
    },
    limit: EXACT_MAX,
  })
  if (limit === 0) return { memories: exact, close: new Set() }
  const where: MemoryFilter = { statuses: ['active'], validAt }
  const texts = [
    draft.content,
    ...getSearchHints(parseStatement(draft.content).attribute),
    ...listStateTerms(draft.content),
  ]
  const lexicalIds: MemoryId[] = []
  for (const text of texts) {
    const { hits } = await store.searchText(scope, { text, limit, where })
    lexicalIds.push(...hits.map((hit) => hit.id))
  }
  // Vectors add nothing to an exact restatement.
  const close = exact.length > 0 ? [] : await findByVector(deps, scope, draft, where)
  const ids = [...new Set([...lexicalIds, ...close])]
  const { rows } = await store.find('memory', scope, {
    where: { ...where, ids },
    limit: ids.length,
  })
  const byId = new Map(rows.map((row) => [row.id, row]))
  const others = ids.flatMap((id) => byId.get(id) ?? [])
  return { memories: [...exact, ...others], close: new Set(close) }
}

/** Whether a memory is a single statement, rather than the summary of a conversation or the identity narrative. */
export function isPlainStatement({ category, key }: Memory): boolean {
  return category !== 'episode' && key !== NARRATIVE_KEY
}

const breakers = new WeakMap<Embedder, CircuitBreaker>()

/** One failure or timeout opens the circuit; a late answer does not close it. */
function getBreaker(embedder: Embedder, clock: Clock): CircuitBreaker {
  const known = breakers.get(embedder)
  if (known !== undefined) return known
  const classify = () => 'failure' as const
  const breaker = new CircuitBreaker({ clock, failuresMax: 1, resetMs: PAUSE_MS, classify })
  breakers.set(embedder, breaker)
  return breaker
}

/** Empty where the search would be slow or useless: a cold or failing model, a long text, an index that lags. */
async function findByVector(
  deps: MemoryDependencies,
  scope: Scope,
  draft: ComparableDraft,
  where: MemoryFilter,
): Promise<readonly MemoryId[]> {
  const { embedder, vectors, clock } = deps
  if (embedder === undefined || vectors === undefined) return []
  if (draft.content.length > CLOSE_CHARACTERS_MAX) return []
  if (embedder.report().state.kind !== 'ready') return []
  const search = await getBreaker(embedder, clock).run(CLOSE_TIMEOUT_MS, async (signal) => {
    const model = await embedder.describe(signal)
    const signature = buildSpaceSignature(model, deps.vectorEncoding ?? 'float32')
    const space = { signature, dimensions: model.dimensions }
    if (!(await isUpToDate(deps, vectors, space, scope))) return []
    // Embedded as a document, so that the cache serves the indexer.
    const text = renderEmbeddingText(draft)
    const [vector] = await embedder.embed([text], { purpose: 'document', signal })
    if (vector === undefined) return []
    return vectors.search(space, scope, { vector, limit: CLOSE_MAX, where })
  })
  if (search.kind === 'failed') return []
  return search.result.filter(({ similarity }) => similarity >= SIMILARITY_MIN).map(({ id }) => id)
}

/** Whether the newest memory has its vector. During bulk writes it has none, and they must not wait. */
async function isUpToDate(
  { store }: MemoryDependencies,
  vectors: VectorIndex,
  space: VectorSpace,
  scope: Scope,
): Promise<boolean> {
  const { rows } = await store.find('memory', scope, {
    where: { statuses: ['active'] },
    order: 'newest',
    limit: 1,
  })
  const ids = rows.map(({ id }) => id)
  return ids.length > 0 && (await vectors.vectorsOf(space, scope, ids)).size > 0
}
