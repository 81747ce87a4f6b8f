import { expect, it, onTestFinished } from 'vitest'
import { create } from '../../../test/conformance/store.suite.ts'
import { ADA, memory, owner } from '../../../test/fakes/memories.ts'
import { entry, space, unitVector, unitVectors } from '../../../test/fakes/vectors.ts'
import { type OpenConnection, openConnection } from './driver.ts'
import { openSqliteStore, type SqliteOptions, type SqliteStore } from './store.ts'

const SEGMENT_BYTES = 65_536
const SPACE = space(64)
/** Of 64 dimensions these fill less than one segment in bytes, and two in full. */
const VECTORS = 300

async function opened(options: Partial<SqliteOptions>): Promise<SqliteStore> {
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
  store.vectors.nearest(
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

it('[VI10] vectors in full give way to the bytes that other owners are searched by', async () => {
  const owners = ['ada', 'bob', 'cleo', 'dora']
  const store = await opened({ vectorMemoryBytes: SEGMENT_BYTES * owners.length })
  for (const name of owners) await fill(store, name)
  const first = await search(store, 'ada')
  expect(store.vectors.report().memoryBytes).toBe(SEGMENT_BYTES * 3)
  for (const name of owners) expect(await search(store, name)).toHaveLength(VECTORS)
  expect(store.vectors.report()).toMatchObject({
    ownersInMemory: owners.length,
    memoryBytes: SEGMENT_BYTES * owners.length,
  })
  expect(await search(store, 'ada')).toEqual(first)
})
