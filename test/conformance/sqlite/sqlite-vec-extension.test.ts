/** The vector index by sqlite-vec keeps the same contract, where that package can be loaded. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { SqliteDatabase } from '../../../src/storage/sqlite/connection/sqlite-database.ts'
import { openConnection } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import { describeMissingSqliteVec } from '../../../src/storage/sqlite/vectors/sqlite-vec-vector-index.ts'
import { unitVector, unitVectors } from '../../fakes/vectors.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import {
  ALL,
  describeVectorIndex,
  idsOf,
  nearest,
  type OpenVectors,
  remember,
  SPACE,
} from '../vectors/vector-index.suite.ts'

const probe = await openConnection(':memory:', null)
const missing = await describeMissingSqliteVec(new SqliteDatabase(probe))
probe.close()

const open: OpenVectors = async () => {
  const path = temporaryFile('vectors.db')
  const store = await openSqliteStore({ path, now: Date.now, vectorSearchEngine: 'sqlite-vec' })
  return { store, vectors: store.vectors, close: () => store.close() }
}

if (missing === null) {
  describeVectorIndex('sqlite-vec vectors', open)

  it('[VI1] answers by our own scan where sqlite-vec gives too few hits', async () => {
    const parts = await open()
    onTestFinished(() => parts.close())
    const rows = await remember(parts, SPACE, unitVectors(4_500, SPACE.dimensions, 1))
    const hits = await nearest(parts, SPACE, ALL, unitVector(SPACE.dimensions, 2), 4_400)
    expect(hits).toHaveLength(4_400)
    expect(new Set(idsOf(hits)).size).toBe(4_400)
    expect(rows).toHaveLength(4_500)
  })

  it('[VI7] leaves nothing in the file that would need the package', async () => {
    const path = temporaryFile('vectors.db')
    const store = await openSqliteStore({ path, now: Date.now, vectorSearchEngine: 'sqlite-vec' })
    const parts = { store, vectors: store.vectors }
    await remember(parts, SPACE, unitVectors(5, SPACE.dimensions, 3))
    expect(await nearest(parts, SPACE, ALL, unitVector(SPACE.dimensions, 4), 9)).toHaveLength(5)
    await store.close()
    const plain = await openSqliteStore({ path, now: Date.now })
    onTestFinished(() => plain.close())
    const again = { store: plain, vectors: plain.vectors }
    expect(await nearest(again, SPACE, ALL, unitVector(SPACE.dimensions, 4), 9)).toHaveLength(5)
    expect(await plain.checkIntegrity({ repair: false })).toEqual([])
  })
} else {
  describe('sqlite-vec vectors', () => {
    it.skip(`keeps the contract of a vector index (not run: ${missing})`, () => {})
  })
}
