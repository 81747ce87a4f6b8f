import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { temporaryFile } from '../support/temporary.ts'
import { describeStore } from './store.suite.ts'

describeStore('sqlite', () => openSqliteStore({ path: temporaryFile('store.db'), now: Date.now }))
