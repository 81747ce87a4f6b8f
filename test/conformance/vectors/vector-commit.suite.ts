/** What commits of the store do to vectors. */
import { expect, it } from 'vitest'
import type { Memory } from '../../../src/domain/memory.ts'
import type { Scope } from '../../../src/domain/scope.ts'
import { ADA, BOB, instant, memory, session } from '../../fakes/memories.ts'
import { byLikeness, entry, unitVector, unitVectors } from '../../fakes/vectors.ts'
import { COMMITTED, create } from '../store/store.suite.ts'
import {
  ALL,
  commitAll,
  expectBest,
  idsOf,
  nearest,
  type OpenVectors,
  remember,
  SPACE,
} from './vector-index.suite.ts'

export function describeChanges(open: OpenVectors): void {
  /** One memory with a vector, and ways to ask whether it is still found. */
  async function oneKept(fields: Partial<Memory> = {}) {
    const parts = await open()
    const vector = unitVector(SPACE.dimensions, 40)
    const row = memory(fields)
    await commitAll(parts.store, [row])
    await parts.vectors.put(SPACE, [entry(row, vector)])
    const isFoundIn = async (scope: Scope) => {
      const hits = await nearest(parts, SPACE, scope, vector, 5)
      const known = await parts.vectors.vectorsOf(SPACE, scope, [row.id])
      const listed = await parts.vectors.list(SPACE, scope, { limit: 5 })
      const counted = await parts.vectors.count(SPACE, scope)
      expect([known.size, listed.length, counted]).toEqual(Array(3).fill(hits.length))
      return hits.length === 1
    }
    expect(await isFoundIn(ALL)).toBe(true)
    return { ...parts, row, vector, isFoundIn }
  }
  const replaced = (row: Memory, fields: Partial<Memory>) => ({
    op: 'put' as const,
    table: 'memory' as const,
    row: { ...row, ...fields, version: row.version + 1 },
    expect: { version: row.version },
  })

  it('[VI4] never finds a vector whose text has changed', async () => {
    const { store, vectors, row, vector, isFoundIn } = await oneKept()
    expect(await store.commit([replaced(row, { content: 'other words' })])).toEqual(COMMITTED)
    expect(await isFoundIn(ALL)).toBe(false)
    await vectors.put(SPACE, [entry(row, vector)]) // of the old text: it was embedded too late
    expect(await isFoundIn(ALL)).toBe(false)
    await vectors.put(SPACE, [entry({ ...row, content: 'other words' }, vector)])
    expect(await isFoundIn(ALL)).toBe(true)
  })

  it('[VI4] never finds a vector whose speaker has changed', async () => {
    const { store, row, isFoundIn } = await oneKept()
    const provenance = { ...row.provenance, speaker: 'Ann' }
    expect(await store.commit([replaced(row, { provenance })])).toEqual(COMMITTED)
    expect(await isFoundIn(ALL)).toBe(false)
  })

  it('[VI4] keeps a vector whose text has not changed', async () => {
    const { store, row, isFoundIn } = await oneKept()
    const changed = { key: 'k', pinned: true, metadata: { a: 1 }, status: 'disabled' } as const
    const provenance = { ...row.provenance, source: 'another' }
    expect(await store.commit([replaced(row, { ...changed, provenance })])).toEqual(COMMITTED)
    const count = { op: 'count', scope: ALL, id: row.id, uses: 1, usedAt: instant(5) } as const
    expect(await store.commit([count])).toEqual(COMMITTED)
    expect(await isFoundIn(ALL)).toBe(true)
  })

  it('[VI4] never finds the vector of a memory that was removed, nor keeps it for a namesake', async () => {
    const { store, row, isFoundIn } = await oneKept()
    const removal = { op: 'remove', table: 'memory', scope: ALL, id: row.id } as const
    expect(await store.commit([{ ...removal, expect: 'any' }])).toEqual(COMMITTED)
    expect(await isFoundIn(ALL)).toBe(false)
    expect(await store.commit([create({ ...row, content: 'a namesake' })])).toEqual(COMMITTED)
    expect(await isFoundIn(ALL)).toBe(false)
  })

  it('[VI4] never finds the vector of a memory that moved to another owner', async () => {
    const { store, row, isFoundIn } = await oneKept()
    const removal = { op: 'remove', table: 'memory', scope: ALL, id: row.id } as const
    const moved = create({ ...row, place: BOB })
    expect(await store.commit([{ ...removal, expect: 'any' }, moved])).toEqual(COMMITTED)
    expect(await isFoundIn(ALL)).toBe(false)
    expect(await isFoundIn(BOB)).toBe(false)
  })

  it('[VI4] follows a memory into another session', async () => {
    const place = { ...ADA, session: session('morning') }
    const { store, row, isFoundIn } = await oneKept({ place })
    const evening = { ...ADA, session: session('evening') }
    expect(await store.commit([replaced(row, { place: evening })])).toEqual(COMMITTED)
    expect(await isFoundIn(place)).toBe(false)
    expect(await isFoundIn(evening)).toBe(true)
  })

  it('[VI4] loses nothing to a commit that was refused', async () => {
    const { store, row, isFoundIn } = await oneKept()
    const changes = [replaced(row, { content: 'other words' }), create(row)]
    expect((await store.commit(changes)).kind).toBe('conflict')
    expect(await isFoundIn(ALL)).toBe(true)
  })

  it('[VI4] removes many at once and finds the rest', async () => {
    const parts = await open()
    const rows = await remember(parts, SPACE, unitVectors(600, SPACE.dimensions, 41))
    const query = unitVector(SPACE.dimensions, 42)
    const best = await nearest(parts, SPACE, ALL, query, 30)
    const gone = rows.filter((row) => best.some((hit) => hit.id === row.id))
    const changes = gone.map((row, index) =>
      index % 2 === 0
        ? replaced(row, { content: `${row.content}, or so` })
        : ({ op: 'remove', table: 'memory', scope: ALL, id: row.id, expect: 'any' } as const),
    )
    expect(await parts.store.commit(changes)).toEqual(COMMITTED)
    const stored = await parts.vectors.vectorsOf(SPACE, ALL, idsOf(rows))
    expect(stored.size).toBe(570)
    expectBest(await nearest(parts, SPACE, ALL, query, 30), byLikeness(stored, query), 30)
    expect(await parts.vectors.count(SPACE, ALL)).toBe(570)
  })
}
