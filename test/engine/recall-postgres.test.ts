import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createEngineOn } from '../../src/engine/engine.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { synonymEmbedder } from '../fakes/synonyms.ts'
import { cuttable } from '../support/cuttable.ts'
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

/** Words; the space with its index, and its vectors; what stands around the best; their rows. */
const TRIPS = 5

it('[RA29] a question takes five trips to PostgreSQL, however much is found', async () => {
  const line = await cuttable(server.url)
  const store = await openFreshStore(line.url, { poolSize: 1 })
  if (store.vectors === null) throw new Error('There is no pgvector.')
  const engine = createEngineOn({
    ...{ store, vectors: store.vectors, clock: new FakeClock(), ids: countingIds(), settings: {} },
    embedder: synonymEmbedder({ light: 'lamp' }),
  })
  onTestFinished(() => engine.close())
  const scope = { owner: 'ada', session: 'kitchen' }
  for (const colour of ['blue', 'red', 'green']) {
    await engine.remember(scope, { content: `The lamp is ${colour} in the ${colour} room` })
  }
  await engine.reindex()
  const ask = async (text: string) => {
    const before = line.trips
    const { memories } = await engine.recall({ owner: 'ada' }, { text })
    return { found: memories.length, trips: line.trips - before }
  }
  await ask('Which light is there?') // settings and the space are read for the first time
  for (const text of ['Which light is blue?', 'the lamp in the red room']) {
    const { found, trips } = await ask(text)
    expect(found).toBeGreaterThan(0)
    expect(trips).toBeLessThanOrEqual(TRIPS)
  }
})
