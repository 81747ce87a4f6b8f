/** The part of the contract of `VectorMirror` that is about writing and about what is there. Rule ids refer to spec/. */
import { expect, it } from 'vitest'
import type { MemoryId, OwnerId } from '../../../src/domain/ids.ts'
import { compareText } from '../../../src/lib/compare.ts'
import type { VectorSpace } from '../../../src/storage/vector-index.ts'
import type { ReplicaFilter, VectorReplica } from '../../../src/storage/vector-replica.ts'
import { ADA, BOB, instant, memoryId, owner, session, user } from '../../fakes/memories.ts'
import { byLikeness, unitVector } from '../../fakes/vectors.ts'
import {
  ADA_ALL,
  closest,
  idsOf,
  type Open,
  plainId,
  point,
  refused,
  SPACE,
  vectorsOf,
} from './vector-replica.suite.ts'

const EVERYTHING = 10_000

export function describeWriting(open: Open): void {
  it('[VM4] replaces a point as a whole, and finds it at once', async () => {
    const mirror = await open()
    const [before, after] = [unitVector(24, 20), unitVector(24, 21)]
    await mirror.upsert(SPACE, [
      point(1, { vector: before, expiresAt: instant(5), textHash: 'old' }),
    ])
    const place = { ...ADA, user: user('eve'), session: session('today') }
    await mirror.upsert(SPACE, [
      point(1, { vector: after, type: 'semantic', place, textHash: 'new' }),
    ])
    const filter: ReplicaFilter = { ...ADA_ALL, user: 'eve', session: 'today', types: ['semantic'] }
    const hits = await mirror.search(
      SPACE,
      { ...filter, unexpiredAt: instant(9) },
      { vector: after, limit: 5 },
    )
    expect(hits).toEqual([{ id: memoryId(1), similarity: expect.closeTo(1, 4), textHash: 'new' }])
    expect(await closest(mirror, SPACE, after, 5, { ...ADA_ALL, user: null })).toEqual([])
    await mirror.upsert(SPACE, [point(1, { vector: new Float32Array(24) })])
    expect(await closest(mirror, SPACE, after, 5)).toEqual([])
    expect(await mirror.count(SPACE)).toBe(1)
  })

  it('[VM4] accepts an empty list, a point twice, and many at once', async () => {
    const mirror = await open()
    await mirror.upsert(SPACE, [])
    await mirror.upsert(SPACE, [point(1, { textHash: 'first' }), point(1, { textHash: 'last' })])
    expect(await mirror.list(SPACE, { limit: 5 })).toEqual([
      { id: memoryId(1), owner: ADA.owner, textHash: 'last' },
    ])
    await mirror.upsert(
      SPACE,
      Array.from({ length: 1_500 }, (_, n) => point(n)),
    )
    expect(await mirror.count(SPACE, ADA.owner)).toBe(1_500)
  })

  it('[VM4] refuses a call with an unfit vector as a whole', async () => {
    const mirror = await open()
    await mirror.upsert(SPACE, [point(1, { textHash: 'kept' })])
    const unfit = [unitVector(23, 1), unitVector(24, 1).fill(Number.POSITIVE_INFINITY, 3, 4)]
    for (const vector of unfit) {
      await refused(mirror.upsert(SPACE, [point(1), point(2), point(3, { vector })]))
    }
    expect(await mirror.list(SPACE, { limit: 5 })).toEqual([
      { id: memoryId(1), owner: ADA.owner, textHash: 'kept' },
    ])
  })

  it('[VM4] keeps no reference to the given vectors', async () => {
    const mirror = await open()
    const vector = unitVector(24, 22)
    const original = vector.slice()
    await mirror.upsert(SPACE, [point(1, { vector })])
    vector.fill(0)
    expect(await closest(mirror, SPACE, original, 5)).toEqual([memoryId(1)])
  })

  it('[VM4] takes writes and questions at the same time', async () => {
    const mirror = await open()
    const batches = Array.from({ length: 6 }, (_, at) =>
      Array.from({ length: 40 }, (_, n) => point(at * 40 + n)),
    )
    const [query, other] = [unitVector(24, 23), unitVector(24, 24)]
    await Promise.all([
      ...batches.map((batch) => mirror.upsert(SPACE, batch)),
      closest(mirror, SPACE, query, 5),
      closest(mirror, SPACE, other, 5),
    ])
    expect(await mirror.count(SPACE)).toBe(240)
    const all = byLikeness(vectorsOf(batches.flat()), query)
    expect(await closest(mirror, SPACE, query, 10)).toEqual(idsOf(all).slice(0, 10))
  })

  it('[VM5] removes the named points of an owner, and ignores missing ones and those of other owners', async () => {
    const mirror = await open()
    const count = 1_200
    await mirror.upsert(
      SPACE,
      Array.from({ length: count }, (_, n) => point(n)),
    )
    await mirror.upsert(SPACE, [point(5_000, { place: BOB })])
    await mirror.remove(SPACE, ADA.owner, [])
    await mirror.remove(SPACE, ADA.owner, [7, 7, 5_000, 9_999].map(memoryId))
    expect(await mirror.count(SPACE, ADA.owner)).toBe(count - 1)
    expect(await mirror.count(SPACE, BOB.owner)).toBe(1)
    await mirror.remove(
      SPACE,
      BOB.owner,
      Array.from({ length: count }, (_, n) => memoryId(n)),
    )
    expect(await mirror.count(SPACE)).toBe(count)
    await mirror.remove(
      SPACE,
      ADA.owner,
      Array.from({ length: count }, (_, n) => memoryId(n)),
    )
    expect(await closest(mirror, SPACE, unitVector(24, 25), 5)).toEqual([])
    expect(idsOf(await mirror.list(SPACE, { limit: 5 }))).toEqual([memoryId(5_000)])
  })
}

export function describeContents(open: Open): void {
  it('[VM6] lists by id, oldest first, page by page, of an owner or of all', async () => {
    const mirror = await open()
    const names = ['1', '10', '100', '2', 'A', 'B_', 'Z', '_', '__', 'a', 'a0', 'b', 'z'.repeat(60)]
    // Ids that begin alike, as those of one moment do.
    const alike = Array.from(
      { length: 50 },
      (_, n) => `01k3x9q7ab${String((n * 37) % 50).padStart(4, '0')}`,
    )
    const ids = [...alike, ...names].map(plainId)
    const inputs = ids.map((id, n) => point(n, { id, place: n % 3 === 0 ? BOB : ADA }))
    await mirror.upsert(SPACE, inputs)
    const owners: readonly (OwnerId | undefined)[] = [
      undefined,
      ADA.owner,
      BOB.owner,
      owner('nobody'),
    ]
    for (const whose of owners) {
      const expected = inputs
        .filter(({ place }) => whose === undefined || place.owner === whose)
        .map(({ id, place, textHash }) => ({ id, owner: place.owner, textHash }))
        .sort((a, b) => compareText(a.id, b.id))
      for (const limit of [1, 7, EVERYTHING]) {
        expect(await listAll(mirror, SPACE, limit, whose)).toEqual(expected)
      }
      expect(await mirror.count(SPACE, whose)).toBe(expected.length)
    }
  })

  it('[VM6] continues after an unknown id, and lists nothing with a limit of 0', async () => {
    const mirror = await open()
    await mirror.upsert(SPACE, [point(1), point(3), point(5)])
    const page = (after: MemoryId) => mirror.list(SPACE, { limit: 5, after })
    expect(idsOf(await page(memoryId(2)))).toEqual([3, 5].map(memoryId))
    expect(idsOf(await page(memoryId(5)))).toEqual([])
    expect(await mirror.list(SPACE, { limit: 0 })).toEqual([])
  })
}

export function describeExpiry(open: Open): void {
  it('[VM7] removes what expired before an instant, of every owner, and says how many there were', async () => {
    const mirror = await open()
    await mirror.upsert(SPACE, [
      point(1),
      point(2, { expiresAt: instant(1_999) }),
      point(3, { expiresAt: instant(2_000) }),
      point(4, { expiresAt: instant(500), place: BOB }),
      point(5, { expiresAt: instant(4_102_444_800_123) }),
    ])
    expect(await mirror.removeExpired(SPACE, instant(500))).toBe(0)
    expect(await mirror.removeExpired(SPACE, instant(2_000))).toBe(2)
    expect(idsOf(await mirror.list(SPACE, { limit: 9 }))).toEqual([1, 3, 5].map(memoryId))
    expect(await mirror.removeExpired(SPACE, instant(2_000))).toBe(0)
    expect(await mirror.removeExpired(SPACE, instant(4_102_444_800_124))).toBe(2)
    expect(idsOf(await mirror.list(SPACE, { limit: 9 }))).toEqual([memoryId(1)])
  })
}

export function describeHealth(open: Open): void {
  it('[VM8] says that it is ready, how long that took, and something for people', async () => {
    const mirror = await open()
    const health = await mirror.health()
    expect(health.isReady).toBe(true)
    expect(health.latencyMs).toBeGreaterThanOrEqual(0)
    expect(health.detail).not.toBe('')
  })

  it('[VM8] is unavailable once it is closed, and reports that', async () => {
    const mirror = await open()
    await mirror.upsert(SPACE, [point(1)])
    await mirror.close()
    await mirror.close()
    expect((await mirror.health()).isReady).toBe(false)
    const calls = [
      mirror.prepare(SPACE),
      mirror.upsert(SPACE, [point(2)]),
      mirror.remove(SPACE, ADA.owner, [memoryId(1)]),
      closest(mirror, SPACE, unitVector(24, 1), 5),
      mirror.list(SPACE, { limit: 5 }),
      mirror.count(SPACE),
      mirror.removeExpired(SPACE, instant(1)),
      mirror.drop(SPACE),
    ]
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    }
  })
}

async function listAll(mirror: VectorReplica, kept: VectorSpace, limit: number, whose?: OwnerId) {
  const rows: Awaited<ReturnType<VectorReplica['list']>>[number][] = []
  for (;;) {
    const after = rows.at(-1)?.id
    const page = await mirror.list(kept, {
      limit,
      ...(whose === undefined ? {} : { owner: whose }),
      ...(after === undefined ? {} : { after }),
    })
    expect(page.length).toBeLessThanOrEqual(limit)
    if (page.length === 0) return rows
    rows.push(...page)
  }
}
