/** The index of the memories with a mirror beside it keeps the same contract, whichever of the two answers. */
import { afterAll, describe, expect, it } from 'vitest'
import { openSqliteFile } from '../../../src/storage/sqlite/connection/database-file.ts'
import type { Store } from '../../../src/storage/store.ts'
import type { VectorIndex } from '../../../src/storage/vector-index.ts'
import {
  type ReplicatedStore,
  withVectorReplica,
} from '../../../src/storage/vector-replica/failover-vector-index.ts'
import type { ReplicaSearchOutcome } from '../../../src/storage/vector-replication.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { configured, FaultyMirror, HeldTimers } from '../../fakes/vector-replica.ts'
import { openFreshStore, startServer, withPgvector } from '../../support/postgres-servers.ts'
import { describeVectorIndex, type OpenedVectors } from './vector-index.suite.ts'

const outcomes = new Map<ReplicaSearchOutcome, number>()

/** Every search waits until the mirror has what was written, so that it is the mirror that is put to the test. */
function askedWhenSettled(
  { store, vectors, replication: tiers }: ReplicatedStore,
  close: () => Promise<void>,
) {
  tiers.subscribe({
    onSearch: (_, outcome) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1),
  })
  const opened: OpenedVectors = {
    store,
    vectors: {
      ...vectors,
      search: async (...asked) => {
        await tiers.settle()
        return vectors.search(...asked)
      },
    },
    close: async () => {
      await vectors.close()
      await close()
    },
  }
  return opened
}

function tiered(store: Store, vectors: VectorIndex) {
  const clock = new FakeClock()
  const { mirror } = new FaultyMirror()
  return withVectorReplica({
    ...{ store, vectors, clock },
    schedule: new HeldTimers(clock).after,
    configuration: async () => configured(mirror),
  })
}

describeVectorIndex('SQLite vectors with a mirror', async () => {
  const store = await openSqliteFile({ path: ':memory:', now: () => 0, key: null })
  return askedWhenSettled(tiered(store, store.vectors), () => store.close())
})

const server = await startServer()
if (server.kind === 'server') afterAll(() => server.stop())
const place = await withPgvector(server)
if ('url' in place) {
  describeVectorIndex('PostgreSQL vectors with a mirror', async () => {
    const store = await openFreshStore(place.url, { poolSize: 4 })
    if (store.vectors === null) throw new Error('There is no pgvector.')
    return askedWhenSettled(tiered(store, store.vectors), () => store.close())
  })
} else {
  describe.skip(`PostgreSQL vectors with a mirror: ${place.reason}`, () =>
    it('was not run', () => {}))
}

describe('searches of the suite', () => {
  afterAll(() => outcomes.clear())

  it('[VT1] were answered by the mirror, but for those that it can’t answer well', () => {
    expect(outcomes.get('answered') ?? 0).toBeGreaterThan(100)
    expect(outcomes.get('unsupported_filter') ?? 0).toBeGreaterThan(0)
    expect([outcomes.get('failed'), outcomes.get('stale')]).toEqual([undefined, undefined])
  })
})
