/** What holds now, and what held at the time that a question names. */
import { expect, it, onTestFinished } from 'vitest'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'

const ADA = { owner: 'ada' }
const MONTH = 30 * 86_400_000

function openEngine() {
  const clock = new FakeClock(Date.parse('2024-02-10T12:00:00Z'))
  const engine = createEngineWith({
    store: createInMemoryStore(),
    clock,
    ids: countingIds(),
    settings: {},
  })
  onTestFinished(() => engine.close())
  const recall = async (text: string) =>
    (await engine.recall(ADA, { text })).memories.map(({ memory }) => memory.content)
  return { engine, clock, recall }
}

it('[RA8.6] a question about the past finds what held then', async () => {
  const { engine, clock, recall } = openEngine()
  await engine.remember(ADA, { content: 'My phone is a Galaxy S20' })
  clock.advance(14 * MONTH)
  await engine.remember(ADA, { content: 'My phone is a Pixel 8 now' })
  for (const content of ['Eva has a cello', 'Tom likes rye bread', 'The garden needs water']) {
    await engine.remember(ADA, { content })
  }
  clock.advance(2 * MONTH)
  const now = await recall('Which phone do I have?')
  expect(now).toContain('My phone is a Pixel 8 now')
  expect(now).not.toContain('My phone is a Galaxy S20')
  expect((await recall('Which phone did I have in 2024?'))[0]).toBe('My phone is a Galaxy S20')
})

it('[RA8.7] facts of another time rank lower', async () => {
  const { engine, clock, recall } = openEngine()
  await engine.remember(ADA, { content: 'I painted the bathroom' })
  clock.advance(MONTH)
  await engine.remember(ADA, { content: 'I painted the kitchen' })
  clock.advance(2 * MONTH)
  expect((await recall('What did I paint in February 2024?'))[0]).toBe('I painted the bathroom')
  expect((await recall('What did I paint in March 2024?'))[0]).toBe('I painted the kitchen')
})

it('[RA9.5] the newer of two facts about the same state comes first', async () => {
  const { engine, clock, recall } = openEngine()
  await engine.remember(ADA, { content: 'The team has 6 people' })
  clock.advance(MONTH)
  await engine.remember(ADA, { content: 'We are 9 people on the team' })
  expect((await recall('How many people does the team have?'))[0]).toContain('9 people')
})

it('[TR9.6] one statement supersedes every memory that it ends', async () => {
  const { engine } = openEngine()
  await engine.remember(ADA, { content: 'I live in Leeds.' })
  await engine.remember(ADA, { content: 'My flat in Leeds is on Park Road.' })
  await engine.remember(ADA, { content: 'I live with two cats.' })
  const { outcome, memory } = await engine.remember(ADA, {
    content: 'I sold the flat in Leeds and moved to York.',
  })
  expect(outcome).toBe('supersede')
  const { rows } = await engine.list(ADA, { statuses: ['superseded'] })
  expect(rows.map(({ content }) => content).sort()).toEqual([
    'I live in Leeds.',
    'My flat in Leeds is on Park Road.',
  ])
  expect(rows.every(({ supersededBy }) => supersededBy === memory.id)).toBe(true)
})
