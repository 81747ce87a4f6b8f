/** Searching by sketches first: little of what is near is missed, and nothing of what is asked for is left out. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { create } from '../../../../test/conformance/store/store.suite.ts'
import { ADA, memory, user } from '../../../../test/fakes/memories.ts'
import {
  atSimilarity,
  byLikeness,
  entry,
  space,
  unitVectors,
} from '../../../../test/fakes/vectors.ts'
import type { MemoryId } from '../../../domain/ids.ts'
import type { Memory } from '../../../domain/memory.ts'
import { TimeSlice } from '../../../lib/event-loop.ts'
import type { MemoryFilter } from '../../store.ts'
import { openSqliteStore, type SqliteStore } from '../sqlite-store.ts'
import { prepareQuery, VectorArena } from './vector-arena.ts'
import { VectorBlock } from './vector-block-cache.ts'
import { countRecordBytes, encodeRecord } from './vector-record.ts'
import { VectorSketches } from './vector-sketches.ts'

/** So many that by far not all are compared further. */
const VECTORS = 40_000
const SPACE = space(32)
const LIMIT = 20
const COMMITTED = 2_000

async function keep(
  store: SqliteStore,
  rows: readonly Memory[],
  vectors: readonly Float32Array[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += COMMITTED) {
    const part = rows.slice(from, from + COMMITTED)
    await store.commit(part.map(create))
    await store.vectors.put(
      SPACE,
      part.map((row, index) => entry(row, vectors[from + index] ?? new Float32Array())),
    )
  }
}

describe('of an owner with very many vectors', () => {
  const vectors = unitVectors(VECTORS, SPACE.dimensions, 11)
  const rows = vectors.map((_, index) => memory({ importance: index % 1_000 === 0 ? 9 : 2 }))
  const questions = unitVectors(30, SPACE.dimensions, 12)
  let store: SqliteStore

  beforeAll(async () => {
    store = await openSqliteStore({ path: ':memory:', now: Date.now, sketchVectorsMin: 1_000 })
    await keep(store, rows, vectors)
    return () => store.close()
  }, 120_000)

  const nearest = async (vector: Float32Array, limit: number, where: MemoryFilter = {}) => {
    const hits = await store.vectors.search(SPACE, { owner: ADA.owner }, { vector, limit, where })
    return hits.map(({ id }) => id)
  }
  const expected = (vector: Float32Array, limit: number, isMeant = (_: Memory) => true) =>
    byLikeness(
      rows.flatMap((row, index) =>
        isMeant(row) ? [[row.id, vectors[index] ?? new Float32Array()] as const] : [],
      ),
      vector,
    )
      .slice(0, limit)
      .map(({ id }) => id)
  const shareOf = (found: readonly MemoryId[], wanted: readonly MemoryId[]) =>
    wanted.filter((id) => found.includes(id)).length / wanted.length

  it('[VI13] finds nearly all of the nearest, at any limit', async () => {
    let share = 0
    for (const question of questions) {
      const found = await nearest(question, LIMIT)
      share += shareOf(found, expected(question, LIMIT)) / questions.length
      expect(await nearest(question, 1)).toEqual(found.slice(0, 1))
    }
    expect(share).toBeGreaterThanOrEqual(0.99)
  })

  it('[VI13] where a filter lets few pass, these are found exactly, also the far ones', async () => {
    const isRare = ({ importance }: Memory) => importance === 9
    for (const question of questions.slice(0, 5)) {
      const found = await nearest(question, VECTORS, { importanceMin: 8 })
      expect(found).toEqual(expected(question, VECTORS, isRare))
    }
  })

  it('[VI13] returns more hits than sketches compare', async () => {
    const [question = new Float32Array()] = questions
    expect(await nearest(question, VECTORS)).toEqual(expected(question, VECTORS))
  })

  it('[VI13] finds added vectors at once, and no removed ones', async () => {
    const [question = new Float32Array()] = questions
    const added = memory()
    await keep(store, [added], [atSimilarity(question, 0.999, 13)])
    expect((await nearest(question, 1))[0]).toBe(added.id)
    await store.vectors.remove(SPACE, { owner: ADA.owner }, [added.id])
    expect(await nearest(question, LIMIT)).not.toContain(added.id)
  })

  it('[VI13] of one user, all are looked at', async () => {
    const [question = new Float32Array()] = questions
    const own = memory({ place: { ...ADA, user: user('eve') } })
    await keep(store, [own], [atSimilarity(question, -0.9, 14)])
    const scope = { owner: ADA.owner, user: user('eve') }
    const hits = await store.vectors.search(SPACE, scope, {
      vector: question,
      limit: 5,
      where: {},
    })
    expect(hits.map(({ id }) => id)).toContain(own.id)
  })
})

it('[VI10] where memory is too short for sketches, everything is found without', async () => {
  const vectors = unitVectors(3_000, SPACE.dimensions, 15)
  const rows = vectors.map(() => memory())
  const bytes = 3_000 * countRecordBytes(SPACE.dimensions)
  const store = await openSqliteStore({
    ...{ path: ':memory:', now: Date.now, sketchVectorsMin: 100 },
    vectorCacheBytes: Math.ceil(bytes / 65_536) * 65_536,
  })
  onTestFinished(() => store.close())
  await keep(store, rows, vectors)
  const [question = new Float32Array()] = unitVectors(1, SPACE.dimensions, 16)
  const query = { vector: question, limit: LIMIT, where: {} }
  const hits = await store.vectors.search(SPACE, { owner: ADA.owner }, query)
  const all = rows.map((row, index) => [row.id, vectors[index] ?? new Float32Array()] as const)
  expect(hits.map(({ id }) => id)).toEqual(
    byLikeness(all, question)
      .slice(0, LIMIT)
      .map(({ id }) => id),
  )
})

it.each([1, 16, 100, 128, 384, 1_536, 3_968])(
  '[VI12] sketches of %i dimensions choose those rows whose signs differ least',
  async (dimensions) => {
    const arena = new VectorArena(8 * 2 ** 20)
    const block = new VectorBlock('test', dimensions, arena.layoutFor(dimensions))
    const segments = 2
    const vectors = unitVectors(segments * block.rowsPerSegment, dimensions, dimensions)
    for (const [index, vector] of vectors.entries()) {
      if (index % block.rowsPerSegment === 0)
        block.segments.push(arena.allocateSegment() ?? Number.NaN)
      const record = encodeRecord({ vector, sequence: index + 1, place: 1, isWhole: false })
      arena.bytes.set(record, block.rowAddress(block.rows++))
    }
    const sketches = VectorSketches.create(arena, block)
    await sketches?.buildMissing(new TimeSlice())
    const [query = new Float32Array()] = unitVectors(1, dimensions, 3)
    const prepared = prepareQuery(query)
    const sketch = sketches?.prepareQuery(query).sketch ?? new Uint8Array()
    for (let segment = 0; segment < segments; segment++) {
      const first = segment * block.rowsPerSegment
      const address = block.rowAddress(first)
      const sketched = sketches?.findSegmentSketches(segment) ?? {
        at: Number.NaN,
        bytes: Number.NaN,
      }
      const bitsAt = (row: number) =>
        arena.bytes.slice(
          sketched.at + row * sketched.bytes,
          sketched.at + (row + 1) * sketched.bytes,
        )
      const all = [...arena.scan(address, block.rowsPerSegment, prepared, 0)]
      const differences = all.map((_, row) => difference(bitsAt(row), sketch))
      const reach = [...differences].sort((a, b) => a - b)[Math.floor(all.length / 3)] ?? 0
      const count = block.rowsPerSegment
      const chosen = arena.scanSketched(address, count, prepared, sketched, sketch, reach, first)
      const rows = [...chosen.rows.subarray(0, chosen.count)]
      const near = [...all.keys()].filter((row) => (differences[row] ?? 0) <= reach)
      expect(rows).toEqual(near.map((row) => first + row))
      expect([...chosen.upperBounds.subarray(0, chosen.count)]).toEqual(
        rows.map((row) => all[row - first]),
      )
    }
    expect(sketches?.findSegmentSketches(segments)).toBeNull()
  },
)

it('[VI12] vectors that are too long for sketches have none', () => {
  const arena = new VectorArena(2 ** 20)
  const block = new VectorBlock('test', 3_969, arena.layoutFor(3_969))
  expect(VectorSketches.create(arena, block)).toBeNull()
})

function difference(a: Uint8Array, b: Uint8Array): number {
  let bits = 0
  for (const [index, byte] of a.entries()) {
    bits += ((byte ^ (b[index] ?? 0)).toString(2).match(/1/g) ?? []).length
  }
  return bits
}
