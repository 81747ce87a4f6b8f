import type { Scope } from '../domain/scope.ts'
import type { Instant } from '../lib/time.ts'
import type { VectorHit, VectorSpace } from './vector-index.ts'
import type { ReplicaHealth, VectorReplica } from './vector-replica.ts'

/** What a vector store beside the memories can be found in. The names are shown to people and are label values. */
export const REPLICA_STATES = {
  off: 'Vectors are kept with the memories alone.',
  checking: 'It is tried whether something can be written there and found again.',
  backfilling: 'It is being filled; the index of the memories answers meanwhile.',
  active: 'It answers.',
  lagging: 'It lacks something; the index of the memories answers until it has caught up.',
  down: 'It fails; the index of the memories answers, and it is tried again by itself.',
  recovering: 'It is back and is being brought up to date; the index of the memories answers.',
  misconfigured: 'It can’t be used as it is configured; the index of the memories answers.',
} as const

export type ReplicaState = keyof typeof REPLICA_STATES

/** What became of a search by meaning, and if the mirror did not answer it, why. The names are label values. */
export const REPLICA_SEARCH_OUTCOMES = {
  answered: 'The mirror answered.',
  inactive: 'It is not active.',
  stale: 'It lacks something of this owner.',
  unsupported_filter: 'The filter is one that the mirror can’t apply well.',
  too_few_hits: 'Too few of what it found passed the filter.',
  failed: 'It failed or was too slow.',
} as const

export type ReplicaSearchOutcome = keyof typeof REPLICA_SEARCH_OUTCOMES

export type VectorReplicaStatus = {
  /** The mirror that is configured; null for none. */
  readonly backend: VectorReplica['name'] | null
  /** What answers searches by meaning at the moment. */
  readonly servedBy: VectorReplica['name'] | 'primary'
  readonly state: ReplicaState
  readonly since: Instant
  /** Why it is in this state, where there is something to say. Never a key. */
  readonly reason: string | null
  readonly nextRetryAt: Instant | null
  /** How many vectors have been compared, of how many; null while nothing is. */
  readonly progress: { readonly done: number; readonly total: number } | null
  /** Of how many memories it may lack the present vector; null when that is not known one by one. */
  readonly pendingMemories: number | null
}

export type ReplicationListener = {
  readonly onState?: (status: VectorReplicaStatus) => void
  readonly onSearch?: (
    servedBy: VectorReplicaStatus['servedBy'],
    outcome: ReplicaSearchOutcome,
  ) => void
}

/** What compares badly between the store and its mirror. */
export type ReplicaDifferences = {
  readonly missing: number
  readonly stale: number
  readonly orphaned: number
}

/**
 * VectorTiers: the index that is kept with the memories and, where one is configured, a mirror of it in another engine.
 * For whoever shows or steers it; searching goes through `VectorIndex` and need not know.
 */
export interface VectorReplication {
  status(): VectorReplicaStatus
  /** The same, once the settings have been read: right after the start nothing is known yet. */
  current(): Promise<VectorReplicaStatus>
  /** Hears of every change of state and every search, until the function it gets back is called. Must not fail. */
  subscribe(listener: ReplicationListener): () => void
  /** Reads the configuration again, tries a mirror that was refused or is down at once, and waits until that has ended. */
  reconfigure(): Promise<VectorReplicaStatus>
  /** Null where there is no mirror. */
  health(): Promise<ReplicaHealth | null>
  /** Asks the mirror alone, whatever state it is in, to see what it holds. */
  searchReplica(
    space: VectorSpace,
    scope: Scope,
    query: { readonly vector: Float32Array; readonly limit: number },
  ): Promise<readonly VectorHit[]>
  /** Removes from the mirror what has expired, and what should not be there, and says how much that was. */
  cleanUp(options: { readonly dryRun: boolean }): Promise<number>
}
