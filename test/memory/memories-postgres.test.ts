import { afterAll } from 'vitest'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { describeEngine } from './memories.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

describeEngine('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
