/** Whole conversations taken in at once, and stores that fail meanwhile. */
import { describe, expect, it } from 'vitest'
import { createEngineWith } from '../../src/engine/engine.ts'
import {
  type IngestInput,
  ingestConversation,
} from '../../src/learning/distillation/conversation-ingest.ts'
import { distillSession } from '../../src/learning/distillation/distiller.ts'
import type { Change } from '../../src/storage/store.ts'
import { failingAt, interruptedBeforeCommit } from '../fakes/faulty-store.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { memory } from '../fakes/memories.ts'
import {
  answer,
  HOME,
  NEVER,
  type OpenStore,
  openSession,
  placeOf,
  TRIP,
} from './distillation-support.ts'

const ADA = { owner: 'ada' }
const CONVERSATION: IngestInput = {
  ...ADA,
  conversation: 'trip',
  turns: TRIP.map(([user, assistant]) => ({ user, assistant: assistant ?? null })),
  sessionDate: new Date('2023-03-01T12:00:00Z'),
}
const OTHER = {
  user: 'We changed our mind and go to Oslo by train in August instead of Rome.',
  assistant: 'Fine.',
}
const FOUND = answer([{ content: 'The user is vegetarian', turns: [0] }])

export function describeIngesting(name: string, open: OpenStore): void {
  describe(`ingesting ${name}`, () => {
    it('[DI17] keeps a conversation and distils it, at the time when it took place', async () => {
      const session = await openSession(open)
      const model = new ScriptedModel(FOUND)
      const result = await ingestConversation(session.partsWith(model), CONVERSATION, NEVER)
      expect(result).toMatchObject({
        outcome: 'distilled',
        session: 'trip',
        turns: 4,
        signals: 2,
        facts: { created: 1 },
      })
      const turns = await session.turns()
      expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
      expect(new Set(turns.map(({ saidAt }) => saidAt))).toEqual(
        new Set([Date.UTC(2023, 2, 1, 12)]),
      )
      expect(model.lastPrompt).toContain('took place on 2023-03-01')
      const [episode, fact] = await session.memories()
      expect(episode?.id).toBe(result.episode)
      expect([episode?.validFrom, fact?.validFrom]).toEqual(
        turns.slice(0, 2).map(({ saidAt }) => saidAt),
      )
      expect(fact?.provenance.turns).toEqual([turns[0]?.id])
    })

    it('[DI17] changes nothing when it is sent again, dated or not', async () => {
      const session = await openSession(open)
      const model = new ScriptedModel(FOUND)
      const parts = session.partsWith(model)
      const { episode } = await ingestConversation(parts, CONVERSATION, NEVER)
      const before = [await session.turns(), await session.signals(), await session.memories()]
      session.clock.advance(1_000)
      const { sessionDate: _, ...undated } = CONVERSATION
      for (const input of [CONVERSATION, undated]) {
        expect(await ingestConversation(parts, input, NEVER)).toMatchObject({
          outcome: 'no_signals',
          episode,
          turns: 4,
        })
      }
      expect([await session.turns(), await session.signals(), await session.memories()]).toEqual(
        before,
      )
      expect(model.requests).toHaveLength(1)
    })

    it('[DI17] learns from nothing but what was added', async () => {
      const session = await openSession(open)
      const model = new ScriptedModel(
        FOUND,
        answer(['The user goes to Oslo'], { summary: 'Ada goes to Rome, then to Oslo.' }),
      )
      const parts = session.partsWith(model)
      const { episode } = await ingestConversation(parts, CONVERSATION, NEVER)
      const turns = [...CONVERSATION.turns, { ...OTHER, user: `${OTHER.user} And the dog comes.` }]
      expect(await ingestConversation(parts, { ...CONVERSATION, turns }, NEVER)).toMatchObject({
        outcome: 'distilled',
        signals: 1,
        episode,
      })
      expect(model.lastPrompt).not.toContain('vegetarian')
      expect(model.lastPrompt).toContain('Ada planned a trip to Rome.')
      expect(await session.signals()).toHaveLength(3)
    })

    it('[DI22] lists an answer that is added later where it stands in the conversation', async () => {
      const session = await openSession(open)
      const parts = session.partsWith(null)
      const { sessionDate: _, ...undated } = CONVERSATION
      const [first, ...rest] = undated.turns
      const failedSources = { user: first?.user ?? '' }
      await ingestConversation(parts, { ...undated, turns: [failedSources, ...rest] }, NEVER)
      session.clock.advance(1_000)
      await ingestConversation(parts, { ...undated, turns: [...undated.turns, OTHER] }, NEVER)
      const { rows } = await session.store.find('turn', placeOf('trip'), {
        where: {},
        order: 'said',
        limit: 9,
      })
      expect(rows.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5])
    })

    it('[DI17] puts what only the old words said into the bin, and learns from all of the new ones', async () => {
      const session = await openSession(open)
      const both = [0, 2]
      const model = new ScriptedModel(
        answer(
          [
            { content: 'The user is vegetarian', turns: [0] },
            { content: 'The user wants a small hotel near the river', turns: [2] },
            { content: 'The user plans their trip with a sister', turns: both },
          ],
          { decisions: ['A hotel near the river'], identity: ['The user loves rivers'] },
        ),
        answer(
          [
            { content: 'The user is vegetarian', turns: [0] },
            { content: 'The user goes to Oslo by train', turns: [2] },
          ],
          { summary: 'Ada goes to Oslo.', decisions: ['Oslo by train'] },
        ),
      )
      const parts = session.partsWith(model)
      await ingestConversation(parts, CONVERSATION, NEVER)
      const engine = createEngineWith(session.ports)
      const elsewhere = { content: 'The user plans their trip with a sister' }
      await engine.remember(ADA, elsewhere)
      const [first = { user: '' }] = CONVERSATION.turns
      const corrected = { ...CONVERSATION, turns: [first, OTHER] }
      expect(await ingestConversation(parts, corrected, NEVER)).toMatchObject({
        outcome: 'distilled',
        signals: 2,
        turns: 4,
      })
      expect(model.lastPrompt).toContain('vegetarian')
      expect(model.lastPrompt).not.toContain('Ada planned a trip to Rome.')
      const rows = await session.memories()
      const told = (status: string) =>
        rows.filter((memory) => memory.status === status).map(({ content }) => content)
      expect(told('active').sort()).toEqual([
        'Ada goes to Oslo.',
        'The user goes to Oslo by train',
        'The user is vegetarian',
        'The user plans their trip with a sister',
      ])
      expect(told('forgotten').sort()).toEqual([
        'Ada planned a trip to Rome.',
        'The user loves rivers',
        'The user wants a small hotel near the river',
      ])
      const named = (content: string) =>
        rows.find((memory) => memory.content === content && memory.status === 'active')
      expect(named('Ada goes to Oslo.')?.metadata.decisions).toEqual(['Oslo by train'])
      // The same turn says it still, and is no second source.
      expect(named('The user is vegetarian')).toMatchObject({ sourceCount: 1 })
      const [asked] = await session.turns()
      expect(named(elsewhere.content)?.provenance.turns).toEqual([asked?.id])
      const hotel = rows.find(({ content }) => content.includes('small hotel'))
      await engine.undo(ADA, hotel?.change ?? '')
      const binned = (await session.memories()).filter(({ status }) => status === 'forgotten')
      expect(binned.map(({ category }) => category)).toEqual(['episode'])
    })

    it('[DI17] has in force again what gave way to words that were not said after all', async () => {
      const session = await openSession(open)
      const engine = createEngineWith(session.ports)
      const berlin = "The user's favourite city is Berlin"
      const { memory: known } = await engine.remember(ADA, {
        content: berlin,
        observedAt: Date.UTC(2023, 0, 1),
      })
      const model = new ScriptedModel(
        answer([{ content: "The user's favourite city is Munich", turns: [2] }]),
        answer([]),
      )
      const parts = session.partsWith(model)
      const [trip, hotel = { user: '' }] = CONVERSATION.turns
      const turns = [trip, { ...hotel, user: `${hotel.user} My favourite city is Munich.` }]
      const said = { ...CONVERSATION, turns: turns.filter((turn) => turn !== undefined) }
      expect(await ingestConversation(parts, said, NEVER)).toMatchObject({
        facts: { superseded: 1 },
      })
      const [first = { user: '' }] = CONVERSATION.turns
      await ingestConversation(parts, { ...CONVERSATION, turns: [first, OTHER] }, NEVER)
      expect(await engine.get(ADA, known.id)).toMatchObject({
        content: berlin,
        status: 'active',
        supersededBy: null,
        validUntil: null,
      })
    })

    it('[DI17] takes back more than fits into one commit', async () => {
      const session = await openSession(open)
      const turns = Array.from({ length: 500 }, (_, at) => ({
        user: `Entry ${at}: we were in room ${at} of a very large hotel.`,
        assistant: 'Yes.',
      }))
      const long = { ...CONVERSATION, turns }
      await ingestConversation(session.partsWith(null), long, NEVER)
      const [asked] = await session.turns()
      const learned = Array.from({ length: 450 }, (_, at) =>
        memory({
          content: `The user slept in room ${at}`,
          place: placeOf('trip'),
          provenance: {
            ...{ source: 'distillation', extractor: 'distillation', extractorVersion: '1' },
            ...{ speaker: 'user', turns: asked === undefined ? [] : [asked.id] },
          },
        }),
      )
      await session.base.commit(
        learned.map((row): Change => ({ op: 'put', table: 'memory', row, expect: 'absent' })),
      )
      const other = turns.map(({ user }) => ({ user: `${user} Really.`, assistant: 'No.' }))
      await ingestConversation(session.partsWith(null), { ...long, turns: other }, NEVER)
      const where = { statuses: ['active'] } as const
      expect((await session.base.find('memory', HOME, { where, limit: 9 })).rows).toEqual([])
    })

    it('[DI17] takes back what was learned from what is no longer sent, also without a model', async () => {
      const session = await openSession(open)
      const model = new ScriptedModel(
        answer([{ content: 'The user wants a small hotel', turns: [2] }]),
      )
      await ingestConversation(session.partsWith(model), CONVERSATION, NEVER)
      const at = session.clock.advance(1_000)
      const turns = CONVERSATION.turns.slice(0, 1)
      const result = await ingestConversation(
        session.partsWith(null),
        { ...CONVERSATION, turns },
        NEVER,
      )
      expect(result).toMatchObject({ outcome: 'skipped:no_model', pending: 1, turns: 2 })
      const rows = (await session.memories()).filter((each) => each.createdAt < at)
      expect(rows.map(({ status }) => status)).toEqual(['forgotten', 'forgotten'])
      expect(await session.turns()).toHaveLength(2)
      expect(await session.signals()).toHaveLength(1)
    })

    it('[DI17] leaves what was learned alone where only what was said is to be replaced, and learns from it later', async () => {
      const session = await openSession(open)
      const parts = session.partsWith(new ScriptedModel(FOUND))
      await ingestConversation(parts, CONVERSATION, NEVER)
      const [first = { user: '' }] = CONVERSATION.turns
      const corrected = { ...CONVERSATION, turns: [first, OTHER] }
      await ingestConversation(parts, { ...corrected, skipExtraction: true }, NEVER)
      expect((await session.memories()).map(({ status }) => status)).toEqual(['active', 'active'])
      expect(await ingestConversation(parts, corrected, NEVER)).toMatchObject({ signals: 1 })
    })

    it('[DI17] leaves alone what was recorded of the same session in another way', async () => {
      const session = await openSession(open)
      await session.say([['Something that was said through the gateway.', 'Yes.']])
      const parts = session.partsWith(null)
      expect(await ingestConversation(parts, CONVERSATION, NEVER)).toMatchObject({
        outcome: 'skipped:no_model',
        turns: 4,
      })
      await ingestConversation(parts, { ...CONVERSATION, turns: [] }, NEVER)
      expect(await session.turns()).toHaveLength(2)
      expect(await session.signals()).toHaveLength(1)
    })

    it('[DI17] takes in five hundred exchanges at once, and others in their place', async () => {
      const session = await openSession(open)
      const model = new ScriptedModel(FOUND)
      for (const word of ['tea', 'rye']) {
        const turns = Array.from({ length: 500 }, (_, at) => ({
          user: `${word} ${at}`,
          assistant: 'Yes.',
        }))
        const result = await ingestConversation(
          session.partsWith(model),
          { ...CONVERSATION, turns },
          NEVER,
        )
        expect(result).toMatchObject({ outcome: 'distilled', turns: 1_000, signals: 500 })
        expect(model.lastPrompt).toContain('[920 turns left out here]')
        expect(model.lastPrompt).toContain(`>${word} 499</turn>`)
      }
      const [episode] = await session.memories()
      expect(episode?.provenance.turns).toHaveLength(256)
    })

    it('[DI17] only keeps what was said where nothing is to be learned, until it is', async () => {
      const session = await openSession(open)
      const parts = session.partsWith(new ScriptedModel(FOUND))
      const skipping = { ...CONVERSATION, skipExtraction: true }
      expect(await ingestConversation(parts, skipping, NEVER)).toMatchObject({
        outcome: 'skipped:extraction',
        turns: 4,
      })
      expect(await session.signals()).toEqual([])
      expect(await ingestConversation(parts, CONVERSATION, NEVER)).toMatchObject({
        outcome: 'distilled',
      })
    })

    it('[DI17] gives a conversation that failed too often another chance', async () => {
      const session = await openSession(open)
      const broken = session.partsWith(new ScriptedModel('no'))
      for (const outcome of ['error:bad_answer', 'error:bad_answer', 'dead_letter:2']) {
        expect((await ingestConversation(broken, CONVERSATION, NEVER)).outcome).toBe(outcome)
      }
      const parts = session.partsWith(new ScriptedModel(FOUND))
      expect((await distillSession(parts, placeOf('trip'), NEVER)).outcome).toBe('no_signals')
      expect((await ingestConversation(parts, CONVERSATION, NEVER)).outcome).toBe('distilled')
    })

    it('[DI17] takes no blocks of memories for words, and nothing that nobody said', async () => {
      const session = await openSession(open)
      const block = '<recollect-memory note="x">\n- I like tea (2024-01-01)\n</recollect-memory>'
      const turns = [
        { user: `${block}\n\nHello.` },
        { user: ' ', assistant: 'x' },
        { user: 'Bye.', assistant: '' },
      ]
      expect(
        await ingestConversation(session.partsWith(null), { ...CONVERSATION, turns }, NEVER),
      ).toMatchObject({ turns: 2 })
      expect((await session.turns()).map(({ content }) => content)).toEqual(['Hello.', 'Bye.'])
    })

    it.each([
      ['too many turns', { turns: Array(501).fill({ user: 'x' }) }],
      ['turns that are none', { turns: [{ user: 5 }] as never }],
      ['a bad date', { sessionDate: Number.NaN }],
      ['no name', { conversation: '' }],
      ['a reserved owner', { owner: '@system' }],
    ])('[DI17] refuses %s', async (_, fields) => {
      const session = await openSession(open)
      const input = { ...CONVERSATION, ...fields }
      await expect(ingestConversation(session.partsWith(null), input, NEVER)).rejects.toMatchObject(
        {
          code: 'invalid_input',
        },
      )
    })

    it('[DI17] arms whatever goes on with it in the same commit', async () => {
      const session = await openSession(open)
      const arming = async (): Promise<readonly Change[]> => [
        { op: 'check', table: 'entry', scope: HOME, id: 'job_x' as never, expect: 'absent' },
      ]
      const commits: (readonly Change[])[] = []
      const store = {
        ...session.base,
        commit: (changes: readonly Change[]) => {
          commits.push(changes)
          return session.base.commit(changes)
        },
      }
      const parts = {
        ...session.partsWith(null),
        ports: { ...session.ports, store },
        buildJobChanges: arming,
      }
      await ingestConversation(parts, CONVERSATION, NEVER)
      const [first = []] = commits
      expect(first.some((each) => each.op === 'put' && each.table === 'turn')).toBe(true)
      expect(first.filter(({ op }) => op === 'check')).toHaveLength(1)
    })
  })

  describe(`distillation ${name}, disturbed`, () => {
    const facts = [
      { content: "The user's favourite city is Munich", turns: [0] },
      { content: 'The user likes tea', turns: [2] },
    ]
    const model = () => new ScriptedModel(answer(facts, { identity: ['The user is a baker'] }))

    async function live(plan: { readonly call: number; readonly when: 'before' | 'after' }) {
      const session = await openSession(open)
      await createEngineWith(session.ports).remember(ADA, {
        content: "The user's favourite city is Berlin",
      })
      await session.say(TRIP)
      const store = failingAt(session.base, plan)
      const ports = { ...session.ports, store }
      const outcomes: string[] = []
      for (
        let run = 0;
        run < 3 && outcomes.at(-1) !== 'distilled' && outcomes.at(-1) !== 'no_signals';
        run++
      ) {
        const parts = { ...session.partsWith(model()), ports }
        outcomes.push((await distillSession(parts, placeOf('trip'), NEVER)).outcome)
        const statuses = (await session.signals()).map(({ status }) => status)
        const stored = (await session.memories()).length
        // What is stored is told, also where the answer of the store was lost.
        if (stored > 1) expect(outcomes.at(-1), `call ${plan.call}`).toBe('distilled')
        // All or nothing.
        expect([statuses, stored], `call ${plan.call}`).toEqual(
          stored === 1 ? [['pending', 'pending'], 1] : [['processed', 'processed'], 5],
        )
      }
      const memories = (await session.memories()).map(
        ({ content, status, sourceCount, category }) =>
          `${category} ${status} ${sourceCount} ${content}`,
      )
      return { memories: memories.sort(), outcomes, calls: store.calls() }
    }

    it.each(['before', 'after'] as const)(
      '[DI18] stores all or nothing when a call of the store fails %s its effect, and completes when done again',
      async (when) => {
        const undisturbed = await live({ call: 0, when })
        expect(undisturbed.outcomes).toEqual(['distilled'])
        expect(undisturbed.calls).toBeGreaterThan(15)
        for (let call = 1; call <= undisturbed.calls; call++) {
          const { memories, outcomes } = await live({ call, when })
          expect(memories, `call ${call}`).toEqual(undisturbed.memories)
          expect(outcomes.at(-1), `call ${call}`).toMatch(/^(distilled|no_signals)$/)
        }
      },
    )

    it('[DI18] decides again when something is changed right before the commit', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const engine = createEngineWith(session.ports)
      const { memory } = await engine.remember(ADA, {
        content: 'The user likes tea',
        observedAt: 1_000,
      })
      const store = interruptedBeforeCommit(session.base, async () => {
        await engine.edit(ADA, memory.id, { importance: 9 })
      })
      const parts = { ...session.partsWith(model()), ports: { ...session.ports, store } }
      expect((await distillSession(parts, placeOf('trip'), NEVER)).outcome).toBe('distilled')
      const tea = await engine.get(ADA, memory.id)
      expect(tea).toMatchObject({ importance: 9, sourceCount: 2 })
    })

    it('[DI18] does not bring back what is forgotten right before the commit', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const engine = createEngineWith(session.ports)
      const store = interruptedBeforeCommit(session.base, async () => {
        const { memory } = await engine.remember(ADA, { content: 'The user likes tea' })
        await engine.forget(ADA, memory.id)
      })
      const parts = { ...session.partsWith(model()), ports: { ...session.ports, store } }
      const result = await distillSession(parts, placeOf('trip'), NEVER)
      expect(result).toMatchObject({ outcome: 'distilled', facts: { created: 1, refused: 1 } })
    })
  })
}
