import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeConsolidation } from './consolidation.suite.ts'
import { describeSummaries } from './summaries.suite.ts'

const openSqlite = () => openSqliteStore({ path: ':memory:', now: Date.now })

describeConsolidation('on the reference store', async () => createReferenceStore())
describeConsolidation('on sqlite', openSqlite)

describeSummaries('on the reference store', async () => createReferenceStore())
describeSummaries('on sqlite', openSqlite)
