import { randomBytes } from 'node:crypto'
import { describe, it } from 'vitest'
import { openSqliteFile } from '../../../src/storage/sqlite/connection/database-file.ts'
import { describeMissingCipher } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { parseKey } from '../../../src/storage/sqlite/encryption/encryption-key.ts'
import {
  openSqliteStore,
  type SqliteStoreOptions,
} from '../../../src/storage/sqlite/sqlite-store.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { describeVectorIndex } from '../vectors/vector-index.suite.ts'

const open = (options: Partial<SqliteStoreOptions>) => async () => {
  const store = await openSqliteStore({
    path: temporaryFile('vectors.db'),
    now: Date.now,
    ...options,
  })
  return { store, vectors: store.vectors, close: () => store.close() }
}

describeVectorIndex('sqlite vectors', open({}))
describeVectorIndex(
  'sqlite vectors with nothing at hand',
  open({ ownerCache: { ownerRowsMax: 0 } }),
)
describeVectorIndex('sqlite vectors without memory for blocks', open({ vectorCacheBytes: 0 }))

const missing = describeMissingCipher()
if (missing === null) {
  const key = parseKey(randomBytes(32).toString('hex'))
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
