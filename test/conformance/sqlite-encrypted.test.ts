import { randomBytes } from 'node:crypto'
import { describe, it } from 'vitest'
import { missingCipher } from '../../src/adapters/sqlite/driver.ts'
import { openSqliteFile } from '../../src/adapters/sqlite/file.ts'
import { keyFromText } from '../../src/adapters/sqlite/keys.ts'
import { temporaryFile } from '../support/temporary.ts'
import { describeStore } from './store.suite.ts'

const missing = missingCipher()
const key = keyFromText(randomBytes(32).toString('hex'))

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
