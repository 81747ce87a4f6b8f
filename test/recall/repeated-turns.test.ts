import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { describeRepeatedTurns } from './repeated-turns.suite.ts'

describeRepeatedTurns('on the reference store', async () => createInMemoryStore())
describeRepeatedTurns('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
