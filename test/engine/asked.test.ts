import { join } from 'node:path'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { describeAsked } from './asked.suite.ts'

describeAsked('by two on one SQLite file', async () => {
  const path = join(temporaryFolder(), 'recollect.db')
  return [
    await openSqliteStore({ path, now: Date.now }),
    await openSqliteStore({ path, now: Date.now }),
  ]
})
