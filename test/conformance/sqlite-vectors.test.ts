import { randomBytes } from 'node:crypto'
import { describe, it } from 'vitest'
import { missingCipher } from '../../src/adapters/sqlite/driver.ts'
import { openSqliteFile } from '../../src/adapters/sqlite/file.ts'
import { keyFromText } from '../../src/adapters/sqlite/keys.ts'
import { openSqliteStore, type SqliteOptions } from '../../src/adapters/sqlite/store.ts'
import { temporaryFile } from '../support/temporary.ts'
import { describeVectorIndex } from './vector-index.suite.ts'

const open = (options: Partial<SqliteOptions>) => async () => {
  const store = await openSqliteStore({
    path: temporaryFile('vectors.db'),
    now: Date.now,
    ...options,
  })
  return { store, vectors: store.vectors, close: () => store.close() }
}

describeVectorIndex('sqlite vectors', open({}))
describeVectorIndex('sqlite vectors with nothing at hand', open({ resident: { ownerRowsMax: 0 } }))
describeVectorIndex('sqlite vectors without memory for blocks', open({ vectorMemoryBytes: 0 }))

const missing = missingCipher()
if (missing === null) {
  const key = keyFromText(randomBytes(32).toString('hex'))
  describeVectorIndex('sqlite vectors, encrypted', async () => {
    const path = temporaryFile('vectors.db')
    const store = await openSqliteFile({ path, key, now: Date.now })
    return { store, vectors: store.vectors, close: () => store.close() }
  })
} else {
  describe('sqlite vectors, encrypted', () => {
    it.skip(`keeps the contract of a vector index (not run: ${missing})`, () => {})
  })
}
