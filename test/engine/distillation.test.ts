import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { describeDistillation } from './distillation.suite.ts'
import { describeDistilledFacts } from './distilled-facts.suite.ts'
import { describeHooks } from './hooks.suite.ts'
import { describeIngesting } from './ingesting.suite.ts'
import { describePatternsAlone } from './patterns-alone.suite.ts'

describeDistillation('on the reference store', async () => createReferenceStore())
describeDistillation('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeDistilledFacts('on the reference store', async () => createReferenceStore())
describeDistilledFacts('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeIngesting('on the reference store', async () => createReferenceStore())
describeIngesting('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describePatternsAlone('on the reference store', async () => createReferenceStore())
describePatternsAlone('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

describeHooks('on the reference store', async () => createReferenceStore())
describeHooks('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))
