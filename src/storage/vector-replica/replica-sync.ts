/**
 * Synchronization of one replica: incremental updates and full comparison. When they run is decided
 * in `replica-controller.ts`.
 */

import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import type { Store } from '../store.ts'
import type { SpaceReport, VectorIndex, VectorSpace } from '../vector-index.ts'
import type { VectorReplica } from '../vector-replica.ts'
import type { ReplicaDifferences } from '../vector-replication.ts'
import { compareSpace } from './anti-entropy.ts'
import { ReplicaLag } from './lag.ts'
import { type ReplicaWriterDependencies, syncMemories } from './replica-writer.ts'

export type ReplicaSyncDependencies = {
  readonly store: Store
  readonly vectors: VectorIndex
  readonly replica: VectorReplica
  readonly clock: Clock
  /** The most changed memories tracked one by one. */
  readonly lagMax: number
  /** Whether long work should stop for something more urgent. */
  readonly isStopped: () => boolean
}

export type ReplicaCheckResult = 'same' | 'differs' | 'emptied'

const BATCH = 256

export class ReplicaSync {
  readonly lag: ReplicaLag
  readonly #parts: ReplicaSyncDependencies
  /** Spaces that the replica holds, as far as known. */
  readonly #spaces = new Map<string, VectorSpace>()
  /** How many fewer vectors the replica had than the index when they were last equal. */
  readonly #lacks = new Map<string, number>()
  /** How many memories were in the trash at that time. */
  #trashed = 0
  /** The difference at the last check. */
  readonly #doubts = new Map<string, number>()
  #isComplete = false
  #comparedAt: Instant | null = null
  #cleanedBefore: Instant | null = null
  #progress: { readonly done: number; readonly total: number } | null = null

  constructor(parts: ReplicaSyncDependencies) {
    this.#parts = parts
    this.lag = new ReplicaLag(parts.lagMax)
  }

  get progress(): { readonly done: number; readonly total: number } | null {
    return this.#progress
  }

  get lastComparedAt(): Instant | null {
    return this.#comparedAt
  }

  /** Memories that expired before this may be missing in the replica. */
  get expiredRemovedBefore(): Instant | null {
    return this.#cleanedBefore
  }

  recordChange(space: VectorSpace, owner: OwnerId, ids: readonly MemoryId[]): void {
    this.#spaces.set(space.signature, space)
    this.lag.add(owner, ids)
  }

  recordDrop(space: VectorSpace): void {
    this.lag.addDrop(space)
  }

  /** Makes the next synchronization compare everything. */
  requireComparison(): void {
    this.#isComplete = false
  }

  /**
   * Creates the known spaces that are missing: without them, some replicas fail even on a lookup.
   */
  async prepareSpaces(): Promise<void> {
    for (const space of await this.#learnSpaces()) await this.#parts.replica.prepare(space)
  }

  /**
   * Synchronizes the replica: incrementally where the tracked changes suffice, else by comparison.
   */
  async catchUp(): Promise<void> {
    do {
      await this.#dropDropped()
      if (!this.#isComplete || this.lag.isUnbounded) await this.compareAll()
      await this.replicatePending()
    } while (this.lag.isUnbounded)
  }

  /** Writes the tracked changes to the replica. */
  async replicatePending(): Promise<void> {
    await this.#dropDropped()
    for (;;) {
      const batch = this.lag.takeBatch(BATCH)
      if (batch === null) return
      try {
        for (const space of this.#spaces.values()) {
          await syncMemories(this.#copyParts(), space, batch.owner, batch.ids)
        }
        this.lag.completeBatch()
      } catch (error) {
        this.lag.returnBatch()
        throw error
      }
    }
  }

  async compareAll(): Promise<void> {
    this.lag.resetForComparison()
    this.#isComplete = false
    await this.compare({ isRepairing: true })
    this.#isComplete = true
    this.#comparedAt = this.#parts.clock.now()
  }

  async compare({ isRepairing }: { readonly isRepairing: boolean }): Promise<ReplicaDifferences> {
    const found = { missing: 0, stale: 0, orphaned: 0 }
    const spaces = await this.#learnSpaces()
    const total = spaces.reduce((sum, { vectors }) => sum + vectors, 0)
    let done = 0
    const onProgress = (more: number) => {
      done += more
      this.#progress = { done: Math.min(done, total), total }
      if (this.#parts.isStopped()) throw new AppError('cancelled', 'The comparison was stopped.')
    }
    try {
      onProgress(0)
      for (const space of spaces) {
        if (isRepairing) await this.#parts.replica.prepare(space)
        const differences = await compareSpace(this.#copyParts(), space, {
          isRepairing,
          onProgress,
        })
        found.missing += differences.missing
        found.stale += differences.stale
        found.orphaned += differences.orphaned
      }
      if (isRepairing) await this.#rememberLacks(spaces)
      return found
    } finally {
      this.#progress = null
    }
  }

  /**
   * A cheap check for lost data, or for somebody else writing to the replica. Unless strict, a
   * difference must occur twice in a row: writes may be in flight.
   */
  async sampleCheck({ isStrict }: { readonly isStrict: boolean }): Promise<ReplicaCheckResult> {
    const behind = this.lag.count ?? Number.POSITIVE_INFINITY
    let result: ReplicaCheckResult = 'same'
    let trashed: number | null = null
    for (const space of await this.#learnSpaces()) {
      const { signature, vectors } = space
      const held = await this.#parts.replica.count(space)
      let lack = vectors - held
      const expected = this.#lacks.get(signature) ?? 0
      if (lack !== expected) {
        // Counted only now, because it takes a query for each owner.
        trashed ??= await this.#countTrash()
        lack -= trashed - this.#trashed
      }
      const isSame = lack === expected
      if (!isSame && held === 0 && vectors > behind) return 'emptied'
      if (isSame || behind > 0) this.#doubts.delete(signature)
      else if (isStrict || this.#doubts.get(signature) === lack) result = 'differs'
      else this.#doubts.set(signature, lack)
    }
    return result
  }

  /** Removes expired memories. */
  async removeExpired(before: Instant): Promise<number> {
    this.#cleanedBefore = before
    let removed = 0
    const spaces = await this.#learnSpaces()
    for (const space of spaces) removed += await this.#parts.replica.removeExpired(space, before)
    await this.#rememberLacks(spaces)
    return removed
  }

  #copyParts(): ReplicaWriterDependencies {
    const { store, vectors, replica } = this.#parts
    return { store, vectors, replica, expiredRemovedBefore: this.#cleanedBefore }
  }

  /** Current and former spaces: the replica may still hold data of the latter. */
  async #learnSpaces(): Promise<readonly SpaceReport[]> {
    const reports = await this.#parts.vectors.spaces()
    for (const { signature, dimensions } of reports) {
      this.#spaces.set(signature, { signature, dimensions })
    }
    const filled = new Set(reports.map(({ signature }) => signature))
    const emptied = [...this.#spaces.values()].filter(({ signature }) => !filled.has(signature))
    return [...reports, ...emptied.map((space) => ({ ...space, vectors: 0 }))]
  }

  async #rememberLacks(spaces: readonly SpaceReport[]): Promise<void> {
    this.#doubts.clear()
    this.#lacks.clear()
    this.#trashed = await this.#countTrash()
    // Without a cleanup or a trash, nothing may be missing.
    if (this.#cleanedBefore === null && this.#trashed === 0) return
    for (const space of spaces) {
      const held = await this.#parts.replica.count(space)
      this.#lacks.set(space.signature, space.vectors - held)
    }
  }

  async #countTrash(): Promise<number> {
    const places = await this.#parts.store.listPlaces()
    let count = 0
    for (const owner of new Set(places.map((place) => place.owner))) {
      const scope = { owner: owner as OwnerId } // as returned by the store
      count += (await this.#parts.store.countMemories(scope, { statuses: ['forgotten'] })).total
    }
    return count
  }

  async #dropDropped(): Promise<void> {
    for (const space of this.lag.listDrops()) {
      await this.#parts.replica.drop(space)
      this.lag.removeDrop(space)
      const isBack = (await this.#parts.vectors.spaces()).some(
        ({ signature }) => signature === space.signature,
      )
      if (!isBack) this.#spaces.delete(space.signature)
    }
  }
}
