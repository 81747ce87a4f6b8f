/** What is compared by meaning when a question names those who speak in the memories. */
import { expect, it, onTestFinished } from 'vitest'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import type { Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { scriptedEmbedder } from '../fakes/embedder.ts'

const ADA = { owner: 'ada' }

async function openEngine(wrap: (store: Store) => Store = (store) => store) {
  const store = createInMemoryStore()
  const embedder = scriptedEmbedder()
  const engine = createEngineWith({
    ...{ store: wrap(store), vectors: createInMemoryVectorIndex(store), embedder },
    ...{
      clock: new FakeClock(),
      ids: countingIds(),
      settings: { 'recall.retrieverTimeoutMs': 200 },
    },
  })
  onTestFinished(() => engine.close())
  for (const [speaker, content] of [
    ['Caroline', 'I went to the support group in Oslo'],
    ['Melanie', 'How was it, Caroline?'],
    ['user', 'Tom likes pottery'],
  ]) {
    await engine.remember(ADA, { content: content ?? '', provenance: { speaker: speaker ?? null } })
  }
  await engine.admin.reindex()
  /** The question as the model got it. */
  const compared = async (text: string, strategy: 'hybrid' | 'semantic' = 'hybrid') => {
    const { retrievers: legs } = await engine.recall(ADA, { text, strategy })
    expect(legs.vector.state).toBe('searched')
    const asked = embedder.calls.filter(({ purpose }) => purpose === 'query')
    return asked.at(-1)?.texts[0]
  }
  return { engine, compared }
}

it('[RA8] a question is embedded without the names of speakers', async () => {
  const { compared } = await openEngine()
  expect(await compared('When did Caroline go to Oslo?')).toBe('When did go to Oslo?')
  expect(await compared("Did Melanie see caroline's group?")).toBe('Did see group?')
})

it.each([
  'What does Tom like?',
  'What did I tell about User pottery?',
  'Who is Caroline?',
  'when did caroline go?',
])('[RA8] "%s" is embedded unchanged', async (question) => {
  const { compared } = await openEngine()
  expect(await compared(question)).toBe(question)
})

it('[RA14] a keyword search that hangs does not block vector search', async () => {
  let hangs = false
  const { compared } = await openEngine((store) => ({
    ...store,
    searchText: (...query) => (hangs ? new Promise(() => {}) : store.searchText(...query)),
  }))
  hangs = true
  const question = 'When did Caroline go to Oslo?'
  expect(await compared(question)).toBe(question)
  expect(await compared(question, 'semantic')).toBe(question)
})
