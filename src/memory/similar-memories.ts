/**
 * Finds what a new statement may be about, as candidates only: what is equal, what shares words, what sets the same
 * attribute in other words, and what is close in meaning. What the statement is to them, rules decide (`core/writing`).
 */

import { buildSpaceSignature, renderEmbeddingText } from '../domain/embedding-text.ts'
import { NARRATIVE_KEY } from '../domain/identity.ts'
import type { MemoryId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import type { Place, Scope } from '../domain/scope.ts'
import { CircuitBreaker } from '../lib/circuit-breaker.ts'
import type { Clock } from '../lib/clock.ts'
import { MINUTE_MS } from '../lib/time.ts'
import type { Embedder } from '../models/embedder.ts'
import type { MemoryFilter } from '../storage/store.ts'
import type { VectorIndex, VectorSpace } from '../storage/vector-index.ts'
import { computeFingerprint } from '../text/fingerprint.ts'
import { getSearchHints } from './contradiction/attributes.ts'
import { parseStatement } from './contradiction/statements.ts'
import type { Draft } from './draft.ts'
import type { MemoryDependencies } from './types.ts'

export type SimilarMemories = {
  /** Exact restatements first, then the others, nearest first. */
  readonly memories: readonly Memory[]
  /** Those that are close in meaning. */
  readonly close: ReadonlySet<MemoryId>
}

type ComparableDraft = Pick<Draft, 'content' | 'provenance'>

const EXACT_MAX = 5

/** Closer than this in meaning is worth a comparison. Alone it decides nothing. */
const SIMILARITY_MIN = 0.9
const CLOSE_MAX = 5

/** Long texts say many things, and take long to embed. */
const CLOSE_CHARACTERS_MAX = 300

/** A write waits no longer than this for neighbours in meaning. */
const CLOSE_MS = 150

/** A model that failed or was late is not asked again for this long: others would wait for it in vain. */
const PAUSE_MS = MINUTE_MS

export async function findSimilarMemories(
  ports: MemoryDependencies,
  place: Place,
  draft: ComparableDraft,
  limit: number,
): Promise<SimilarMemories> {
  const { store, clock } = ports
  const home: Scope = { owner: place.owner, user: place.user }
  const unendedAt = clock.now()
  const { rows: exact } = await store.find('memory', home, {
    where: {
      fingerprint: computeFingerprint(draft.content),
      statuses: ['active', 'disabled'],
      validAt: unendedAt,
    },
    limit: EXACT_MAX,
  })
  if (limit === 0) return { memories: exact, close: new Set() }
  const where: MemoryFilter = { statuses: ['active'], validAt: unendedAt }
  const texts = [draft.content, ...getSearchHints(parseStatement(draft.content).attribute)]
  const byWords: MemoryId[] = []
  for (const text of texts) {
    const { hits } = await store.searchText(home, { text, limit, where })
    byWords.push(...hits.map((hit) => hit.id))
  }
  // What is there word for word has said all that closeness could.
  const close = exact.length > 0 ? [] : await findByVector(ports, home, draft, where)
  const ids = [...new Set([...byWords, ...close])]
  const { rows } = await store.find('memory', home, { where: { ...where, ids }, limit: ids.length })
  const byId = new Map(rows.map((row) => [row.id, row]))
  const others = ids.flatMap((id) => byId.get(id) ?? [])
  return { memories: [...exact, ...others], close: new Set(close) }
}

/** What stands for a whole conversation, or for all that is known of a person, is no statement among others. */
export function isPlainStatement({ category, key }: Memory): boolean {
  return category !== 'episode' && key !== NARRATIVE_KEY
}

const breakers = new WeakMap<Embedder, CircuitBreaker>()

/** One failure or timeout opens it; late answers say nothing about the next call. */
function getBreaker(embedder: Embedder, clock: Clock): CircuitBreaker {
  const known = breakers.get(embedder)
  if (known !== undefined) return known
  const classify = () => 'failure' as const
  const breaker = new CircuitBreaker({ clock, failuresMax: 1, resetMs: PAUSE_MS, classify })
  breakers.set(embedder, breaker)
  return breaker
}

/** None where that would take long: a cold or failing model, a long text, or vectors that are still behind. */
async function findByVector(
  ports: MemoryDependencies,
  home: Scope,
  draft: ComparableDraft,
  where: MemoryFilter,
): Promise<readonly MemoryId[]> {
  const { embedder, vectors, clock } = ports
  if (embedder === undefined || vectors === undefined) return []
  if (draft.content.length > CLOSE_CHARACTERS_MAX) return []
  if (embedder.report().state.kind !== 'ready') return []
  const found = await getBreaker(embedder, clock).run(CLOSE_MS, async (signal) => {
    const model = await embedder.describe(signal)
    const signature = buildSpaceSignature(model, ports.vectorEncoding ?? 'float32')
    const space = { signature, dimensions: model.dimensions }
    if (!(await isUpToDate(ports, vectors, space, home))) return []
    // As a document: that is what its vector will be made as, so that a cache makes it once.
    const text = renderEmbeddingText(draft)
    const [vector] = await embedder.embed([text], { purpose: 'document', signal })
    if (vector === undefined) return []
    return vectors.search(space, home, { vector, limit: CLOSE_MAX, where })
  })
  if (found.kind === 'failed') return []
  return found.result.filter(({ similarity }) => similarity >= SIMILARITY_MIN).map(({ id }) => id)
}

/** Whether the last memory has its vector. While many are written at once it hasn't, and they must not wait. */
async function isUpToDate(
  { store }: MemoryDependencies,
  vectors: VectorIndex,
  space: VectorSpace,
  home: Scope,
): Promise<boolean> {
  const { rows } = await store.find('memory', home, {
    where: { statuses: ['active'] },
    order: 'newest',
    limit: 1,
  })
  const ids = rows.map(({ id }) => id)
  return ids.length > 0 && (await vectors.vectorsOf(space, home, ids)).size > 0
}
