import { afterAll } from 'vitest'
import { openPostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import { describeAsked } from '../learning/run-on-demand.suite.ts'
import { freshSchema, openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { describeKeeping } from './conversation-admin.suite.ts'
import { describeDisabledTurns } from './disabled-turns.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

describeKeeping('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))

describeDisabledTurns('on postgres (PGlite)', () => openFreshStore(server.url, { poolSize: 1 }))

describeAsked('by two on one postgres (PGlite)', async () => {
  const options = { schema: freshSchema(), poolSize: 1 }
  // The second one stays to the end, and takes the schema along.
  return [
    await openPostgresStore({ ...options, connectionString: server.url }),
    await openFreshStore(server.url, options),
  ]
})
