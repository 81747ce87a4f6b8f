import type { MemoryId, OwnerId } from '../domain/ids.ts'
import type { Place } from '../domain/scope.ts'
import type { DocumentType } from '../domain/search-document.ts'
import type { Instant } from '../lib/time.ts'
import type { VectorSpace } from './vector-index.ts'

/** A vector in a replica, with the fields that searches filter by. */
export type ReplicaPoint = {
  readonly place: Place
  readonly id: MemoryId
  readonly type: DocumentType
  readonly expiresAt: Instant | null
  /** The hash of the embedded text: tells whether the vector is stale. */
  readonly textHash: string
  /** A unit vector, or zero. */
  readonly vector: Float32Array
}

/** Undefined matches anything; null matches points without the field. Filters apply inside the search. */
export type ReplicaFilter = {
  readonly owner: OwnerId
  readonly user?: string | null
  readonly session?: string | null
  readonly types?: readonly DocumentType[]
  /** Not yet expired at this instant. */
  readonly unexpiredAt?: Instant
}

export type ReplicaHit = {
  readonly id: MemoryId
  /** The inner product of the two unit vectors, as exact as the engine computes it: -1 … 1. */
  readonly similarity: number
  readonly textHash: string
}

export type ReplicaHealth = {
  readonly isReady: boolean
  readonly latencyMs: number
  /** For a person: the version, or why the replica is not ready. Never a key. */
  readonly detail: string
}

/**
 * A copy of the vectors in a vector database, beside the primary index that is stored with the memories. Memories in the
 * trash have no point.
 *
 * A replica holds only data that can be rebuilt, and tracks no changes itself: `storage/vector-replica` compares it with
 * the store, keeps it up to date, and answers from the primary index while the replica lags, fails or is backfilled. A
 * failed call throws `unavailable` (retry: unreachable, too slow, rate limited) or `invalid_input` (permanent: wrong
 * dimensions, wrong key), and leaves each point it names either as it was or as it should be.
 *
 * Every implementation must pass `test/conformance/vectors/vector-replica.suite.ts`.
 */
export interface VectorReplica {
  /** The value of the setting `vectorStore.backend`. */
  readonly name: 'qdrant' | 'lancedb'
  /** Creates what the space needs unless it exists. Throws for an existing space of other dimensions. Idempotent. */
  prepare(space: VectorSpace): Promise<void>
  /** Inserts or replaces points. Searches find them once this resolves. */
  upsert(space: VectorSpace, points: readonly ReplicaPoint[]): Promise<void>
  /** Ignores unknown ids. */
  remove(space: VectorSpace, owner: OwnerId, ids: readonly MemoryId[]): Promise<void>
  /** Closest first; ties by id, newest first. Never returns zero vectors. */
  search(
    space: VectorSpace,
    filter: ReplicaFilter,
    query: { readonly vector: Float32Array; readonly limit: number },
  ): Promise<readonly ReplicaHit[]>
  /** Lists points of one or all owners by id, oldest first. Pass the last id as `after` for the next page. */
  list(
    space: VectorSpace,
    page: { readonly owner?: OwnerId; readonly limit: number; readonly after?: MemoryId },
  ): Promise<
    readonly { readonly id: MemoryId; readonly owner: OwnerId; readonly textHash: string }[]
  >
  count(space: VectorSpace, owner?: OwnerId): Promise<number>
  /** Removes points that expired before an instant, and counts them. */
  removeExpired(space: VectorSpace, before: Instant): Promise<number>
  /** Removes the space, if it exists. */
  drop(space: VectorSpace): Promise<void>
  /** Never throws. */
  health(): Promise<ReplicaHealth>
  close(): Promise<void>
}
