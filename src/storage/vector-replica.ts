import type { MemoryId, OwnerId } from '../domain/ids.ts'
import type { Place } from '../domain/scope.ts'
import type { DocumentType } from '../domain/search-document.ts'
import type { Instant } from '../lib/time.ts'
import type { VectorSpace } from './vector-index.ts'

/** A vector as another engine keeps it: with what it needs to pick the permitted ones inside its search. */
export type ReplicaPoint = {
  readonly place: Place
  readonly id: MemoryId
  readonly type: DocumentType
  readonly expiresAt: Instant | null
  /** Of the text that was embedded: whoever reads the memory can tell whether this vector is still its own. */
  readonly textHash: string
  /** Of length one, or zero. */
  readonly vector: Float32Array
}

/** Undefined means any; null means those that have none. All that is given applies inside the search. */
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
  /** The inner product of the two unit vectors, as exactly as the engine gives it: -1 … 1. */
  readonly similarity: number
  readonly textHash: string
}

export type ReplicaHealth = {
  readonly isReady: boolean
  readonly latencyMs: number
  /** What a person should know: a version, or why it isn't ready. Never a key. */
  readonly detail: string
}

/**
 * VectorMirror: a copy of vectors in an engine that is made for them, beside the index that is kept with the memories.
 *
 * It only ever holds what can be made again, and need not know what has changed since: `adapters/tiers` compares what
 * it finds with the store, keeps it up to date, and answers from the index of the store while this one lags, fails or is
 * being filled. A call that fails throws `unavailable` (it may be tried again: out of reach, too slow, too many requests)
 * or `invalid_input` (it will never work: a wrong dimension, a wrong key), and leaves the points it names as they were
 * or as they should be.
 *
 * Every implementation must pass `test/conformance/vectors/vector-replica.suite.ts`.
 */
export interface VectorReplica {
  /** As in the setting `vectorStore`. */
  readonly name: 'qdrant' | 'lancedb'
  /** Makes what the space needs when it is missing; refuses what is there with other dimensions. May be asked again. */
  prepare(space: VectorSpace): Promise<void>
  /** Replaces points with the same id. They can be found when this has come back. */
  upsert(space: VectorSpace, points: readonly ReplicaPoint[]): Promise<void>
  /** Ids that aren't there are passed over. */
  remove(space: VectorSpace, owner: OwnerId, ids: readonly MemoryId[]): Promise<void>
  /** Closest first; equal ones by id, newest first. Zero vectors are never among them. */
  search(
    space: VectorSpace,
    filter: ReplicaFilter,
    query: { readonly vector: Float32Array; readonly limit: number },
  ): Promise<readonly ReplicaHit[]>
  /** Every point of an owner, or of all, by id, oldest first: for comparison. Give the last id as `after` to go on. */
  list(
    space: VectorSpace,
    page: { readonly owner?: OwnerId; readonly limit: number; readonly after?: MemoryId },
  ): Promise<
    readonly { readonly id: MemoryId; readonly owner: OwnerId; readonly textHash: string }[]
  >
  count(space: VectorSpace, owner?: OwnerId): Promise<number>
  /** Removes what expired before this instant, and says how many there were. */
  removeExpired(space: VectorSpace, before: Instant): Promise<number>
  /** Removes the space. A space that isn't there is none. */
  drop(space: VectorSpace): Promise<void>
  /** Never throws. */
  health(): Promise<ReplicaHealth>
  close(): Promise<void>
}
