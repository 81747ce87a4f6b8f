/** What is kept: puts and removals, spaces, and reading back. */
import { expect, it } from 'vitest'
import type { MemoryId } from '../../../src/domain/ids.ts'
import { ADA, BOB, memory, memoryId, owner } from '../../fakes/memories.ts'
import { entry, inBytes, inner, space, unitVector, unitVectors } from '../../fakes/vectors.ts'
import {
  ALL,
  commitAll,
  idsOf,
  nearest,
  type OpenVectors,
  pairs,
  remember,
  SPACE,
} from './vector-index.suite.ts'

export function describePuts(open: OpenVectors): void {
  it('[VI5] replaces a vector that is there, in a call of its own and within one', async () => {
    const parts = await open()
    const [row] = await remember(parts, SPACE, [unitVector(24, 50)])
    if (row === undefined) throw new Error('no row')
    const next = unitVector(24, 51)
    const last = unitVector(24, 52)
    await parts.vectors.put(SPACE, [entry(row, next)])
    expect(await parts.vectors.vectorsOf(SPACE, ALL, [row.id])).toEqual(new Map([[row.id, next]]))
    expect((await nearest(parts, SPACE, ALL, next, 5))[0]?.similarity).toBeCloseTo(1, 5)
    await parts.vectors.put(SPACE, [entry(row, next), entry(row, last)])
    expect(await parts.vectors.vectorsOf(SPACE, ALL, [row.id])).toEqual(new Map([[row.id, last]]))
    const hits = await nearest(parts, SPACE, ALL, last, 5)
    expect(hits).toHaveLength(1)
    expect(hits[0]?.similarity).toBeCloseTo(1, 5)
    expect(await parts.vectors.count(SPACE, ALL)).toBe(1)
  })

  it('[VI5] passes over entries whose memory is not there, and keeps the others', async () => {
    const { store, vectors } = await open()
    const rows = [memory(), memory({ place: BOB })]
    const unknown = [memory(), memory({ place: { ...ADA, owner: owner('nobody') } })]
    await commitAll(store, rows)
    const all = [...unknown, ...rows]
    await vectors.put(SPACE, pairs(all, unitVectors(all.length, 24, 53)))
    expect(await vectors.spaces()).toEqual([{ ...SPACE, vectors: 2 }])
    await vectors.put(SPACE, pairs(unknown, unitVectors(2, 24, 54)))
    await vectors.put(SPACE, [])
    expect(await vectors.spaces()).toEqual([{ ...SPACE, vectors: 2 }])
  })

  it('[VI5] keeps no reference to the given array', async () => {
    const parts = await open()
    const newVector = unitVector(24, 55)
    const copy = Float32Array.from(newVector)
    const [row] = await remember(parts, SPACE, [newVector])
    newVector.fill(0)
    const known = await parts.vectors.vectorsOf(SPACE, ALL, [row?.id ?? memoryId(0)])
    expect([...known.values()]).toEqual([copy])
    for (const vector of known.values()) vector.fill(0)
    expect((await nearest(parts, SPACE, ALL, copy, 1))[0]?.similarity).toBeCloseTo(1, 5)
  })

  it('[VI5] compares vectors where they are exactly as it gives them', async () => {
    const parts = await open()
    const { similaritiesOf, vectorsOf } = parts.vectors
    const rows = await remember(parts, SPACE, unitVectors(40, 24, 56))
    const ids = [...idsOf(rows), memoryId('unknown')]
    const question = unitVector(24, 57)
    const compared = async () => {
      const vectors = await vectorsOf.call(parts.vectors, SPACE, ALL, ids)
      return new Map([...vectors].map(([id, vector]) => [id, inner(question, vector)]))
    }
    for (const _ of ['read from the store', 'kept by a search']) {
      const similarities = await similaritiesOf?.call(parts.vectors, SPACE, ALL, ids, question)
      if (similarities !== undefined) {
        const byId = (pairsOf: ReadonlyMap<string, number>) => new Map([...pairsOf].toSorted())
        expect(byId(similarities)).toEqual(byId(await compared()))
      }
      expect(await nearest(parts, SPACE, ALL, question, 10)).toHaveLength(10)
    }
    await parts.vectors.put(
      SPACE,
      rows.slice(0, 1).map((row) => entry(row, question)),
    )
    const changed = await similaritiesOf?.call(parts.vectors, SPACE, ALL, ids, question)
    if (changed !== undefined) expect(changed.get(rows[0]?.id ?? memoryId(0))).toBeCloseTo(1, 5)
  })

  it('[VI5] removes vectors, and finds them again when they are put again', async () => {
    const parts = await open()
    const newVectors = unitVectors(40, 24, 56)
    const rows = await remember(parts, SPACE, newVectors)
    const query = unitVector(24, 57)
    const before = await nearest(parts, SPACE, ALL, query, 40)
    const half = rows.filter((_, index) => index % 2 === 0)
    await parts.vectors.remove(SPACE, ALL, [...idsOf(half), memoryId('unknown')])
    const remaining = before.filter((hit) => !half.some((row) => row.id === hit.id))
    expect(await nearest(parts, SPACE, ALL, query, 40)).toEqual(remaining)
    await parts.vectors.put(SPACE, pairs(rows, newVectors))
    expect(await nearest(parts, SPACE, ALL, query, 40)).toEqual(before)
    await parts.vectors.remove(SPACE, ALL, [])
    expect(await parts.vectors.count(SPACE, ALL)).toBe(40)
  })

  const withNumber = (number: number) => {
    const vector = unitVector(24, 58)
    vector[23] = number
    return vector
  }
  const refused = [
    ['too short', unitVector(23, 59)],
    ['too long', unitVector(25, 59)],
    ['empty', new Float32Array(0)],
    ['not a number', withNumber(Number.NaN)],
    ['endless', withNumber(Number.POSITIVE_INFINITY)],
    ['endless downwards', withNumber(Number.NEGATIVE_INFINITY)],
  ] as const

  it.each(refused)('[VI6] refuses a vector that is %s, and the whole call', async (_, vector) => {
    const parts = await open()
    const rows = [memory(), memory(), memory()]
    await commitAll(parts.store, rows)
    const [first, second] = unitVectors(2, 24, 60)
    const inputs = [first, vector, second].map((one) => one ?? vector)
    const put = parts.vectors.put(SPACE, pairs(rows, inputs))
    await expect(put).rejects.toMatchObject({ name: 'AppError', code: 'invalid_input' })
    expect(await parts.vectors.spaces()).toEqual([])
    await parts.vectors.put(SPACE, pairs(rows, unitVectors(3, 24, 61)))
    const search = nearest(parts, SPACE, ALL, vector, 5)
    await expect(search).rejects.toMatchObject({ name: 'AppError', code: 'invalid_input' })
  })

  it.each([
    ['as they are', SPACE],
    ['in bytes', inBytes(SPACE)],
  ])('[VI6] stores a zero vector, which is near to nothing (%s)', async (_, kept) => {
    const parts = await open()
    const zero = new Float32Array(24)
    const rows = await remember(parts, kept, [unitVector(24, 62), zero, unitVector(24, 63)])
    const hits = await nearest(parts, kept, ALL, unitVector(24, 64), 5)
    expect(idsOf(hits).sort()).toEqual([rows[0]?.id, rows[2]?.id])
    expect(await nearest(parts, kept, ALL, zero, 5)).toEqual([])
    expect(await parts.vectors.count(kept, ALL)).toBe(3)
    const id = rows[1]?.id ?? memoryId(0)
    expect(await parts.vectors.vectorsOf(kept, ALL, [id])).toEqual(new Map([[id, zero]]))
  })
}

export function describeSpaces(open: OpenVectors): void {
  const small = space(8, 'test:small')
  const large = space(1_536, 'test:large')
  const bytes = inBytes(large)

  it('[VI7] keeps spaces of different models, lengths and forms side by side', async () => {
    const parts = await open()
    const rows = Array.from({ length: 5 }, () => memory())
    await commitAll(parts.store, rows)
    expect(await parts.vectors.spaces()).toEqual([])
    const stored = [small, large, bytes] as const
    for (const one of stored) {
      await parts.vectors.put(one, pairs(rows, unitVectors(5, one.dimensions, 70)))
    }
    const bySignature = (a: { signature: string }, b: { signature: string }) =>
      a.signature < b.signature ? -1 : 1
    expect([...(await parts.vectors.spaces())].sort(bySignature)).toEqual(
      stored.map((one) => ({ ...one, vectors: 5 })).sort(bySignature),
    )
    for (const one of stored) {
      const [query] = unitVectors(5, one.dimensions, 70)
      const hits = await nearest(parts, one, ALL, query ?? new Float32Array(0), 5)
      expect(hits).toHaveLength(5)
      expect(hits[0]?.id).toBe(rows[0]?.id)
      expect(hits[0]?.similarity).toBeCloseTo(1, 1)
    }
    await parts.vectors.remove(small, ALL, idsOf(rows))
    expect(await parts.vectors.count(small, ALL)).toBe(0)
    expect(await parts.vectors.count(large, ALL)).toBe(5)
    expect(await parts.vectors.spaces()).toHaveLength(2)
  })

  it('[VI7] drops one space of all owners and leaves the others', async () => {
    const { store, vectors } = await open()
    const rows = [memory(), memory({ place: BOB })]
    await commitAll(store, rows)
    await vectors.put(small, pairs(rows, unitVectors(2, 8, 71)))
    await vectors.put(SPACE, pairs(rows, unitVectors(2, 24, 72)))
    await vectors.drop(small)
    expect(await vectors.spaces()).toEqual([{ ...SPACE, vectors: 2 }])
    for (const scope of [ALL, { owner: BOB.owner }]) {
      const query = { vector: unitVector(8, 73), limit: 5, where: {} }
      expect(await vectors.search(small, scope, query)).toEqual([])
      expect(await vectors.count(small, scope)).toBe(0)
      expect(await vectors.count(SPACE, scope)).toBe(1)
    }
    await vectors.drop(small)
    await vectors.put(small, pairs(rows, unitVectors(2, 8, 74)))
    expect(await vectors.count(small, ALL)).toBe(1)
  })

  it('[VI7] answers for an empty space', async () => {
    const { store, vectors } = await open()
    const row = memory()
    await commitAll(store, [row])
    const query = { vector: unitVector(8, 75), limit: 5, where: {} }
    expect(await vectors.search(small, ALL, query)).toEqual([])
    expect(await vectors.vectorsOf(small, ALL, [row.id])).toEqual(new Map())
    expect(await vectors.list(small, ALL, { limit: 5 })).toEqual([])
    expect(await vectors.count(small, ALL)).toBe(0)
    await vectors.remove(small, ALL, [row.id])
    await vectors.drop(small)
    expect(await vectors.spaces()).toEqual([])
  })
}

export function describeContents(open: OpenVectors): void {
  it('[VI8] gives vectors back: exactly, or in bytes very nearly', async () => {
    const parts = await open()
    const newVectors = unitVectors(20, 384, 80)
    const [exact, bytes] = [space(384), inBytes(space(384))]
    const rows = await remember(parts, exact, newVectors)
    await parts.vectors.put(bytes, pairs(rows, newVectors))
    const known = await parts.vectors.vectorsOf(exact, ALL, [...idsOf(rows), memoryId('unknown')])
    const rounded = await parts.vectors.vectorsOf(bytes, ALL, idsOf(rows))
    expect(known.size).toBe(20)
    for (const [index, row] of rows.entries()) {
      const vector = newVectors[index] ?? new Float32Array(0)
      expect(known.get(row.id)).toEqual(vector)
      expect(inner(rounded.get(row.id) ?? new Float32Array(0), vector)).toBeCloseTo(1, 2)
    }
    expect(await parts.vectors.vectorsOf(exact, ALL, [])).toEqual(new Map())
  })

  it('[VI8] lists vectors page by page, with the hash of their text', async () => {
    const { store, vectors } = await open()
    const rows = Array.from({ length: 23 }, (_, n) => memory(n % 4 === 0 ? { place: BOB } : {}))
    await commitAll(store, rows)
    await vectors.put(SPACE, pairs([...rows].reverse(), unitVectors(23, 24, 81)))
    const expected = rows
      .filter((row) => row.place === ADA)
      .map((row) => ({ id: row.id, textHash: entry(row, new Float32Array(24)).textHash }))
    const seen: { readonly id: MemoryId; readonly textHash: string }[] = []
    for (;;) {
      const after = seen.at(-1)?.id
      const page = await vectors.list(SPACE, ALL, {
        limit: 5,
        ...(after === undefined ? {} : { after }),
      })
      expect(page.length).toBeLessThanOrEqual(5)
      if (page.length === 0) break
      seen.push(...page)
    }
    expect(seen).toEqual(expected)
    expect(await vectors.list(SPACE, ALL, { limit: 0 })).toEqual([])
    expect(await vectors.count(SPACE, ALL)).toBe(expected.length)
  })

  it('[VI8] says something about itself, and closing it leaves the store open', async () => {
    const parts = await open()
    const [row] = await remember(parts, SPACE, [unitVector(24, 82)])
    const facts = Object.values(parts.vectors.report())
    expect(facts.every((fact) => ['string', 'number', 'boolean'].includes(typeof fact))).toBe(true)
    await parts.vectors.close()
    await parts.vectors.close()
    expect(await parts.store.get('memory', ALL, row?.id ?? memoryId(0))).toEqual(row)
  })
}
