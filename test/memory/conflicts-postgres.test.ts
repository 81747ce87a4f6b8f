import { afterAll } from 'vitest'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { describeConflicts } from './conflicts.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

describeConflicts('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
