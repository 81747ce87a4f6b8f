import { afterAll } from 'vitest'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { describeJobs } from './jobs.suite.ts'
import { describeJobEndings } from './jobs-endings.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

describeJobs('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
describeJobEndings('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
