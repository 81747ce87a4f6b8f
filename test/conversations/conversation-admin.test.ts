import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { describeKeeping } from './conversation-admin.suite.ts'
import { describeDisabledTurns } from './disabled-turns.suite.ts'

describeKeeping('on the reference store', async () => createInMemoryStore())

describeDisabledTurns('on the reference store', async () => createInMemoryStore())
describeKeeping('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
describeDisabledTurns('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
