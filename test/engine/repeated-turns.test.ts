import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeRepeatedTurns } from './repeated-turns.suite.ts'

describeRepeatedTurns('on the reference store', async () => createReferenceStore())
describeRepeatedTurns('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
