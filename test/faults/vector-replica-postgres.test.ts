/**
 * Memories in PostgreSQL with Qdrant or LanceDB beside them. Whatever the mirror does, searches find what they would find
 * without it, its state is told, and when it is well again it holds everything once, without a restart; `doctor` says so.
 */
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/system-clock.ts'
import type { Memory } from '../../src/domain/memory.ts'
import { openLanceVectorReplica } from '../../src/storage/lancedb/lancedb-vector-replica.ts'
import { VECTOR_NAME } from '../../src/storage/qdrant/collection-schema.ts'
import type { VectorReplica } from '../../src/storage/vector-replica.ts'
import { FaultyMirror } from '../fakes/vector-replica.ts'
import { lancePart } from '../support/lancedb.ts'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import type { QdrantStandIn } from '../support/qdrant/fake-server.ts'
import { KEY, openOnStandIn } from '../support/qdrant/qdrant-replicas.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { MANY, SPACE, TieredStore } from './vector-replica-support.ts'

const server = await startPglite({ pgvector: true })
afterAll(() => server.stop())
const lance = await lancePart()

/** Longer than an answer takes on a busy machine. */
const DEADLINES = { searchTimeoutMs: 2_000, backgroundTimeoutMs: 10_000 }
const SLOW_MS = 600
const NEVER = 1_000_000

async function open(mirror: VectorReplica, deadlines = DEADLINES): Promise<TieredStore> {
  const store = await openFreshStore(server.url, { poolSize: 1 })
  onTestFinished(() => store.close())
  if (store.vectors === null) throw new Error('There is no pgvector.')
  const embedded = { store, vectors: store.vectors }
  const opened = new TieredStore({ timeouts: deadlines }, embedded, new FaultyMirror(mirror))
  await opened.remember(MANY, 1)
  await opened.tiers.settle()
  expect(opened.tiers.status()).toMatchObject({ state: 'active' })
  await opened.expectWhole()
  return opened
}

async function forget({ tiered }: TieredStore, rows: readonly Memory[]): Promise<void> {
  const expect_ = 'any' as const
  const outcome = await tiered.store.commit(
    rows.map(({ id, place }) => ({
      ...{ op: 'remove', table: 'memory', scope: place, id, expect: expect_ },
    })),
  )
  expect(outcome).toEqual({ kind: 'committed' })
}

/** Writes, removes and searches while something is wrong. */
async function goOn(opened: TieredStore): Promise<void> {
  await opened.expectSame()
  const rows = await opened.remember(60, 2)
  await forget(opened, rows.slice(0, 20))
  await opened.tiers.settle()
  await opened.remember(20, 3)
  await opened.tiers.settle()
  await opened.expectSame()
}

async function untilActive(opened: TieredStore): Promise<void> {
  for (let tries = 0; opened.tiers.status().state !== 'active' && tries < 10; tries++) {
    await opened.tryAgain()
  }
  expect(opened.tiers.status()).toMatchObject({ state: 'active', reason: null })
}

type QdrantFault = readonly [name: string, begin: (qdrant: QdrantStandIn) => Promise<void> | void]

const FAULTS: readonly QdrantFault[] = [
  ['answers 500', (it) => it.misbehave({ kind: 'answer', status: 500 }, undefined, NEVER)],
  [
    'answers 429',
    (it) => {
      const headers = { 'retry-after': '1' }
      it.misbehave({ kind: 'answer', status: 429, headers }, undefined, NEVER)
    },
  ],
  ['is cut off after its work', (it) => it.misbehave({ kind: 'cut', after: true }, /./, NEVER)],
  ['takes a part of what it gets', (it) => it.misbehave({ kind: 'cut' }, /PUT .*points/, NEVER, 1)],
  ['only takes note of writes', (it) => it.misbehave({ kind: 'unfinished' }, /PUT/, 3)],
  ['loses its collections', (it) => it.loseCollections()],
]

describe('PostgreSQL with Qdrant', () => {
  it.each(FAULTS)('[VT18] Qdrant %s', async (_, begin) => {
    const { qdrant, mirror } = await openOnStandIn()
    const opened = await open(mirror)
    const before = opened.states.length
    await begin(qdrant)
    await goOn(opened)
    // Never silently: whatever it was, it has been told.
    expect(opened.states.length).toBeGreaterThan(before)
    qdrant.heal()
    await untilActive(opened)
    await opened.expectWhole()
  })

  it('[VT18] Qdrant is too slow', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    const opened = await open(mirror, {
      searchTimeoutMs: SLOW_MS / 2,
      backgroundTimeoutMs: SLOW_MS / 2,
    })
    qdrant.misbehave({ kind: 'slow', ms: SLOW_MS }, undefined, NEVER)
    await goOn(opened)
    expect(opened.states).toContain('down')
    qdrant.heal()
    await untilActive(opened)
    await opened.expectWhole()
  })

  it('[VT18] its collection is replaced by one with other dimensions', async () => {
    const { qdrant, mirror } = await openOnStandIn()
    const opened = await open(mirror)
    const name = qdrant.collectionNames().find((each) => !each.includes('probe'))
    const headers = { 'api-key': KEY, 'content-type': 'application/json' }
    const collection = `${qdrant.url}/collections/${name}`
    const vectors = { [VECTOR_NAME]: { size: SPACE.dimensions + 1, distance: 'Cosine' } }
    await fetch(collection, { method: 'DELETE', headers })
    const body = JSON.stringify({ vectors })
    expect((await fetch(collection, { method: 'PUT', headers, body })).status).toBe(200)
    await goOn(opened)
    expect(opened.tiers.status()).toMatchObject({
      servedBy: 'primary',
      reason: expect.any(String),
    })
    await fetch(collection, { method: 'DELETE', headers })
    await opened.tiers.reconfigure()
    await untilActive(opened)
    await opened.expectWhole()
  })
})

if (lance.kind === 'none') {
  describe.skip(`PostgreSQL with LanceDB: ${lance.reason}`, () => it('was not run', () => {}))
} else {
  describe('PostgreSQL with LanceDB', () => {
    const openLance = async () => {
      const folder = temporaryFolder()
      const mirror = await openLanceVectorReplica({ folder, clock: systemClock, load: lance.load })
      onTestFinished(() => mirror.close())
      return { folder, opened: await open(mirror) }
    }

    it('[VT18] answers instead of it, and follows writes and removals', async () => {
      const { opened } = await openLance()
      await goOn(opened)
      expect(opened.outcomes).toContain('answered')
      await opened.expectWhole()
    })

    it('[VT18] its folder is removed', async () => {
      const { folder, opened } = await openLance()
      rmSync(folder, { recursive: true, force: true })
      await goOn(opened)
      await untilActive(opened)
      await opened.expectWhole()
    })
  })
}
