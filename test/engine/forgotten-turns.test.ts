import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeForgottenTurns } from './forgotten-turns.suite.ts'

describeForgottenTurns('on the reference store', async () => createReferenceStore())
describeForgottenTurns('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
