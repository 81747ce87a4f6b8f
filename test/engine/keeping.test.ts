import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeDisabledTurns } from './disabled-turns.suite.ts'
import { describeKeeping } from './keeping.suite.ts'

describeKeeping('on the reference store', async () => createReferenceStore())

describeDisabledTurns('on the reference store', async () => createReferenceStore())
describeKeeping('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
describeDisabledTurns('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
