import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeConflicts } from './conflicts.suite.ts'

describeConflicts('on the reference store', async () => createReferenceStore())
describeConflicts('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
