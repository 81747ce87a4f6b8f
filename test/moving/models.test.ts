/** Embedding models, paraphrases and per-turn extraction as clients of the described systems rely on. */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/app/composition.ts'
import { openEmbedder } from '../../src/app/models/model-selection.ts'
import { buildTurnExtraction } from '../../src/learning/distillation/turn-prompt.ts'
import type { TurnText } from '../../src/learning/distillation/turn-selection.ts'
import { start } from '../api/http/http-support.ts'
import { synonymEmbedder } from '../fakes/synonym-embedder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ADA = { owner: 'ada' }

it('[PO54] OmniRoute: a model name that is not on disk falls back to the built-in model', async () => {
  const localModel = join(temporaryFolder(), 'missing')
  const embedder = openEmbedder({ source: 'transformers', localModel })
  onTestFinished(async () => embedder?.close())
  const model = await embedder?.describe()
  expect(model?.model).toMatch(/^gte-small-multilingual/)
  expect(embedder?.report().facts).toMatchObject({
    fallbackFor: expect.stringContaining('missing'),
    fallbackReason: expect.stringContaining('missing'),
  })
})

it('[PO54] OmniRoute: the status of the server warns of a model name that is not on disk', async () => {
  const localModel = join(temporaryFolder(), 'missing')
  const { client, engine } = await start({}, { embedding: { source: 'transformers', localModel } })
  await engine.remember(ADA, { content: 'The kayak is in the shed.' })
  await engine.admin.reindex()
  const { body } = await client.get('/api/status')
  expect(JSON.stringify(body)).toMatch(/"fallbackReason":"[^"]*missing/)
})

async function openWith(values: Record<string, unknown>) {
  const engine = await createEngine({
    embedding: synonymEmbedder({ researches: 'studies' }),
    settings: values,
  })
  onTestFinished(() => engine.close())
  const contents = async () => (await engine.list(ADA)).rows.map(({ content }) => content).sort()
  return { engine, contents }
}

it('[PO55] Polyant: a paraphrase updates the memory that says the same', async () => {
  const { engine, contents } = await openWith({ 'memory.mergeParaphrases': true })
  const first = await engine.remember(ADA, {
    content: 'Clara studies the songs of whales near Lisbon',
  })
  await engine.warmUp()
  const second = await engine.remember(ADA, {
    content: 'Clara researches the songs of whales near Lisbon',
  })
  expect(second).toMatchObject({ outcome: 'update', memory: { id: first.memory.id } })
  expect(await contents()).toEqual(['Clara researches the songs of whales near Lisbon'])
  expect((await engine.memories.history(ADA, first.memory.id)).length).toBe(2)
  for (const different of [
    'Clara no longer researches the songs of whales near Lisbon',
    'Clara researches the songs of 7 whales near Lisbon',
  ]) {
    const { memory, outcome } = await engine.remember(ADA, { content: different })
    expect([different, outcome === 'update' && memory.id === first.memory.id]).toEqual([
      different,
      false,
    ])
  }
  const off = await openWith({})
  await off.engine.remember(ADA, { content: 'Clara studies the songs of whales near Lisbon' })
  await off.engine.warmUp()
  await off.engine.remember(ADA, { content: 'Clara researches the songs of whales near Lisbon' })
  expect(await off.contents()).toHaveLength(2)
})

it('[PO55] Osaurus: near-duplicate statements merge, with the longer wording', async () => {
  const engine = await createEngine({
    embedding: false,
    settings: { 'memory.mergeParaphrases': true },
  })
  onTestFinished(() => engine.close())
  const short = 'Clara works as a marine biologist in the old harbor of Lisbon'
  const long = 'Clara works as a marine biologist in the beautiful old harbor of Lisbon'
  await engine.remember(ADA, { content: short })
  expect(await engine.remember(ADA, { content: long })).toMatchObject({ outcome: 'update' })
  expect(await engine.remember(ADA, { content: short })).toMatchObject({ outcome: 'duplicate' })
  expect((await engine.list(ADA)).rows.map(({ content }) => content)).toEqual([long])
  await engine.remember(ADA, {
    content: 'Clara works as a marine biologist in the old harbor of Porto',
  })
  expect((await engine.list(ADA)).rows).toHaveLength(2)
})

it('[PO54] Polyant: extraction after every turn sees the last 15 messages', () => {
  const turns = Array.from({ length: 20 }, (_, index) => ({
    id: `turn_${index}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    speaker: null,
    content: `message ${index}`,
    saidAt: index,
  })) as unknown as readonly TurnText[] // as far as the prompt reads them
  const extraction = buildTurnExtraction(turns, () => false)
  expect(extraction?.prompted).toHaveLength(15)
  const prompt = extraction?.messages[1]?.content ?? ''
  expect(prompt).toContain('message 19')
  expect(prompt).toContain('message 5')
  expect(prompt).not.toContain('message 4\n')
})
