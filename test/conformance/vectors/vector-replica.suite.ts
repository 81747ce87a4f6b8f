/** The contract of `VectorMirror`, run over every implementation. Rule ids refer to spec/. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MemoryId } from '../../../src/domain/ids.ts'
import type { Place } from '../../../src/domain/scope.ts'
import { compareText } from '../../../src/lib/compare.ts'
import type { VectorSpace } from '../../../src/storage/vector-index.ts'
import type {
  ReplicaFilter,
  ReplicaPoint,
  VectorReplica,
} from '../../../src/storage/vector-replica.ts'
import { ADA, BOB, instant, memoryId, owner, session, user } from '../../fakes/memories.ts'
import { atSimilarity, byLikeness, space, unitVector, unitVectors } from '../../fakes/vectors.ts'
import {
  describeContents,
  describeExpiry,
  describeHealth,
  describeWriting,
} from './vector-replica-contents.suite.ts'

export type OpenedMirror = { readonly mirror: VectorReplica; close(): Promise<void> }

/** A mirror that holds nothing yet. */
export type OpenMirror = () => Promise<OpenedMirror>

export type Open = () => Promise<VectorReplica>

export const SPACE = space(24)

/** Sums of single precision may differ in their last digits. */
const ROUNDING = 1e-5

export function describeVectorMirror(name: string, open: OpenMirror): void {
  const opened = async () => {
    const { mirror, close } = await open()
    onTestFinished(close)
    return mirror
  }
  describe(`${name}: spaces`, () => describeSpaces(opened))
  describe(`${name}: nearest`, () => describeNearest(opened))
  describe(`${name}: filters`, () => describeFilters(opened))
  describe(`${name}: writing`, () => describeWriting(opened))
  describe(`${name}: contents`, () => describeContents(opened))
  describe(`${name}: expiry`, () => describeExpiry(opened))
  describe(`${name}: health`, () => describeHealth(opened))
}

function describeSpaces(open: Open): void {
  it('[VM1] finds and removes nothing in a space that does not exist', async () => {
    const mirror = await open()
    expect(await closest(mirror, SPACE, unitVector(24, 1), 5)).toEqual([])
    expect(await mirror.list(SPACE, { limit: 5 })).toEqual([])
    expect(await mirror.count(SPACE)).toBe(0)
    expect(await mirror.count(SPACE, ADA.owner)).toBe(0)
    expect(await mirror.removeExpired(SPACE, instant(5_000))).toBe(0)
    await mirror.remove(SPACE, ADA.owner, [memoryId(1)])
    await mirror.drop(SPACE)
  })

  it('[VM1] creates a space on request, repeatedly and concurrently, and on the first write', async () => {
    const mirror = await open()
    await Promise.all([mirror.prepare(SPACE), mirror.prepare(SPACE), mirror.prepare(SPACE)])
    await mirror.upsert(SPACE, [point(1)])
    await mirror.prepare(SPACE)
    expect(await mirror.count(SPACE)).toBe(1)
    const unprepared = space(8, 'another:model')
    await Promise.all([2, 3, 4].map((n) => mirror.upsert(unprepared, [point(n, {}, 8)])))
    expect(await mirror.count(unprepared)).toBe(3)
  })

  it('[VM1] refuses other dimensions than those of the space, and keeps its content', async () => {
    const mirror = await open()
    await mirror.upsert(SPACE, [point(1)])
    const other = { ...SPACE, dimensions: 12 }
    await refused(mirror.prepare(other))
    await refused(mirror.upsert(other, [point(2, {}, 12)]))
    expect(await mirror.count(SPACE)).toBe(1)
    await mirror.drop(SPACE)
    await mirror.upsert(other, [point(2, {}, 12)])
    expect(await closest(mirror, other, unitVector(12, 1), 5)).toEqual([memoryId(2)])
  })

  it('[VM1] separates spaces, and drops one of them, whether or not it exists', async () => {
    const mirror = await open()
    const names = [
      'a:model:24',
      'a:model:24:int8',
      'a/model:24',
      'A:MODEL:24',
      `a:${'x'.repeat(300)}:24`,
    ]
    const spaces = names.map((signature) => ({ signature, dimensions: 24 }))
    for (const [n, kept] of spaces.entries()) await mirror.upsert(kept, [point(n)])
    for (const [n, kept] of spaces.entries()) {
      expect(await closest(mirror, kept, unitVector(24, 1), 5)).toEqual([memoryId(n)])
    }
    const [first = SPACE, ...others] = spaces
    await mirror.drop(first)
    await mirror.drop(first)
    expect(await mirror.count(first)).toBe(0)
    for (const kept of others) expect(await mirror.count(kept)).toBe(1)
    await mirror.upsert(first, [point(7)])
    expect(await mirror.list(first, { limit: 5 })).toHaveLength(1)
  })
}

function describeNearest(open: Open): void {
  it('[VM2] finds exactly the nearest of some hundreds, with their inner products', async () => {
    const mirror = await open()
    const vectors = unitVectors(700, 24, 1).map((vector, n) => point(n, { vector }))
    await mirror.upsert(SPACE, vectors)
    for (const query of unitVectors(8, 24, 2)) {
      const hits = await mirror.search(SPACE, ADA_ALL, { vector: query, limit: 40 })
      const best = byLikeness(vectorsOf(vectors), query).slice(0, 40)
      expect(idsOf(hits)).toEqual(idsOf(best))
      for (const [n, hit] of hits.entries()) {
        expect(Math.abs(hit.similarity - (best[n]?.similarity ?? Number.NaN))).toBeLessThan(
          ROUNDING,
        )
        expect(hit.textHash).toBe(vectors.find(({ id }) => id === hit.id)?.textHash)
      }
    }
  })

  it('[VM2] gives similarities down to the opposite', async () => {
    const mirror = await open()
    const query = unitVector(24, 3)
    const similarities = [1, 0.9, 0.5, 0.1, 0, -0.1, -0.6, -1]
    await mirror.upsert(
      SPACE,
      similarities.map((similarity, n) =>
        point(n, { vector: atSimilarity(query, similarity, 100 + n) }),
      ),
    )
    const hits = await mirror.search(SPACE, ADA_ALL, { vector: query, limit: 20 })
    expect(idsOf(hits)).toEqual(similarities.map((_, n) => memoryId(n)))
    for (const [n, { similarity }] of hits.entries()) {
      expect(similarity).toBeCloseTo(similarities[n] ?? Number.NaN, 4)
    }
  })

  it('[VM2] orders equal scores by id, newest first, regardless of limit and insertion order', async () => {
    const mirror = await open()
    const [same, query] = [unitVector(24, 4), unitVector(24, 5)]
    const ids = ['1', '10', '2', 'A', 'B_', 'Z', '_', 'a', 'a0', 'b'].map(plainId)
    const more = Array.from({ length: 60 }, (_, n) => plainId(`m${String(n).padStart(3, '0')}`))
    const shuffled = [...ids, ...more].sort((a, b) => compareText(reversed(a), reversed(b)))
    await mirror.upsert(
      SPACE,
      shuffled.map((id) => point(0, { id, vector: same })),
    )
    const newestFirst = [...shuffled].sort((a, b) => compareText(b, a))
    for (const limit of [1, 3, 25, 69, 70, 100]) {
      expect(await closest(mirror, SPACE, query, limit)).toEqual(newestFirst.slice(0, limit))
    }
  })

  it('[VM2] never finds a zero vector, and nothing by one', async () => {
    const mirror = await open()
    const zero = new Float32Array(24)
    await mirror.upsert(SPACE, [point(1), point(2, { vector: zero }), point(3)])
    expect((await closest(mirror, SPACE, unitVector(24, 6), 9)).sort()).toEqual(
      [1, 3].map(memoryId),
    )
    expect(await closest(mirror, SPACE, zero, 9)).toEqual([])
    expect(await mirror.count(SPACE)).toBe(3)
    expect(idsOf(await mirror.list(SPACE, { limit: 9 }))).toEqual([1, 2, 3].map(memoryId))
  })

  it('[VM2] answers nothing to a limit of nothing, and refuses a question of other dimensions', async () => {
    const mirror = await open()
    await mirror.upsert(SPACE, [point(1)])
    expect(await closest(mirror, SPACE, unitVector(24, 7), 0)).toEqual([])
    expect(await closest(mirror, SPACE, unitVector(24, 7), -1)).toEqual([])
    await refused(closest(mirror, SPACE, unitVector(23, 7), 5))
    await refused(closest(mirror, SPACE, unitVector(24, 7).fill(Number.NaN, 0, 1), 5))
  })
}

function describeFilters(open: Open): void {
  const eve = { ...ADA, user: user('eve') }
  const today = { ...ADA, session: session('today') }
  const eveToday = { ...eve, session: session('today') }
  const places: readonly Place[] = [ADA, today, eve, eveToday, BOB]

  it('[VM3] shows an owner, a user and a session their own points and no others', async () => {
    const mirror = await open()
    await mirror.upsert(
      SPACE,
      places.map((place, n) => point(n, { place })),
    )
    const filters: readonly (readonly [ReplicaFilter, readonly Place[]])[] = [
      [ADA_ALL, [ADA, today, eve, eveToday]],
      [{ ...ADA_ALL, user: null }, [ADA, today]],
      [{ ...ADA_ALL, user: 'eve' }, [eve, eveToday]],
      [{ ...ADA_ALL, session: null }, [ADA, eve]],
      [{ ...ADA_ALL, session: 'today' }, [today, eveToday]],
      [{ ...ADA_ALL, user: null, session: null }, [ADA]],
      [{ ...ADA_ALL, user: 'eve', session: 'today' }, [eveToday]],
      [{ ...ADA_ALL, user: 'null' }, []],
      [{ ...ADA_ALL, session: 'never' }, []],
      [{ owner: BOB.owner }, [BOB]],
      [{ owner: BOB.owner, user: 'eve' }, []],
      [{ owner: owner('nobody') }, []],
    ]
    for (const [filter, expected] of filters) {
      const found = await closest(mirror, SPACE, unitVector(24, 10), 9, filter)
      const wanted = expected.map((place) => memoryId(places.indexOf(place))).sort()
      expect(found.sort(), JSON.stringify(filter)).toEqual(wanted)
    }
  })

  it('[VM3] narrows by type and by expiry, and by all of it together', async () => {
    const mirror = await open()
    await mirror.upsert(SPACE, [
      point(1),
      point(2, { type: 'episodic' }),
      point(3, { type: 'procedural', expiresAt: instant(2_000) }),
      point(4, { expiresAt: instant(2_000) }),
      point(5, { expiresAt: instant(2_001), place: eve }),
    ])
    const filters: readonly (readonly [Partial<ReplicaFilter>, readonly number[]])[] = [
      [{ types: ['factual'] }, [1, 4, 5]],
      [{ types: ['episodic', 'procedural', 'episodic'] }, [2, 3]],
      [{ types: ['semantic'] }, []],
      [{ types: [] }, []],
      [{ unexpiredAt: instant(1_999) }, [1, 2, 3, 4, 5]],
      [{ unexpiredAt: instant(2_000) }, [1, 2, 5]],
      [{ unexpiredAt: instant(4_102_444_800_123) }, [1, 2]],
      [{ unexpiredAt: instant(2_000), types: ['factual'], user: 'eve', session: null }, [5]],
      [{ unexpiredAt: instant(2_000), types: ['factual'], user: null }, [1]],
    ]
    for (const [filter, expected] of filters) {
      const found = await closest(mirror, SPACE, unitVector(24, 11), 9, { ...ADA_ALL, ...filter })
      expect(found.sort(), JSON.stringify(filter)).toEqual(expected.map(memoryId))
    }
  })

  it('[VM3] finds the few permitted ones however many others are closer', async () => {
    const mirror = await open()
    const query = unitVector(24, 12)
    const others: readonly Partial<ReplicaPoint>[] = [
      { place: BOB },
      { place: ADA },
      { place: eveToday, type: 'semantic' },
      { place: eveToday, expiresAt: instant(1) },
    ]
    const near = Array.from({ length: 800 }, (_, n) =>
      point(n, { ...others[n % others.length], vector: atSimilarity(query, 0.95, 1_000 + n) }),
    )
    const far = [0.3, 0.2, 0.1].map((similarity, n) =>
      point(900 + n, { place: eveToday, vector: atSimilarity(query, similarity, n) }),
    )
    await mirror.upsert(SPACE, [...near, ...far])
    const filter: ReplicaFilter = {
      ...ADA_ALL,
      user: 'eve',
      session: 'today',
      types: ['factual'],
      unexpiredAt: instant(1_000),
    }
    expect(await closest(mirror, SPACE, query, 2, filter)).toEqual([900, 901].map(memoryId))
    expect(await closest(mirror, SPACE, query, 50, filter)).toEqual([900, 901, 902].map(memoryId))
  })

  it('[VM3] accepts names with any characters', async () => {
    const mirror = await open()
    const names = [
      "o'brien",
      '"quoted"',
      'a OR 1=1',
      '%',
      '\\',
      'null',
      '李雷',
      'e\u0301',
      '\u00e9',
      '😀',
      'ADA',
    ]
    for (const [n, name] of names.entries()) {
      const place = { owner: owner(name), user: user(name), session: session(name) }
      await mirror.upsert(SPACE, [point(n, { place })])
    }
    for (const [n, name] of names.entries()) {
      const filter = { owner: owner(name), user: name, session: name }
      expect(await closest(mirror, SPACE, unitVector(24, 13), 9, filter), name).toEqual([
        memoryId(n),
      ])
      expect(await mirror.count(SPACE, owner(name))).toBe(1)
      const [listed] = await mirror.list(SPACE, { owner: owner(name), limit: 9 })
      expect(listed?.owner).toBe(name)
    }
  })
}

export const ADA_ALL: ReplicaFilter = { owner: ADA.owner }

/** A point of Ada's with a vector of its own. */
export function point(
  number: number,
  fields: Partial<ReplicaPoint> = {},
  dimensions = SPACE.dimensions,
): ReplicaPoint {
  return {
    place: ADA,
    id: memoryId(number),
    type: 'factual',
    expiresAt: null,
    textHash: `hash of ${number}`,
    vector: unitVector(dimensions, 7_000 + number),
    ...fields,
  }
}

export async function closest(
  mirror: VectorReplica,
  kept: VectorSpace,
  vector: Float32Array,
  limit: number,
  filter: ReplicaFilter = ADA_ALL,
): Promise<MemoryId[]> {
  return idsOf(await mirror.search(kept, filter, { vector, limit }))
}

export async function refused(call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toMatchObject({ code: 'invalid_input' })
}

export function vectorsOf(points: readonly ReplicaPoint[]): [MemoryId, Float32Array][] {
  return points.map(({ id, vector }) => [id, vector])
}

export function idsOf(rows: readonly { readonly id: MemoryId }[]): MemoryId[] {
  return rows.map(({ id }) => id)
}

export function plainId(name: string): MemoryId {
  return `mem_${name}` as MemoryId // its form is right
}

function reversed(text: string): string {
  return [...text].reverse().join('')
}
