import { join } from 'node:path'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { describeAsked } from './run-on-demand.suite.ts'

describeAsked('by two on one SQLite file', async () => {
  const path = join(temporaryFolder(), 'recollect.db')
  return [
    await openSqliteStore({ path, now: Date.now }),
    await openSqliteStore({ path, now: Date.now }),
  ]
})
