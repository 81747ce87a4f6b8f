import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { describeDistillation } from './distillation.suite.ts'
import { describeDistilledFacts } from './fact-extraction.suite.ts'
import { describeHooks } from './hooks.suite.ts'
import { describeIngesting } from './ingestion.suite.ts'
import { describePatternsAlone } from './pattern-ingestion.suite.ts'

describeDistillation('on the reference store', async () => createInMemoryStore())
describeDistillation('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeDistilledFacts('on the reference store', async () => createInMemoryStore())
describeDistilledFacts('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeIngesting('on the reference store', async () => createInMemoryStore())
describeIngesting('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describePatternsAlone('on the reference store', async () => createInMemoryStore())
describePatternsAlone('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeHooks('on the reference store', async () => createInMemoryStore())
describeHooks('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
