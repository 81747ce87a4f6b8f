import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeHistories } from './histories.suite.ts'
import { describeLife } from './life.suite.ts'

describeLife('on the reference store', async () => createReferenceStore())
describeLife('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeHistories('on the reference store', async () => createReferenceStore())
describeHistories('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
