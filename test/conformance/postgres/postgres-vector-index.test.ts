/**
 * The contract of vectors on PostgreSQL: on PGlite with pgvector everywhere, and on real servers where pgvector is
 * installed.
 */
import { afterAll, describe, it } from 'vitest'
import {
  openFreshStore,
  startPglite,
  startServer,
  withPgvector,
} from '../../support/postgres-servers.ts'
import { describeVectorIndex } from '../vectors/vector-index.suite.ts'

const pglite = await startPglite({ pgvector: true })
afterAll(() => pglite.stop())
// One backend stands behind all connections, so a second one could only get in the way.
describeVectorIndex('postgres vectors (PGlite)', () => openVectors(pglite.url, 1))

const server = await startServer()
if (server.kind === 'server') afterAll(() => server.stop())
const real = { server, TEST_POSTGRES_URL: process.env.TEST_POSTGRES_URL }
for (const [name, found] of Object.entries(real)) {
  const place = await withPgvector(found)
  if ('url' in place) {
    describeVectorIndex(`postgres vectors (${name})`, () => openVectors(place.url, 8))
  } else {
    describe.skip(`postgres vectors (${name}): ${place.reason}`, () => it('was not run', () => {}))
  }
}

async function openVectors(url: string, poolSize: number) {
  const store = await openFreshStore(url, { poolSize })
  if (store.vectors === null) throw new Error('There is no pgvector.')
  return { store, vectors: store.vectors, close: () => store.close() }
}
