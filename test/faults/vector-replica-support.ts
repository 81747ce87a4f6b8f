/** A store with a mirror beside its vectors, both in memory, and a clock and timers that the test moves. */
import { expect, onTestFinished } from 'vitest'
import type { MemoryId } from '../../src/domain/ids.ts'
import type { Memory } from '../../src/domain/memory.ts'
import type { Scope } from '../../src/domain/scope.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import { createInMemoryVectorReplica } from '../../src/storage/in-memory/in-memory-vector-replica.ts'
import type { RemoteChange, Store, SubscribeRemoteChanges } from '../../src/storage/store.ts'
import type { VectorHit, VectorIndex } from '../../src/storage/vector-index.ts'
import {
  type FailoverVectorIndexOptions,
  type ReplicatedStore,
  withVectorReplica,
} from '../../src/storage/vector-replica/failover-vector-index.ts'
import type { ReplicaConfiguration } from '../../src/storage/vector-replica/replica-controller.ts'
import type { ReplicaSearchOutcome, ReplicaState } from '../../src/storage/vector-replication.ts'
import { commitAll, pairs } from '../conformance/vectors/vector-index.suite.ts'
import { FakeClock } from '../fakes/clock.ts'
import { ADA, memory } from '../fakes/memories.ts'
import { configured, FaultyMirror, HeldTimers } from '../fakes/vector-replica.ts'
import { space, unitVector, unitVectors } from '../fakes/vectors.ts'

export const SPACE = space(8)

export const ALL: Scope = { owner: ADA.owner }

/** So many that a mirror that lacks some would be noticed by what it finds. */
export const MANY = 300

export type Beside = { readonly store: Store; readonly vectors: VectorIndex }

export class TieredStore {
  readonly faulty: FaultyMirror
  readonly clock = new FakeClock()
  readonly timers = new HeldTimers(this.clock)
  readonly embedded: Beside
  readonly tiered: ReplicatedStore
  /** What the settings name. */
  wanted: ReplicaConfiguration
  readonly states: ReplicaState[] = []
  readonly outcomes: ReplicaSearchOutcome[] = []

  constructor(
    options: Partial<FailoverVectorIndexOptions> = {},
    embedded?: Beside,
    faulty: FaultyMirror = new FaultyMirror(),
  ) {
    this.faulty = faulty
    this.wanted = configured(faulty.mirror)
    const store = embedded?.store ?? createInMemoryStore()
    this.embedded = embedded ?? { store, vectors: createInMemoryVectorIndex(store) }
    this.tiered = withVectorReplica({
      ...this.embedded,
      clock: this.clock,
      schedule: this.timers.after,
      timeouts: { searchTimeoutMs: 40, backgroundTimeoutMs: 40 },
      configuration: async () => this.wanted,
      ...options,
    })
    this.tiered.replication.subscribe({
      onState: ({ state }) => this.states.push(state),
      onSearch: (_, outcome) => this.outcomes.push(outcome),
    })
    onTestFinished(() => this.tiered.vectors.close())
  }

  get tiers(): ReplicatedStore['replication'] {
    return this.tiered.replication
  }

  /** New memories with vectors, written through the tiers. */
  async remember(count: number, seed: number, fields: Partial<Memory> = {}) {
    const rows = Array.from({ length: count }, () => memory(fields))
    await commitAll(this.tiered.store, rows)
    await this.tiered.vectors.put(SPACE, pairs(rows, unitVectors(count, SPACE.dimensions, seed)))
    return rows
  }

  /** What both tiers find must be the same, and the mirror must hold what the index does, and no more. */
  async expectSame(scope: Scope = ALL): Promise<void> {
    for (const seed of [901, 902, 903]) {
      const query = { vector: unitVector(SPACE.dimensions, seed), limit: 20, where: {} }
      const expected = await this.embedded.vectors.search(SPACE, scope, query)
      expect(ids(await this.tiered.vectors.search(SPACE, scope, query))).toEqual(ids(expected))
    }
  }

  async expectWhole(): Promise<void> {
    await this.expectSame()
    expect(await this.faulty.inner.count(SPACE)).toBe(await this.embedded.vectors.count(SPACE, ALL))
    expect(await this.tiered.store.checkIntegrity({ repair: false })).toEqual([])
  }

  async search(where = {}): Promise<readonly VectorHit[]> {
    const query = { vector: unitVector(SPACE.dimensions, 900), limit: 20, where }
    return this.tiered.vectors.search(SPACE, ALL, query)
  }

  /** Lets a mirror that is down be tried again. */
  async tryAgain(): Promise<void> {
    const { nextRetryAt: nextTryAt } = this.tiers.status()
    this.clock.advance(Math.max(0, (nextTryAt ?? 0) - this.clock.now()))
    await this.tiers.settle()
  }
}

export type Two = {
  readonly here: TieredStore
  readonly there: TieredStore
  /** As after a line that was lost. */
  readonly tellThereOfAnything: () => void
}

/** Two processes with the same memories and one mirror, each with a line of its own to it, who hear each other. */
export async function openTwo(): Promise<Two> {
  const stored = createInMemoryStore()
  const vectors = createInMemoryVectorIndex(stored)
  const mirror = createInMemoryVectorReplica()
  const lines: Parameters<SubscribeRemoteChanges>[0][] = []
  const tell = (whom: number, news: RemoteChange) => lines[whom]?.(news)
  const open = (self: number) => {
    const store: Store = {
      ...stored,
      onRemoteChange: (listener) => {
        lines[self] = listener
        return () => {}
      },
      notifyRemote: (changed) => tell(1 - self, { owners: [], kinds: [], memories: [changed] }),
    }
    return new TieredStore({}, { store, vectors }, new FaultyMirror(mirror))
  }
  const [here, there] = [open(0), open(1)]
  await here.remember(MANY, 1)
  for (const { tiers } of [here, there]) await tiers.settle()
  const anything: RemoteChange = { owners: 'any', kinds: 'any', memories: 'any' }
  return { here, there, tellThereOfAnything: () => tell(1, anything) }
}

export async function openTiered(
  options: Partial<FailoverVectorIndexOptions> = {},
): Promise<TieredStore> {
  const opened = new TieredStore(options)
  await opened.remember(MANY, 1)
  await opened.tiers.settle()
  expect(opened.tiers.status()).toMatchObject({ state: 'active', servedBy: 'qdrant' })
  return opened
}

export function ids(hits: readonly { readonly id: MemoryId }[]): readonly MemoryId[] {
  return hits.map(({ id }) => id)
}
