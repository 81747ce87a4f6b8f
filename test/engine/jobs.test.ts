import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeJobs } from './jobs.suite.ts'
import { describeJobEndings } from './jobs-endings.suite.ts'

describeJobs('on the reference store', async () => createReferenceStore())
describeJobEndings('on the reference store', async () => createReferenceStore())
describeJobs('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
describeJobEndings('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
