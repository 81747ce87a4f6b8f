import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { describeConflicts } from './conflicts.suite.ts'

describeConflicts('on the reference store', async () => createInMemoryStore())
describeConflicts('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
