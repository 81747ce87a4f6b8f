/**
 * The contract of `VectorIndex`, run over every implementation together with the store it belongs to. Rule ids refer
 * to spec/.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MemoryId } from '../../../src/domain/ids.ts'
import type { Memory } from '../../../src/domain/memory.ts'
import type { Place, Scope } from '../../../src/domain/scope.ts'
import type { MemoryFilter, Store } from '../../../src/storage/store.ts'
import type { VectorHit, VectorIndex, VectorSpace } from '../../../src/storage/vector-index.ts'
import { computeFingerprint } from '../../../src/text/fingerprint.ts'
import {
  ADA,
  BOB,
  changeId,
  instant,
  memory,
  memoryId,
  session,
  user,
} from '../../fakes/memories.ts'
import {
  atSimilarity,
  byLikeness,
  entry,
  inBytes,
  space,
  unit,
  unitVector,
  unitVectors,
} from '../../fakes/vectors.ts'
import { COMMITTED, create } from '../store/store.suite.ts'
import { describeChanges } from './vector-commit.suite.ts'
import { describeContents, describePuts, describeSpaces } from './vector-contents.suite.ts'
import { describeDocumentVectors } from './vector-documents.suite.ts'

export type VectorParts = { readonly store: Store; readonly vectors: VectorIndex }

export type OpenedVectors = VectorParts & { close(): Promise<void> }

export type OpenVectors = () => Promise<OpenedVectors>

export const SPACE = space(24)

export const ALL: Scope = { owner: ADA.owner }
const EVERYTHING = 100_000

export function describeVectorIndex(name: string, open: OpenVectors): void {
  const opened = async () => {
    const parts = await open()
    onTestFinished(() => parts.close())
    return parts
  }
  describe(`${name}: nearest`, () => describeNearest(opened))
  describe(`${name}: scopes`, () => describeScopes(opened))
  describe(`${name}: filters`, () => describeVectorFilters(opened))
  describe(`${name}: changes`, () => describeChanges(opened))
  describe(`${name}: puts and removals`, () => describePuts(opened))
  describe(`${name}: spaces`, () => describeSpaces(opened))
  describe(`${name}: contents`, () => describeContents(opened))
  describe(`${name}: turns`, () => describeDocumentVectors(opened))
}

function describeNearest(open: OpenVectors): void {
  const forms = [
    ['as they are', space(48)],
    ['in bytes', inBytes(space(48))],
  ] as const

  it.each(forms)('[VI1] finds exactly the nearest of vectors kept %s', async (_, kept) => {
    const parts = await open()
    const rows = await remember(parts, kept, unitVectors(2_500, kept.dimensions, 1))
    const ids = rows.map((row) => row.id)
    const known = await parts.vectors.vectorsOf(kept, ALL, ids)
    expect(known.size).toBe(rows.length)
    for (const query of unitVectors(12, kept.dimensions, 2)) {
      const hits = await nearest(parts, kept, ALL, query, 40)
      expectBest(hits, byLikeness(known, query), 40)
    }
  })

  it.each(forms)('[VI1] gives the same first hits whatever the limit (%s)', async (_, kept) => {
    const parts = await open()
    const distinct = unitVectors(300, kept.dimensions, 3)
    await remember(parts, kept, [...distinct, ...distinct, ...distinct]) // every similarity three times
    const query = unitVector(kept.dimensions, 4)
    const all = await nearest(parts, kept, ALL, query, EVERYTHING)
    expect(all).toHaveLength(900)
    for (const limit of [1, 2, 3, 7, 20, 64, 65, 300, 899, 900]) {
      expect(await nearest(parts, kept, ALL, query, limit)).toEqual(all.slice(0, limit))
    }
  })

  it('[VI1] orders equal scores by id, newest first, regardless of insertion order', async () => {
    const parts = await open()
    const [same, other] = [unitVector(SPACE.dimensions, 5), unitVector(SPACE.dimensions, 50)]
    const rows = Array.from({ length: 9 }, () => memory())
    await commitAll(parts.store, rows)
    const shuffled = [4, 0, 8, 2, 6, 1, 7, 3, 5].map((index) => rows[index] ?? memory())
    for (const row of shuffled) await parts.vectors.put(SPACE, [entry(row, same)])
    const hits = await nearest(parts, SPACE, ALL, other, 9)
    expect(hits.map((hit) => hit.id)).toEqual(rows.map((row) => row.id).reverse())
    expect(new Set(hits.map((hit) => hit.similarity)).size).toBe(1)
  })

  it('[VI1] gives the inner product, down to the opposite', async () => {
    const parts = await open()
    const query = unitVector(SPACE.dimensions, 6)
    const similarities = [1, 0.9, 0.5, 0.1, 0, -0.1, -0.6, -1]
    const rows = await remember(
      parts,
      SPACE,
      similarities.map((similarity, index) => atSimilarity(query, similarity, 100 + index)),
    )
    const hits = await nearest(parts, SPACE, ALL, query, 10)
    expect(hits.map((hit) => hit.id)).toEqual(rows.map((row) => row.id))
    for (const [index, hit] of hits.entries()) {
      expect(hit.similarity).toBeCloseTo(similarities[index] ?? Number.NaN, 5)
    }
  })

  it('[VI1] answers nothing to a limit of nothing, and where nothing is', async () => {
    const parts = await open()
    const query = unitVector(SPACE.dimensions, 7)
    expect(await nearest(parts, SPACE, ALL, query, 5)).toEqual([])
    await commitAll(parts.store, [memory()])
    expect(await nearest(parts, SPACE, ALL, query, 5)).toEqual([])
    await remember(parts, SPACE, unitVectors(3, SPACE.dimensions, 8))
    expect(await nearest(parts, SPACE, ALL, query, 0)).toEqual([])
    expect(await nearest(parts, SPACE, ALL, query, -1)).toEqual([])
    expect(await nearest(parts, SPACE, ALL, query, 5)).toHaveLength(3)
    expect(await nearest(parts, SPACE, BOB, query, 5)).toEqual([])
  })

  it('[ST44] returns the same neighbors with hits as the store does', async () => {
    const parts = await open()
    const [today, yesterday] = [session('today'), session('yesterday')]
    const rows = [today, yesterday, null].flatMap((name) =>
      Array.from({ length: 6 }, () => memory({ place: { ...ADA, session: name } })),
    )
    await commitAll(parts.store, rows)
    await parts.vectors.put(SPACE, pairs(rows, unitVectors(rows.length, SPACE.dimensions, 12)))
    const query = { vector: unitVector(SPACE.dimensions, 13), limit: 15, where: {} }
    const besides = { reach: 2, hits: 12 }
    const hits = await parts.vectors.search(SPACE, ALL, { ...query, besides })
    expect(hits.map(({ neighbors: _, ...hit }) => hit)).toEqual(
      await parts.vectors.search(SPACE, ALL, query),
    )
    const ids = hits.map(({ id }) => id)
    const around = await parts.store.findNeighbors(ALL, ids, 2)
    for (const { id, neighbors } of hits) {
      if (neighbors !== undefined) expect(neighbors).toEqual(around.get(id) ?? null)
    }
    const reports = hits.map(({ neighbors }) => neighbors !== undefined)
    expect(reports.lastIndexOf(true)).toBeLessThan(12)
  })

  it('[VI1] answers many searches at once, also during writes and removals', async () => {
    const parts = await open()
    const [first, later] = [unitVectors(400, 24, 9), unitVectors(200, 24, 10)]
    const old = await remember(parts, SPACE, first)
    const added = later.map(() => memory())
    await commitAll(parts.store, added)
    const queries = unitVectors(20, 24, 11)
    const searching = Promise.all(queries.map((query) => nearest(parts, SPACE, ALL, query, 10)))
    const leaving = old.slice(0, 100).map((row) => row.id)
    await Promise.all([
      parts.vectors.put(SPACE, pairs(added, later)),
      parts.vectors.remove(SPACE, ALL, leaving),
    ])
    for (const hits of await searching) expect(hits).toHaveLength(10)
    const known = await parts.vectors.vectorsOf(SPACE, ALL, idsOf([...old, ...added]))
    expect(known.size).toBe(500)
    const answers = await Promise.all(queries.map((query) => nearest(parts, SPACE, ALL, query, 15)))
    for (const [index, hits] of answers.entries()) {
      expectBest(hits, byLikeness(known, queries[index] ?? new Float32Array(24)), 15)
    }
  })
}

function describeScopes(open: OpenVectors): void {
  const eve = { ...ADA, user: user('eve') }
  const eveToday = { ...eve, session: session('today') }
  const today = { ...ADA, session: session('today') }
  const places: readonly Place[] = [ADA, today, eve, eveToday, BOB]
  const scopes: readonly (readonly [Scope, readonly Place[]])[] = [
    [ALL, [ADA, today, eve, eveToday]],
    [{ ...ALL, user: null }, [ADA, today]],
    [{ ...ALL, user: eve.user }, [eve, eveToday]],
    [{ ...ALL, session: null }, [ADA, eve]],
    [{ ...ALL, session: today.session }, [today, eveToday]],
    [ADA, [ADA]],
    [eveToday, [eveToday]],
    [{ ...ALL, user: user('nobody') }, []],
    [{ ...ALL, session: session('never') }, []],
    [{ owner: BOB.owner }, [BOB]],
    [{ owner: BOB.owner, user: eve.user }, []],
  ]

  it('[VI2] shows a scope its own vectors and no others, in every way of asking', async () => {
    const { store, vectors } = await open()
    const rows = places.map((place) => memory({ place }))
    await commitAll(store, rows)
    const newVectors = unitVectors(rows.length, SPACE.dimensions, 20)
    await vectors.put(SPACE, pairs(rows, newVectors))
    const query = unitVector(SPACE.dimensions, 21)
    for (const [scope, covered] of scopes) {
      const expected = idsOf(rows.filter((row) => covered.includes(row.place)))
      const hits = await vectors.search(SPACE, scope, { vector: query, limit: 9, where: {} })
      expect(idsOf(hits).sort()).toEqual(expected)
      const known = await vectors.vectorsOf(SPACE, scope, idsOf(rows))
      expect([...known.keys()].sort()).toEqual(expected)
      expect(idsOf(await vectors.list(SPACE, scope, { limit: 9 }))).toEqual(expected)
      expect(await vectors.count(SPACE, scope)).toBe(expected.length)
    }
  })

  it('[VI2] removes only what the scope covers', async () => {
    const { store, vectors } = await open()
    const rows = places.map((place) => memory({ place }))
    await commitAll(store, rows)
    await vectors.put(SPACE, pairs(rows, unitVectors(rows.length, SPACE.dimensions, 22)))
    const counts = async () => [
      await vectors.count(SPACE, ALL),
      await vectors.count(SPACE, { owner: BOB.owner }),
    ]
    await vectors.remove(SPACE, { ...ALL, user: user('nobody') }, idsOf(rows))
    expect(await counts()).toEqual([4, 1])
    await vectors.remove(SPACE, eveToday, idsOf(rows))
    expect(await counts()).toEqual([3, 1])
    await vectors.remove(SPACE, { ...ALL, user: null }, idsOf(rows))
    expect(await counts()).toEqual([1, 1])
    await vectors.remove(SPACE, { owner: BOB.owner }, idsOf(rows))
    expect(await counts()).toEqual([1, 0])
  })

  it("[VI2] takes nothing for a place that is not the memory's", async () => {
    const { store, vectors } = await open()
    const row = memory({ place: eve })
    await commitAll(store, [row])
    const vector = unitVector(SPACE.dimensions, 23)
    for (const place of [ADA, BOB, { ...ADA, user: user('mallory') }]) {
      await vectors.put(SPACE, [{ ...entry(row, vector), place }])
    }
    expect(await vectors.spaces()).toEqual([])
    expect(await vectors.count(SPACE, ALL)).toBe(0)
  })

  it('[VI2] finds the few of one user or session among many of others', async () => {
    const parts = await open()
    const query = unitVector(SPACE.dimensions, 24)
    const near = Array.from({ length: 1_500 }, (_, n) => atSimilarity(query, 0.95, 1_000 + n))
    await remember(parts, SPACE, near)
    const far = [0.3, 0.2, 0.1].map((similarity, n) => atSimilarity(query, similarity, n))
    const rows = await remember(parts, SPACE, far, () => ({ place: eveToday }))
    const scopes = [eveToday, { ...ALL, user: eve.user }, { ...ALL, session: eveToday.session }]
    for (const scope of scopes) {
      expect(idsOf(await nearest(parts, SPACE, scope, query, 2))).toEqual(idsOf(rows).slice(0, 2))
    }
  })
}

function describeVectorFilters(open: OpenVectors): void {
  it('[VI3] narrows by every filter as lists do', async () => {
    const parts = await open()
    const base = { content: 'needle' }
    const fields: readonly Partial<Memory>[] = [
      base,
      { ...base, key: 'k' },
      { ...base, status: 'disabled' },
      { ...base, type: 'episodic' },
      { ...base, category: 'preference' },
      { ...base, pinned: true },
      { ...base, expiresAt: instant(2_000) },
      { ...base, validUntil: instant(2_000) },
      { ...base, createdAt: instant(10) },
      { ...base, change: changeId('special') },
      { content: 'something else' },
    ]
    const newVectors = unitVectors(fields.length, SPACE.dimensions, 30)
    const rows = await remember(parts, SPACE, newVectors, (index) => fields[index] ?? {})
    const filters: readonly MemoryFilter[] = [
      {},
      { ids: [rows[8]?.id ?? memoryId(0), rows[0]?.id ?? memoryId(0), memoryId('unknown')] },
      { ids: [] },
      { key: 'k' },
      { key: 'unknown' },
      { fingerprint: computeFingerprint(' NEEDLE. ') },
      { statuses: ['active'] },
      { statuses: ['disabled', 'forgotten'] },
      { statuses: [] },
      { types: ['episodic'] },
      { categories: ['preference', 'event'] },
      { pinned: true },
      { pinned: false },
      { change: changeId('special') },
      { validAt: instant(2_000) },
      { validAt: instant(1_999) },
      { expiredBy: instant(2_000) },
      { createdFrom: instant(1_000) },
      { createdBefore: instant(1_000) },
      { contains: 'NEEDLE' },
      { contains: 'diff' },
      { contains: '%' },
      { types: ['episodic'], pinned: true },
      { statuses: ['active'], validAt: instant(2_000), types: ['factual'] },
    ]
    const query = unitVector(SPACE.dimensions, 31)
    for (const where of filters) {
      const listed = await parts.store.find('memory', ADA, { where, limit: 100 })
      const known = await parts.vectors.vectorsOf(SPACE, ADA, idsOf(listed.rows))
      const hits = await parts.vectors.search(SPACE, ADA, { vector: query, limit: 100, where })
      expect(hits, JSON.stringify(where)).toHaveLength(listed.rows.length)
      expectBest(hits, byLikeness(known, query), 100)
    }
  })

  it('[VI3] finds a handful of permitted memories however many others are closer', async () => {
    const parts = await open()
    const query = unitVector(SPACE.dimensions, 32)
    const near = Array.from({ length: 3_000 }, (_, n) => atSimilarity(query, 0.9, 5_000 + n))
    await remember(parts, SPACE, near)
    const far = [0.4, 0.3, 0.2, 0.1, -0.9].map((similarity, n) =>
      atSimilarity(query, similarity, n),
    )
    const rows = await remember(parts, SPACE, far, () => ({
      status: 'disabled',
      pinned: true,
      change: changeId('rare'),
    }))
    const filters: readonly MemoryFilter[] = [
      { statuses: ['disabled'] },
      { pinned: true },
      { change: changeId('rare') },
      { ids: idsOf(rows) },
    ]
    for (const where of filters) {
      for (const limit of [3, 50]) {
        const hits = await parts.vectors.search(SPACE, ALL, { vector: query, limit, where })
        expect(idsOf(hits)).toEqual(idsOf(rows).slice(0, limit))
      }
    }
  })

  it('[VI3] skips filtered memories among many that match', async () => {
    const parts = await open()
    const newVectors = unitVectors(1_200, SPACE.dimensions, 33)
    const rows = await remember(parts, SPACE, newVectors, (index) =>
      index % 3 === 0 ? { type: 'episodic' } : {},
    )
    const remaining = rows.filter((row) => row.type === 'episodic')
    const known = await parts.vectors.vectorsOf(SPACE, ALL, idsOf(remaining))
    for (const query of unitVectors(5, SPACE.dimensions, 34)) {
      const where = { types: ['episodic'] } as const
      const hits = await parts.vectors.search(SPACE, ALL, { vector: query, limit: 60, where })
      expectBest(hits, byLikeness(known, query), 60)
    }
  })
}

/** Creates a memory for each vector and puts the vectors of all. */
export async function remember(
  { store, vectors }: VectorParts,
  kept: VectorSpace,
  given: readonly Float32Array[],
  fields: (index: number) => Partial<Memory> = () => ({}),
): Promise<readonly Memory[]> {
  const rows = given.map((_, index) => memory(fields(index)))
  await commitAll(store, rows)
  await vectors.put(kept, pairs(rows, given))
  return rows
}

export async function commitAll(store: Store, rows: readonly Memory[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 1_000) {
    expect(await store.commit(rows.slice(at, at + 1_000).map(create))).toEqual(COMMITTED)
  }
}

export function pairs(rows: readonly Memory[], given: readonly Float32Array[]) {
  return rows.map((row, index) => entry(row, given[index] ?? unit([1])))
}

export function nearest(
  { vectors }: VectorParts,
  kept: VectorSpace,
  scope: Scope,
  vector: Float32Array,
  limit: number,
): Promise<readonly VectorHit[]> {
  return vectors.search(kept, scope, { vector, limit, where: {} })
}

export function idsOf(rows: readonly { readonly id: MemoryId }[]): MemoryId[] {
  return rows.map((row) => row.id)
}

/** Sums of single precision may differ in their last digits; two that differ by less may change places. */
const ROUNDING = 2e-6

/** The hits are the first of all, in their order. */
export function expectBest(
  hits: readonly VectorHit[],
  all: readonly VectorHit[],
  limit: number,
): void {
  const similarities = new Map(all.map((hit) => [hit.id, hit.similarity]))
  expect(hits).toHaveLength(Math.min(limit, all.length))
  expect(new Set(idsOf(hits)).size).toBe(hits.length)
  for (const [index, hit] of hits.entries()) {
    const expected = all[index]?.similarity ?? Number.NaN
    expect(Math.abs(hit.similarity - (similarities.get(hit.id) ?? Number.NaN))).toBeLessThan(
      ROUNDING,
    )
    expect(Math.abs(hit.similarity - expected)).toBeLessThan(ROUNDING)
  }
}
