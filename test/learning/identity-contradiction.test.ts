/** Who a person is changes: what was learned about that gives way to what is said later, what a person pinned doesn't. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { AnsweringModel, type Answers } from '../fakes/prompt-aware-model.ts'

const ADA = { owner: 'ada' }
const LONG =
  'I want to tell you about myself, because a lot has changed in my life since we talked the last time.'
const BERLIN = 'The user lives in Berlin'
const HAMBURG = 'The user moved to Hamburg'

/** What the user says for a model to state it in the third person. */
function sayInFirstPerson(statement: string): string {
  return `${statement.replace(/^The user is/i, 'I am').replace(/^The user/i, 'I')}.`
}

type Said = { readonly identity?: readonly string[]; readonly facts?: readonly string[] }

async function openPerson(answers: Answers, open: () => Promise<Store> | Store) {
  const clock = new FakeClock()
  const model = new AnsweringModel(answers)
  const engine = createEngineWith({
    store: await open(),
    clock,
    ids: countingIds(),
    settings: {
      'gateway.enabled': true,
      'learning.extractionModel': 'test/core',
      'gateway.contextTimeoutMs': 30_000,
    },
    languageModel: model,
  })
  onTestFinished(() => engine.close())
  let sessions = 0
  return {
    engine,
    clock,
    model,
    /** Says something, and has this distilled from it. */
    tells: async ({ identity = [], facts = [] }: Said) => {
      const session = `talk ${++sessions}`
      model.answers.distillate = {
        episode: null,
        facts: facts.map((content) => ({ content, turns: [0] })),
        identity,
      }
      const said = [...identity, ...facts].map(sayInFirstPerson)
      clock.advance(1_000)
      const turns = [{ user: [LONG, ...said].join(' ') }]
      return engine.learning.ingest({ ...ADA, conversation: session, turns })
    },
    always: async () => {
      const [known] = await engine.learning.identity.list(ADA)
      return known?.overrides.map(({ content }) => content) ?? []
    },
  }
}

describe.each([
  ['the reference store', createInMemoryStore],
  ['sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now })],
] as const)('who the person is, on %s', (_, open) => {
  it('[TR8] a later statement supersedes a learned fact, and one undo restores it', async () => {
    const { engine, tells, always } = await openPerson({ verdict: 'unrelated' }, open)
    await tells({ identity: [BERLIN, 'The user is married', 'The user works as a nurse'] })
    const { change } = await tells({
      identity: [HAMBURG, 'The user is divorced', 'The user now works as a teacher'],
    })
    expect(await always()).toEqual([
      HAMBURG,
      'The user is divorced',
      'The user now works as a teacher',
    ])
    const { rows } = await engine.list(ADA, { statuses: ['superseded'] })
    expect(rows.map(({ content }) => content).sort()).toEqual(
      [BERLIN, 'The user is married', 'The user works as a nurse'].sort(),
    )
    await engine.undo(ADA, change ?? '')
    expect(await always()).toContain(BERLIN)
    expect(await always()).not.toContain(HAMBURG)
  })

  it('[TR8] what takes its place is always said as well, whoever found it', async () => {
    const { engine, clock, tells, always } = await openPerson({ verdict: 'unrelated' }, open)
    await tells({ identity: [BERLIN] })
    await tells({ facts: [HAMBURG], identity: ['The user lives in Hamburg'] })
    expect(await always()).toEqual([HAMBURG])
    clock.advance(1_000)
    await engine.learn(ADA, 'I live in Oslo now.')
    expect(await always()).toEqual(['I live in Oslo now'])
    const { rows } = await engine.list(ADA, { categories: ['identity'] })
    expect(rows).toMatchObject([{ pinned: true, importance: 9 }])
  })

  it('[TR8] a verdict of a model counts for it, when it is distilled and later', async () => {
    const { engine, clock, model, tells, always } = await openPerson({ verdict: 'update' }, open)
    const older = 'The user trains for the marathon in Rome'
    const newer = 'The user trains for the marathon in Oslo'
    await tells({ identity: [older] })
    await tells({ identity: [newer] })
    expect(await always()).toEqual([newer])
    clock.advance(1_000)
    const written = 'The user trains for the short marathon in Oslo'
    await engine.remember(ADA, { content: written })
    expect(await always()).toEqual([newer])
    clock.advance(1_000)
    await engine.learning.consolidate(ADA)
    expect(model.asked('verdict')).toHaveLength(2)
    expect(await always()).toEqual([written])
  })

  const HOLDING: readonly (readonly [
    string,
    (engine: Awaited<ReturnType<typeof openPerson>>['engine'], id: string) => Promise<unknown>,
  ])[] = [
    ['added', (engine) => engine.learning.identity.add(ADA, { content: BERLIN })],
    ['pinned', (engine, id) => engine.edit(ADA, id, { pinned: true })],
    ['edited', (engine, id) => engine.edit(ADA, id, { content: `${BERLIN} ` })],
    ['wrote', (engine) => engine.remember(ADA, { content: BERLIN, pinned: true })],
    [
      'brought back',
      async (engine, id) => {
        await engine.memories.disable(ADA, id)
        await engine.restore(ADA, id)
      },
    ],
  ]
  it.each(HOLDING)('[TR8] what a person has %s stays', async (_, hold) => {
    const { engine, clock, tells, always } = await openPerson({ verdict: 'update' }, open)
    await tells({ identity: [BERLIN] })
    const [learned] = (await engine.list(ADA)).rows
    await hold(engine, learned?.id ?? '')
    clock.advance(1_000)
    await tells({ identity: [BERLIN.toLowerCase(), HAMBURG] })
    expect((await always()).map((content) => content.trim())).toEqual([BERLIN, HAMBURG])
    expect((await engine.list(ADA)).rows).toMatchObject([{ conflictsWith: learned?.id }, {}])
  })

  it('[TR8] a statement that a person had pinned before stays theirs when it is learned', async () => {
    const { engine, clock, tells, always } = await openPerson({ verdict: 'update' }, open)
    await engine.remember(ADA, { content: BERLIN, pinned: true })
    clock.advance(1_000)
    await tells({ identity: ['The user is living in Berlin'] })
    await tells({ identity: [HAMBURG] })
    expect(await always()).toEqual([BERLIN, HAMBURG])
  })
})
