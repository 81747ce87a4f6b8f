import { randomBytes } from 'node:crypto'
import { describe, it } from 'vitest'
import { openSqliteFile } from '../../../src/storage/sqlite/connection/database-file.ts'
import { describeMissingCipher } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { parseKey } from '../../../src/storage/sqlite/encryption/encryption-key.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { describeStore } from '../store/store.suite.ts'

const missing = describeMissingCipher()
const key = parseKey(randomBytes(32).toString('hex'))

if (missing === null) {
  describeStore(
    'sqlite encrypted',
    () => openSqliteFile({ path: temporaryFile('store.db'), key, now: Date.now }),
    { histories: 30 },
  )
} else {
  describe('sqlite encrypted', () => {
    it.skip(`keeps the contract of a store (not run: ${missing})`, () => {})
  })
}
