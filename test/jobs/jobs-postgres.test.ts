import { afterAll } from 'vitest'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { describeJobEndings } from './job-outcomes.suite.ts'
import { describeJobs } from './jobs.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

describeJobs('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
describeJobEndings('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
