/** Vectors of turns beside those of memories. */
import { expect, it } from 'vitest'
import type { MemoryId } from '../../../src/domain/ids.ts'
import type { Scope } from '../../../src/domain/scope.ts'
import {
  DOCUMENT_TYPES,
  toDocumentId,
  toTurnDocument,
} from '../../../src/domain/search-document.ts'
import type { Turn } from '../../../src/domain/turn.ts'
import type { Change, DocumentFilter, Expectation } from '../../../src/storage/store.ts'
import { turn } from '../../fakes/entries.ts'
import { BOB, memory } from '../../fakes/memories.ts'
import { entry, unitVectors } from '../../fakes/vectors.ts'
import { COMMITTED, create } from '../store/store.suite.ts'
import { ALL, type OpenVectors, SPACE } from './vector-index.suite.ts'

const BOTH: DocumentFilter = { types: DOCUMENT_TYPES }
const say = (row: Turn, expect: Expectation = 'absent'): Change => ({
  op: 'put',
  table: 'turn',
  row,
  expect,
})

export function describeDocumentVectors(open: OpenVectors): void {
  async function twoKept() {
    const parts = await open()
    const [a, b] = unitVectors(2, SPACE.dimensions, 77) as [Float32Array, Float32Array] // two of them
    const [known, said] = [memory(), turn({ content: 'said in a conversation' })]
    expect(await parts.store.commit([create(known), say(said)])).toEqual(COMMITTED)
    await parts.vectors.put(SPACE, [entry(known, a), entry(toTurnDocument(said), b)])
    const nearest = async (where: DocumentFilter, scope: Scope = ALL): Promise<MemoryId[]> =>
      (await parts.vectors.search(SPACE, scope, { vector: b, limit: 5, where })).map(({ id }) => id)
    return { ...parts, known, said, a, b, nearest, saidId: toDocumentId(said.id) }
  }

  it('[VI35] finds turns and memories in one search, and turns only on request', async () => {
    const { vectors, known, saidId, nearest } = await twoKept()
    expect(await nearest(BOTH)).toEqual([saidId, known.id])
    expect(await nearest({})).toEqual([known.id])
    expect(await nearest({ types: ['turn'] })).toEqual([saidId])
    expect(await nearest({ ...BOTH, trusts: ['user'] })).toEqual([saidId, known.id])
    expect(await nearest({ ...BOTH, ids: [saidId] })).toEqual([saidId])
    expect(await nearest(BOTH, { owner: BOB.owner })).toEqual([])
    expect(await vectors.count(SPACE, ALL)).toBe(2)
    const listed = await vectors.list(SPACE, ALL, { limit: 5 })
    expect(listed.map(({ id }) => id)).toEqual([known.id, saidId])
    expect((await vectors.vectorsOf(SPACE, ALL, [saidId, known.id])).size).toBe(2)
  })

  it('[VI36] never finds the vector of a turn that was reworded or removed', async () => {
    const { store, vectors, said, saidId, b, nearest } = await twoKept()
    const off = { ...said, disabled: true, version: 2 }
    expect(await store.commit([say(off, { version: 1 })])).toEqual(COMMITTED)
    expect(await nearest({ types: ['turn'] })).toEqual([saidId])
    expect(await nearest({ types: ['turn'], statuses: ['active'] })).toEqual([])
    const other = { ...said, content: 'other words', version: 3 }
    expect(await store.commit([say(other, { version: 2 })])).toEqual(COMMITTED)
    expect(await nearest({ types: ['turn'] })).toEqual([])
    await vectors.put(SPACE, [entry(toTurnDocument(said), b)]) // of the old text
    expect(await nearest({ types: ['turn'] })).toEqual([])
    await vectors.put(SPACE, [entry(toTurnDocument(other), b)])
    expect(await nearest({ types: ['turn'] })).toEqual([saidId])
    const removal = { op: 'remove', table: 'turn', scope: ALL, id: said.id, expect: 'any' } as const
    expect(await store.commit([removal])).toEqual(COMMITTED)
    expect(await nearest(BOTH)).toHaveLength(1)
    expect(await vectors.count(SPACE, ALL)).toBe(1)
  })

  it('[VI37] returns the best memories behind hits that turns crowd out, or leaves them to another search', async () => {
    const { store, vectors } = await open()
    const [query] = unitVectors(1, SPACE.dimensions, 78) as [Float32Array] // one of them
    const memories = Array.from({ length: 12 }, () => memory())
    const turns = Array.from({ length: 30 }, () => turn())
    await store.commit([...memories.map((row) => create(row)), ...turns.map((row) => say(row))])
    await vectors.put(SPACE, [
      ...turns.map((row, n) => entry(toTurnDocument(row), near(query, n))),
      ...memories.map((row, n) => entry(row, near(query, 20 + n * 3))),
    ])
    const expectBest = async () => {
      const ask = async (where: DocumentFilter, limit: number, memoriesMin: number) =>
        (await vectors.search(SPACE, ALL, { vector: query, limit, where, memoriesMin })).map(
          ({ id }) => id,
        )
      for (const limit of [1, 8, 24]) {
        const plain = await ask(BOTH, limit, 0)
        const best = await ask({}, 5, 0)
        const joined = [...plain, ...best.filter((id) => !plain.includes(id))]
        const found = await ask(BOTH, limit, 5)
        expect([plain, joined]).toContainEqual(found)
      }
      expect(await ask({ types: ['turn'] }, 8, 5)).toHaveLength(8)
    }
    await expectBest()
    const [first, second] = memories as [(typeof memories)[0], (typeof memories)[0]] // of twelve
    const scope = { owner: first.place.owner }
    await store.commit([{ op: 'remove', table: 'memory', scope, id: first.id, expect: 'any' }])
    await vectors.put(SPACE, [entry(second, near(query, 40))])
    await expectBest()
  })
}

/** The higher the number, the farther from the vector. */
function near(vector: Float32Array, far: number): Float32Array {
  const moved = vector.map((value, index) => value + (index === 0 ? (far + 1) * 0.01 : 0))
  const length = Math.sqrt(moved.reduce((sum, value) => sum + value * value, 0))
  return moved.map((value) => value / length)
}
