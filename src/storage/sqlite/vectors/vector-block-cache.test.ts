import { expect, it, onTestFinished } from 'vitest'
import { create } from '../../../../test/conformance/store/store.suite.ts'
import { ADA, memory, owner } from '../../../../test/fakes/memories.ts'
import { entry, space, unitVector, unitVectors } from '../../../../test/fakes/vectors.ts'
import { innerProduct } from '../../../lib/vector-math.ts'
import { type OpenConnection, openConnection } from '../connection/sqlite-driver.ts'
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../sqlite-store.ts'

const SEGMENT_BYTES = 65_536
const SPACE = space(64)
/** Of 64 dimensions these fill less than one segment in bytes, and two in full. */
const VECTORS = 300

async function opened(options: Partial<SqliteStoreOptions>): Promise<SqliteStore> {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now, ...options })
  onTestFinished(() => store.close())
  return store
}

async function fill(store: SqliteStore, name: string): Promise<void> {
  const place = { ...ADA, owner: owner(name) }
  const vectors = unitVectors(VECTORS, SPACE.dimensions, 7)
  const rows = vectors.map(() => memory({ place }))
  await store.commit(rows.map(create))
  await store.vectors.put(
    SPACE,
    rows.map((row, index) => entry(row, vectors[index] ?? new Float32Array())),
  )
}

const search = (store: SqliteStore, name: string, seed = 1) =>
  store.vectors.search(
    SPACE,
    { owner: owner(name) },
    { vector: unitVector(SPACE.dimensions, seed), limit: VECTORS, where: {} },
  )

/** A driver that counts how often vectors are read in full. */
function countingReads() {
  const reads = { count: 0 }
  const open: OpenConnection = async (path, key) => {
    const connection = await openConnection(path, key)
    return {
      ...connection,
      prepare: (sql) => {
        const statement = connection.prepare(sql)
        if (!/SELECT.*vector_exact/s.test(sql)) return statement
        return {
          ...statement,
          all: (...values) => {
            reads.count++
            return statement.all(...values)
          },
        }
      },
    }
  }
  return { reads, open }
}

it('[VI1] vectors are read from the database once, and compared the same from then on', async () => {
  const { reads, open } = countingReads()
  const store = await opened({ openConnection: open })
  await fill(store, 'ada')
  const first = await search(store, 'ada')
  expect(first).toHaveLength(VECTORS)
  expect(reads.count).toBeGreaterThan(0)
  reads.count = 0
  expect(await search(store, 'ada')).toEqual(first)
  expect(await search(store, 'ada', 2)).toHaveLength(VECTORS)
  expect(reads.count).toBe(0)
})

/** Unit vectors that all have one large number in the same place, but for every tenth where that is another one. */
function alike(vector: Float32Array, index: number): Float32Array {
  const large = vector.map((number, at) => (at === (index % 10 === 9 ? 3 : 0) ? 3 : number))
  const length = Math.hypot(...large)
  return large.map((number) => number / length)
}

it('[VI1] where all vectors are nearly alike, the nearest are found, and few are compared', async () => {
  const { reads, open } = countingReads()
  const store = await opened({ openConnection: open })
  const searchAmong = async (name: string, vectors: readonly Float32Array[]) => {
    const rows = vectors.map(() => memory({ place: { ...ADA, owner: owner(name) } }))
    await store.commit(rows.map(create))
    await store.vectors.put(
      SPACE,
      rows.map((row, index) => entry(row, vectors[index] ?? new Float32Array())),
    )
    const query = alike(unitVector(SPACE.dimensions, 99), 0)
    const nearest = vectors
      .map((vector, index) => ({ id: rows[index]?.id, similarity: innerProduct(query, vector) }))
      .sort((one, other) => other.similarity - one.similarity)
    reads.count = 0
    const input = { vector: query, limit: 10, where: {} }
    const found = await store.vectors.search(SPACE, { owner: owner(name) }, input)
    expect(found.map(({ id }) => id)).toEqual(nearest.slice(0, 10).map(({ id }) => id))
    return reads.count
  }
  const vectors = unitVectors(2_000, SPACE.dimensions, 7)
  const uniform = await searchAmong(
    'ada',
    vectors.map((vector) => alike(vector, 0)),
  )
  const mixed = await searchAmong('bob', vectors.map(alike))
  // They are read by and by: rows that can't be near are not.
  expect(uniform).toBeLessThan(mixed)
})

it('[VI10] vectors in full give way to the bytes that other owners are searched by', async () => {
  const owners = ['ada', 'bob', 'cleo', 'dora']
  const store = await opened({ vectorCacheBytes: SEGMENT_BYTES * owners.length })
  for (const name of owners) await fill(store, name)
  const first = await search(store, 'ada')
  expect(store.vectors.report().cacheBytes).toBe(SEGMENT_BYTES * 3)
  for (const name of owners) expect(await search(store, name)).toHaveLength(VECTORS)
  expect(store.vectors.report()).toMatchObject({
    cachedOwners: owners.length,
    cacheBytes: SEGMENT_BYTES * owners.length,
  })
  expect(await search(store, 'ada')).toEqual(first)
})
