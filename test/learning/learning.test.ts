import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { describeLife } from './learning.suite.ts'
import { describeHistories } from './transcript-resumption.suite.ts'

describeLife('on the reference store', async () => createInMemoryStore())
describeLife('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeHistories('on the reference store', async () => createInMemoryStore())
describeHistories('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
