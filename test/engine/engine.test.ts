import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeEngine } from './engine.suite.ts'
import { describeSystem } from './system.suite.ts'

describeEngine('on the reference store', async () => createReferenceStore())
describeEngine('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeSystem('on the reference store', async () => createReferenceStore())
describeSystem('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
