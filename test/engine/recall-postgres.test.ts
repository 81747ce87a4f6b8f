import { afterAll } from 'vitest'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { describeRecall } from './recall.suite.ts'

const server = await startPglite({ pgvector: true })
afterAll(() => server.stop())

describeRecall(
  'on postgres (PGlite)',
  async () => {
    const store = await openFreshStore(server.url, { poolSize: 1 })
    if (store.vectors === null) throw new Error('There is no pgvector.')
    return { store, vectors: store.vectors }
  },
  { isSlow: true },
)
