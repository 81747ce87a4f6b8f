import type { Scope } from '../domain/scope.ts'
import type { Instant } from '../lib/time.ts'
import type { VectorHit, VectorSpace } from './vector-index.ts'
import type { ReplicaHealth, VectorReplica } from './vector-replica.ts'

/** The states of a vector replica. The names are label values of metrics; the texts are shown to people. */
export const REPLICA_STATES = {
  off: 'No vector replica is configured; the primary index answers.',
  checking: 'Recollect checks that the replica can be written and searched.',
  backfilling: 'The replica is being filled; the primary index answers.',
  active: 'The replica answers.',
  lagging: 'The replica is behind; the primary index answers until it has caught up.',
  down: 'The replica fails; the primary index answers, and Recollect retries.',
  recovering: 'The replica is reachable again and catches up; the primary index answers.',
  misconfigured: 'The replica cannot be used as configured; the primary index answers.',
} as const

export type ReplicaState = keyof typeof REPLICA_STATES

/** Whether the replica answered a vector search, and why not. The names are label values of metrics. */
export const REPLICA_SEARCH_OUTCOMES = {
  answered: 'The replica answered.',
  inactive: 'The replica is not active.',
  stale: 'The replica is behind for this owner.',
  unsupported_filter: 'The replica cannot apply the filter.',
  too_few_hits: 'Too few hits of the replica passed the filter.',
  failed: 'The replica failed or timed out.',
} as const

export type ReplicaSearchOutcome = keyof typeof REPLICA_SEARCH_OUTCOMES

export type VectorReplicaStatus = {
  /** The configured replica; null for none. */
  readonly backend: VectorReplica['name'] | null
  /** What answers vector searches now. */
  readonly servedBy: VectorReplica['name'] | 'primary'
  readonly state: ReplicaState
  readonly since: Instant
  /** Why the replica is in this state, where that is known. Never a key. */
  readonly reason: string | null
  readonly nextRetryAt: Instant | null
  /** Vectors compared so far; null while nothing is compared. */
  readonly progress: { readonly done: number; readonly total: number } | null
  /** Memories whose current vector the replica may lack; null when they are not tracked one by one. */
  readonly pendingMemories: number | null
}

export type ReplicationListener = {
  readonly onState?: (status: VectorReplicaStatus) => void
  readonly onSearch?: (
    servedBy: VectorReplicaStatus['servedBy'],
    outcome: ReplicaSearchOutcome,
  ) => void
}

/** Differences between the store and its replica. */
export type ReplicaDifferences = {
  readonly missing: number
  readonly stale: number
  readonly orphaned: number
}

/**
 * State and controls of the vector replica. Searches go through `VectorIndex`, which picks the replica or the primary
 * index.
 */
export interface VectorReplication {
  status(): VectorReplicaStatus
  /** The status once the settings have been read: right after the start nothing is known yet. */
  current(): Promise<VectorReplicaStatus>
  /** Reports every state change and search. Returns the function that unsubscribes. The listener must not throw. */
  subscribe(listener: ReplicationListener): () => void
  /** Reads the configuration again, retries a misconfigured or failed replica at once, and waits for the result. */
  reconfigure(): Promise<VectorReplicaStatus>
  /** Null without a replica. */
  health(): Promise<ReplicaHealth | null>
  /** Searches the replica alone, in any state, for diagnostics. */
  searchReplica(
    space: VectorSpace,
    scope: Scope,
    query: { readonly vector: Float32Array; readonly limit: number },
  ): Promise<readonly VectorHit[]>
  /** Removes expired and orphaned points from the replica, and counts them. */
  cleanUp(options: { readonly dryRun: boolean }): Promise<number>
}
