import type { MemoryId } from '../domain/ids.ts'
import type { Place, Scope } from '../domain/scope.ts'
import { compareText } from '../lib/compare.ts'
import { AppError } from '../lib/errors.ts'
import { isFiniteThroughout } from '../lib/vector-math.ts'
import type { DocumentFilter, NeighborRequest, SessionNeighbors } from './store.ts'

/** Vectors that can be compared: those of one model in one encoding. */
export type VectorSpace = {
  /** `source:model:dimensions`, with `:int8` for vectors in bytes; see `buildSpaceSignature`. */
  readonly signature: string
  readonly dimensions: number
}

export type VectorEntry = {
  readonly place: Place
  readonly id: MemoryId
  /** A unit vector. */
  readonly vector: Float32Array
  /** The hash of the embedded text, see `hashEmbeddingText`: tells whether the vector is stale. */
  readonly textHash: string
}

export type VectorQuery = {
  readonly vector: Float32Array
  readonly limit: number
  readonly where: DocumentFilter
  readonly besides?: NeighborRequest
  /**
   * A hint for searches that include turns: where turns fill the list, append the best memories until the result holds
   * so many. An index that can do so in one search saves a second one; others ignore the hint.
   */
  readonly memoriesMin?: number
}

export type VectorHit = {
  readonly id: MemoryId
  /** The inner product of the two unit vectors: -1 … 1, higher is closer. */
  readonly similarity: number
  /** See `TextHit.neighbors`. Only of an index that is stored with the memories. */
  readonly neighbors?: SessionNeighbors | null
}

export type SpaceReport = VectorSpace & {
  readonly vectors: number
}

/**
 * Nearest-neighbor search over documents, memories and turns. The index is derived from the store: it may lag, be
 * dropped and be rebuilt.
 *
 * Several spaces coexist, so that a new model can be backfilled while the old one answers. Every call takes a scope, and
 * filters apply before the limit: no owner pays for, sees or is crowded out by another, and a small set of matching
 * documents is found however many others are closer.
 *
 * The vector of a removed or reworded document is never found once that commit returns, even when another process made
 * it. A call with a vector of wrong dimensions or non-finite numbers fails as a whole (`invalid_input`). A zero vector is
 * stored but never matches.
 *
 * `search` yields to the event loop every few milliseconds where it scans vectors itself. Every implementation must pass
 * `test/conformance/vectors/vector-index.suite.ts`.
 */
export interface VectorIndex {
  /** Inserts or replaces vectors, all or none. Ignores entries whose document is not in the store. */
  put(space: VectorSpace, entries: readonly VectorEntry[]): Promise<void>
  remove(space: VectorSpace, scope: Scope, ids: readonly MemoryId[]): Promise<void>
  /** Closest first; ties by id, newest first. A larger limit only appends hits. */
  search(space: VectorSpace, scope: Scope, query: VectorQuery): Promise<readonly VectorHit[]>
  /** The vectors of documents in the scope. Omits those without one. */
  vectorsOf(
    space: VectorSpace,
    scope: Scope,
    ids: readonly MemoryId[],
  ): Promise<ReadonlyMap<MemoryId, Float32Array>>
  /**
   * The similarities of documents in the scope to a vector, as the inner product of `vectorsOf` gives them. Optional, for
   * an index that need not copy its vectors to compare them.
   */
  similaritiesOf?(
    space: VectorSpace,
    scope: Scope,
    ids: readonly MemoryId[],
    vector: Float32Array,
  ): Promise<ReadonlyMap<MemoryId, number>>
  /** Lists entries by id, oldest first, for comparison with the store. Pass the last id as `after` for the next page. */
  list(
    space: VectorSpace,
    scope: Scope,
    page: { readonly limit: number; readonly after?: MemoryId },
  ): Promise<readonly { readonly id: MemoryId; readonly textHash: string }[]>
  /** Counts the documents of the scope that have a vector. */
  count(space: VectorSpace, scope: Scope): Promise<number>
  /** All spaces that hold a vector, across owners. */
  spaces(): Promise<readonly SpaceReport[]>
  /** Removes all vectors of a space, across owners. */
  drop(space: VectorSpace): Promise<void>
  /** Facts for `status`, such as the memory that vectors take. */
  report(): Readonly<Record<string, string | number | boolean>>
  close(): Promise<void>
}

/** Far above the dimensions of any model. */
export const VECTOR_DIMENSIONS_MAX = 16384

/** Throws `invalid_input` for a vector that does not fit its space. */
export function assertVectorFits(dimensions: number, vector: Float32Array): void {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > VECTOR_DIMENSIONS_MAX) {
    throw new AppError(
      'invalid_input',
      `Vectors must have 1 to ${VECTOR_DIMENSIONS_MAX} dimensions; got ${dimensions}.`,
      { dimensions },
    )
  }
  if (vector.length !== dimensions) {
    throw new AppError(
      'invalid_input',
      `The vector must have ${dimensions} dimensions; got ${vector.length}.`,
      { dimensions: vector.length, expected: dimensions },
    )
  }
  if (!isFiniteThroughout(vector)) {
    throw new AppError('invalid_input', 'The vector must hold finite numbers only.', {
      dimensions,
    })
  }
}

/** Closest first; ties by id, newest first. */
export function compareBySimilarity(a: VectorHit, b: VectorHit): number {
  return b.similarity - a.similarity || compareText(b.id, a.id)
}

/** Why recall is lexical only: there is no model to embed with, or no index to store vectors in. */
export function explainMissingVectors({
  embedder,
  vectorsUnavailableReason,
}: {
  readonly embedder?: unknown
  readonly vectorsUnavailableReason?: string
}): string {
  if (embedder === undefined) return 'There is no embedding model.'
  return vectorsUnavailableReason ?? 'The store keeps no vectors.'
}
