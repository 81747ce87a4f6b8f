/** Vectors in a SQLite file: other processes, little memory, damage, copies, erasure, failing calls. */
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Memory } from '../../src/domain/memory.ts'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import { openConnection } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { rekeyDatabase } from '../../src/storage/sqlite/encryption/rekey.ts'
import {
  compareDigests,
  copyDatabase,
  digestTables,
} from '../../src/storage/sqlite/maintenance/database-copy.ts'
import { recoverDatabase } from '../../src/storage/sqlite/recovery/database-recovery.ts'
import { openSqliteStore, type SqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { encodeFloats } from '../../src/storage/sqlite/vectors/vector-record.ts'
import type { Change } from '../../src/storage/store.ts'
import { COMMITTED } from '../conformance/store/store.suite.ts'
import {
  ALL,
  commitAll,
  expectBest,
  idsOf,
  nearest,
  pairs,
  remember,
  SPACE,
} from '../conformance/vectors/vector-index.suite.ts'
import { ADA, memory, memoryId, owner } from '../fakes/memories.ts'
import { byLikeness, entry, inBytes, space, unitVector, unitVectors } from '../fakes/vectors.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { failingDriver, itEncrypts, randomKey, released, using } from './sqlite-support.ts'

const DIMENSIONS = SPACE.dimensions
const SEGMENT_BYTES = 65_536

type Parts = { readonly store: SqliteStore; readonly vectors: SqliteStore['vectors'] }
const partsOf = (store: SqliteStore): Parts => ({ store, vectors: store.vectors })

async function opened(path: string, vectorMemoryBytes = 2 ** 24): Promise<Parts> {
  const store = await openSqliteStore({ path, now: Date.now, vectorCacheBytes: vectorMemoryBytes })
  onTestFinished(() => store.close())
  return partsOf(store)
}

/** What is kept for these memories is found, in the right order, and nothing else. Gives how many that are. */
async function expectRight(parts: Parts, rows: readonly Memory[], kept = SPACE): Promise<number> {
  const known = await parts.vectors.vectorsOf(kept, ALL, idsOf(rows))
  for (const query of unitVectors(3, kept.dimensions, 900)) {
    expectBest(await nearest(parts, kept, ALL, query, 25), byLikeness(known, query), 25)
  }
  expect(await parts.vectors.count(kept, ALL)).toBe(known.size)
  return known.size
}

const reworded = (row: Memory): Change => ({
  op: 'put',
  table: 'memory',
  row: { ...row, content: `${row.content}, or so`, version: row.version + 1 },
  expect: { version: row.version },
})
const removal = (row: Memory): Change => ({
  op: 'remove',
  table: 'memory',
  scope: ALL,
  id: row.id,
  expect: 'any',
})

describe('vectors of two processes', () => {
  it('[VI9] are found by both, and no longer once one has removed, reworded or dropped them', async () => {
    const path = temporaryFile('shared.db')
    const [here, there] = [await opened(path), await opened(path)]
    const rows = [...(await remember(here, SPACE, unitVectors(800, DIMENSIONS, 90)))]
    expect(await expectRight(here, rows)).toBe(800)
    rows.push(...(await remember(there, SPACE, unitVectors(300, DIMENSIONS, 91))))
    expect(await expectRight(here, rows)).toBe(1_100)
    await there.vectors.remove(SPACE, ALL, idsOf(rows.slice(0, 50)))
    expect(await expectRight(here, rows)).toBe(1_050)
    expect(await there.store.commit(rows.slice(50, 100).map(reworded))).toEqual(COMMITTED)
    expect(await expectRight(here, rows)).toBe(1_000)
    expect(await there.store.commit(rows.slice(100, 1_050).map(removal))).toEqual(COMMITTED)
    expect(await expectRight(here, rows)).toBe(50)
    await there.vectors.drop(SPACE)
    expect(await expectRight(here, rows)).toBe(0)
    const left = rows.slice(1_050)
    await there.vectors.put(SPACE, pairs(left, unitVectors(left.length, DIMENSIONS, 92)))
    expect(await expectRight(here, left)).toBe(50)
  })
})

describe('vectors and memory', () => {
  it('[VI10] owners make room for each other, and every one is searched right', async () => {
    const parts = await opened(temporaryFile('room.db'), SEGMENT_BYTES * 3)
    const owners = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...ADA, owner: owner(name) }))
    const wide = space(400) // some 150 rows in a segment
    const rows = new Map<string, readonly Memory[]>()
    for (const [index, place] of owners.entries()) {
      const vectors = unitVectors(100 + index * 80, 400, 93 + index)
      rows.set(place.owner, await remember(parts, wide, vectors, () => ({ place })))
    }
    for (const round of [1, 2, 3]) {
      for (const { owner } of [...owners, ...owners.slice(0, round)]) {
        const known = await parts.vectors.vectorsOf(wide, { owner }, idsOf(rows.get(owner) ?? []))
        const query = unitVector(400, round)
        const searches = [1, 2].map(() => nearest(parts, wide, { owner }, query, 30))
        for (const hits of await Promise.all(searches)) {
          expectBest(hits, byLikeness(known, query), 30)
        }
        const { cacheBytes, cacheLimitBytes } = parts.vectors.report()
        expect(cacheBytes).toBeLessThanOrEqual(Number(cacheLimitBytes))
      }
    }
    expect(parts.vectors.report().cachedOwners).toBeGreaterThan(0)
    await parts.vectors.close()
    expect(parts.vectors.report()).toMatchObject({ cachedOwners: 0, cacheBytes: 0 })
  })

  it('[VI10] an owner that exceeds the cache is searched as well', async () => {
    const parts = await opened(temporaryFile('large.db'), SEGMENT_BYTES)
    const rows = await remember(parts, SPACE, unitVectors(3_000, DIMENSIONS, 94))
    const bob = { ...ADA, owner: owner('bob') }
    const few = await remember(parts, SPACE, unitVectors(20, DIMENSIONS, 95), () => ({
      place: bob,
    }))
    const [count, hits] = await Promise.all([
      expectRight(parts, rows),
      nearest(parts, SPACE, bob, unitVector(DIMENSIONS, 96), 30),
    ])
    expect(count).toBe(3_000)
    expect(idsOf(hits).sort()).toEqual(idsOf(few))
  })
})

const DAMAGE = {
  'a vector of no memory': `UPDATE vector SET memory = 999 WHERE sequence = 2`,
  'a vector of another text': `UPDATE vector SET text_hash = '0' WHERE sequence = 2`,
  'a vector of another owner': `UPDATE vector SET owner_number = 999 WHERE sequence = 2`,
  'a vector of no space': `UPDATE vector SET space = 999 WHERE sequence = 2`,
  'a record that is cut off': `UPDATE vector SET record = substr(record, 1, 20) WHERE sequence = 2`,
  'a record of another row': `UPDATE vector SET record = (SELECT record FROM vector WHERE sequence = 3) WHERE sequence = 2`,
  'a vector without its numbers': `DELETE FROM vector_exact WHERE number = 2`,
  'numbers without a vector': `INSERT INTO vector_exact (numbers) VALUES (x'00')`,
  'wrong counts': `UPDATE vector_owner SET vectors = vectors + 1`,
  'no counts': `DELETE FROM vector_owner`,
  'a space that was dropped half-way': `INSERT INTO vector_space (signature, dimensions) VALUES (NULL, 24)`,
} as const

it.each(Object.entries(DAMAGE))('[VI11] inspection finds and mends %s', async (_, sql) => {
  const path = temporaryFile('damaged.db')
  const parts = await opened(path)
  const rows = await remember(parts, SPACE, unitVectors(5, DIMENSIONS, 97))
  expect(await parts.store.checkIntegrity({ repair: false })).toEqual([])
  expect(await expectRight(parts, rows)).toBe(5)
  const other = await openConnection(path, null)
  other.exec(sql)
  other.close()
  const faults = await parts.store.checkIntegrity({ repair: true })
  expect(faults.length).toBeGreaterThan(0)
  expect(faults.every((fault) => fault.repairable && fault.count > 0)).toBe(true)
  expect(await parts.store.checkIntegrity({ repair: false })).toEqual([])
  expect(await expectRight(parts, rows)).toBeGreaterThanOrEqual(4)
  await parts.vectors.put(SPACE, pairs(rows, unitVectors(5, DIMENSIONS, 98)))
  expect(await expectRight(parts, rows)).toBe(5)
  expect(await parts.store.checkIntegrity({ repair: false })).toEqual([])
})

describe('files with vectors', () => {
  it('[VI11] are copied whole', async () => {
    const parts = await opened(temporaryFile('original.db'))
    const rows = await remember(parts, SPACE, unitVectors(1_300, DIMENSIONS, 99))
    await parts.vectors.put(inBytes(SPACE), pairs(rows, unitVectors(1_300, DIMENSIONS, 99)))
    await parts.vectors.remove(SPACE, ALL, idsOf(rows.slice(0, 3)))
    const { location } = await parts.store.getReport()
    const path = temporaryFile('copy.db')
    const [source, target] = [
      await openConnection(location, null),
      await openConnection(path, null),
    ]
    copyDatabase({ source, target, now: 1 })
    expect(compareDigests(digestTables(source), digestTables(target))).toEqual([])
    source.close()
    target.close()
    const copy = await opened(path)
    expect(await expectRight(copy, rows)).toBe(1_297)
    expect(await expectRight(copy, rows, inBytes(SPACE))).toBe(1_300)
    expect(await copy.store.checkIntegrity({ repair: false })).toEqual([])
  })

  itEncrypts('[VI11] keep them when they are encrypted, where no number can be read', async () => {
    const path = temporaryFile('plain.db')
    const vectors = unitVectors(30, DIMENSIONS, 100)
    const numbers = Buffer.from(encodeFloats(vectors[7] ?? new Float32Array()))
    const rows = await using(path, null, (store) => remember(partsOf(store), SPACE, vectors))
    expect(readFileSync(path).includes(numbers)).toBe(true)
    await released()
    const key = randomKey()
    await rekeyDatabase({ path, from: null, to: key, now: Date.now })
    expect(readFileSync(path).includes(numbers)).toBe(false)
    await using(path, key, async (store) => {
      expect(await expectRight(partsOf(store), rows)).toBe(30)
    })
  })

  it('[VI11] recover their memories, which are embedded again', async () => {
    const path = temporaryFile('salvaged.db')
    const rows = await using(path, null, (store) =>
      remember(partsOf(store), SPACE, unitVectors(700, DIMENSIONS, 101)),
    )
    await released()
    const { copied, lost } = await recoverDatabase({ path, key: null, now: Date.now })
    expect(copied.memory).toBe(700)
    expect(Object.keys(copied).filter((table) => table.startsWith('vector'))).toEqual([])
    expect(lost).toMatchObject({ memories: 0, rows: {}, pages: [] })
    await using(path, null, async (store) => {
      const parts = partsOf(store)
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
      expect(await expectRight(parts, rows)).toBe(0)
      await parts.vectors.put(SPACE, pairs(rows, unitVectors(700, DIMENSIONS, 101)))
      expect(await expectRight(parts, rows)).toBe(700)
    })
  })

  it('[FO3] keep no number of a vector whose memory was erased', async () => {
    const path = temporaryFile('erased.db')
    const newVectors = unitVectors(60, DIMENSIONS, 102)
    await using(path, null, async (store) => {
      const parts = partsOf(store)
      const rows = await remember(parts, SPACE, newVectors)
      await parts.vectors.put(inBytes(SPACE), pairs(rows, newVectors))
      expect(await store.commit(rows.slice(20, 40).map(removal))).toEqual(COMMITTED)
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
    })
    const file = readFileSync(path)
    const isThere = (index: number) =>
      file.includes(
        Buffer.from(encodeFloats(newVectors[index] ?? new Float32Array()).subarray(0, 32)),
      )
    expect(newVectors.map((_, index) => isThere(index))).toEqual(
      newVectors.map((_, index) => index < 20 || index >= 40),
    )
  })
})

describe('a driver that fails', () => {
  it('[VI5] never leaves a put half done, whichever call fails', async () => {
    const newVectors = unitVectors(8, DIMENSIONS, 103)
    for (let nth = 1; ; nth++) {
      const driver = failingDriver(nth, false)
      const path = temporaryFile('failing.db')
      const store = await openSqliteFile({ path, now: Date.now, openConnection: driver.open })
      const parts = partsOf(store)
      const old = await remember(parts, SPACE, newVectors.slice(0, 4))
      const added = newVectors.slice(4).map(() => memory())
      await commitAll(store, added)
      const all = [...old, ...added]
      const moved = unitVectors(8, DIMENSIONS, 104)
      driver.arm()
      const failure = await parts.vectors.put(SPACE, pairs(all, moved)).catch((error) => error)
      const hasFailed = driver.hasFailed()
      driver.disarm()
      const known = await parts.vectors.vectorsOf(SPACE, ALL, idsOf(all))
      const expected = failure instanceof Error ? newVectors.slice(0, 4) : moved
      expect([...known.values()]).toEqual(expected)
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
      await expectRight(parts, all)
      await store.close()
      if (!hasFailed) break
    }
  })

  it('[VI7] leaves a space that is dropped or not, whichever call fails, and the next drop ends it', async () => {
    for (let nth = 1; ; nth++) {
      const driver = failingDriver(nth, false)
      const path = temporaryFile('dropping.db')
      const store = await openSqliteFile({ path, now: Date.now, openConnection: driver.open })
      const parts = partsOf(store)
      const rows = await remember(parts, SPACE, unitVectors(600, DIMENSIONS, 105))
      driver.arm()
      await parts.vectors.drop(SPACE).catch(() => {})
      const hasFailed = driver.hasFailed()
      driver.disarm()
      expect([0, 600]).toContain(await expectRight(parts, rows))
      await parts.vectors.drop(SPACE)
      expect(await parts.vectors.spaces()).toEqual([])
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
      await parts.vectors.put(SPACE, [entry(rows[0] ?? memory(), unitVector(DIMENSIONS, 106))])
      expect(idsOf(await nearest(parts, SPACE, ALL, unitVector(DIMENSIONS, 106), 5))).toEqual([
        rows[0]?.id ?? memoryId(0),
      ])
      await store.close()
      if (!hasFailed) break
    }
  })
})
