import { afterAll } from 'vitest'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { describeDistillation } from './distillation.suite.ts'
import { describeDistilledFacts } from './fact-extraction.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

describeDistillation('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
describeDistilledFacts('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
