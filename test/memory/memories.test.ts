import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { describeSystem } from '../admin/admin.suite.ts'
import { describeEngine } from './memories.suite.ts'

describeEngine('on the reference store', async () => createInMemoryStore())
describeEngine('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeSystem('on the reference store', async () => createInMemoryStore())
describeSystem('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
