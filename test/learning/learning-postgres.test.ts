import { afterAll } from 'vitest'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { describeLife } from './learning.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

describeLife('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))
