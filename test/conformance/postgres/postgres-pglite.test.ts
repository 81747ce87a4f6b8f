import { afterAll } from 'vitest'
import { openFreshStore, startPglite } from '../../support/postgres-servers.ts'
import { describeStore } from '../store/store.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

// One backend stands behind all connections, so a second one could only get in the way.
const open = () => openFreshStore(server.url, { poolSize: 1 })

describeStore('postgres (PGlite)', open, { histories: 20 })
