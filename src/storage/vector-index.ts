import type { MemoryId } from '../domain/ids.ts'
import type { Place, Scope } from '../domain/scope.ts'
import { compareText } from '../lib/compare.ts'
import { AppError } from '../lib/errors.ts'
import { isFiniteThroughout } from '../lib/vector-math.ts'
import type { DocumentFilter, NeighborRequest, SessionNeighbors } from './store.ts'

/** Vectors that can be compared with each other: those of one model in one form. */
export type VectorSpace = {
  /** `source:model:dimensions`, with `:int8` when the vectors are kept in bytes; see `core/embedding.ts`. */
  readonly signature: string
  readonly dimensions: number
}

export type VectorEntry = {
  readonly place: Place
  readonly id: MemoryId
  /** Of length one. */
  readonly vector: Float32Array
  /** Of the text that was embedded, see `core/embedding.ts`: tells whether the vector is still that of the memory. */
  readonly textHash: string
}

export type VectorQuery = {
  readonly vector: Float32Array
  readonly limit: number
  readonly where: DocumentFilter
  readonly besides?: NeighborRequest
  /**
   * A wish where turns are searched as well: when turns fill the list, the best so many memories follow behind its last
   * hit, as far as they are not in it. An index that finds them in the same search saves a second one; others pass over it.
   */
  readonly memoriesMin?: number
}

export type VectorHit = {
  readonly id: MemoryId
  /** The inner product of the two unit vectors: -1 … 1, higher is closer. */
  readonly similarity: number
  /** As with a hit by words, where the index stands beside the memories. */
  readonly neighbors?: SessionNeighbors | null
}

export type SpaceReport = VectorSpace & {
  readonly vectors: number
}

/**
 * VectorIndex: nearest documents by meaning, memories and turns alike. Derived from the store, so it may lag, be thrown away and be built again.
 *
 * Several spaces live side by side, so that a new model can be filled while the old one still answers. The scope is a
 * parameter of every call, and every filter applies before the limit: an owner never pays for, sees or is crowded out
 * by another one, and a small set of permitted memories is found however many others are closer.
 *
 * A vector whose memory was removed or whose text has changed is never found, from the commit on that did it, and even
 * when that commit was made elsewhere. Vectors of a wrong dimension or with numbers that are not finite are
 * refused (`invalid_input`), and the whole call with them. A zero vector is stored, is never a hit, and finds nothing.
 *
 * `nearest` gives way to other work every few milliseconds where the scan is its own. Every implementation must pass
 * `test/conformance/vectors/vector-index.suite.ts`.
 */
export interface VectorIndex {
  /** Replaces the vectors that are there. Entries whose document is not in the store are passed over. All or none. */
  put(space: VectorSpace, entries: readonly VectorEntry[]): Promise<void>
  remove(space: VectorSpace, scope: Scope, ids: readonly MemoryId[]): Promise<void>
  /** Closest first; equal ones by id, newest first. The first of them never depend on the limit. */
  search(space: VectorSpace, scope: Scope, query: VectorQuery): Promise<readonly VectorHit[]>
  /** The vectors of these memories, as far as there are any in the scope: what reranking compares. */
  vectorsOf(
    space: VectorSpace,
    scope: Scope,
    ids: readonly MemoryId[],
  ): Promise<ReadonlyMap<MemoryId, Float32Array>>
  /** What is there, by id, oldest first, for comparison with the store. Give the last id as `after` to go on. */
  list(
    space: VectorSpace,
    scope: Scope,
    page: { readonly limit: number; readonly after?: MemoryId },
  ): Promise<readonly { readonly id: MemoryId; readonly textHash: string }[]>
  /** How many documents of the scope, memories and turns, have a vector. */
  count(space: VectorSpace, scope: Scope): Promise<number>
  /** Every space that holds a vector, across owners. */
  spaces(): Promise<readonly SpaceReport[]>
  /** Removes all vectors of a space, across owners. */
  drop(space: VectorSpace): Promise<void>
  /** Small facts for `status`: how vectors are kept, how much memory blocks take. */
  report(): Readonly<Record<string, string | number | boolean>>
  close(): Promise<void>
}

/** Far above what any model gives. */
export const VECTOR_DIMENSIONS_MAX = 16384

/** Refuses a vector that can't be compared with those of its space. */
export function assertVectorFits(dimensions: number, vector: Float32Array): void {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > VECTOR_DIMENSIONS_MAX) {
    throw new AppError(
      'invalid_input',
      `Vectors have 1 to ${VECTOR_DIMENSIONS_MAX} dimensions, not ${dimensions}.`,
      { dimensions },
    )
  }
  if (vector.length !== dimensions) {
    throw new AppError(
      'invalid_input',
      `The vector has ${vector.length} dimensions where ${dimensions} are expected.`,
      { dimensions: vector.length, expected: dimensions },
    )
  }
  if (!isFiniteThroughout(vector)) {
    throw new AppError('invalid_input', 'The vector holds a number that is not finite.', {
      dimensions,
    })
  }
}

/** Closest first; equal ones by id, newest first. */
export function compareBySimilarity(a: VectorHit, b: VectorHit): number {
  return b.similarity - a.similarity || compareText(b.id, a.id)
}
