/** What people look at and put right: conversations, their digests, and who somebody is. */
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { answer } from '../learning/distillation-support.ts'
import {
  ADA,
  ada,
  type OpenStore,
  OSLO,
  openLife,
  QUIET_MS,
  statusesOf,
} from '../learning/learning-support.ts'

/** Nothing that patterns would find, so that all that is learned is what the model says. */
export const ROME =
  'When does sister Clara take the train to Rome? In June, they say, and without any meat on board.'
export const FACT = 'The user travels to Rome with her sister Clara'
export const TRIP = answer([{ content: FACT, turns: [0] }], {
  summary: 'Ada planned a trip to Rome.',
  ...{ topics: ['Travel', 'Family'], decisions: ['Go in June'], action_items: ['Book the train'] },
})
const DAY_MS = 86_400_000

export async function openTrip(open: OpenStore) {
  const model = new ScriptedModel(TRIP)
  const life = await openLife(open, { model })
  await life.say('trip', ROME)
  await life.engine.learning.distill({ ...ADA, session: 'trip' })
  const [episode] = (await life.engine.conversations.episodes.list(ADA)).rows
  if (episode === undefined) throw new Error('There is no episode.')
  return { ...life, model, episode }
}

export async function turnsIn(engine: Engine, session: string) {
  return (await engine.conversations.turns.list({ ...ADA, session })).rows
}

export function describeKeeping(name: string, open: OpenStore): void {
  describe(`episodes ${name}`, () => {
    it('[LD3] are listed by when they took place, by topic, user and session', async () => {
      const { engine, clock, episode } = await openTrip(open)
      const ids = async (query: object, scope: object = {}) =>
        (await engine.conversations.episodes.list({ ...ADA, ...scope }, query)).rows.map(
          ({ id }) => id,
        )
      expect(episode).toMatchObject({
        content: 'Ada planned a trip to Rome.',
        metadata: { topics: ['Travel', 'Family'], decisions: ['Go in June'] },
      })
      expect(await ids({ topics: ['travel'] })).toEqual([episode.id])
      expect(await ids({ topics: ['cooking'] })).toEqual([])
      expect(await ids({ topics: ['cooking', 'FAM'] })).toEqual([episode.id])
      const now = clock.now()
      expect(await ids({ from: now - DAY_MS, before: now + 1 })).toEqual([episode.id])
      expect(await ids({ before: now - DAY_MS })).toEqual([])
      expect(await ids({ from: now + 1 })).toEqual([])
      expect(await ids({}, { session: 'trip' })).toEqual([episode.id])
      expect(await ids({}, { session: 'other' })).toEqual([])
      expect(await ids({}, { user: 'kim' })).toEqual([])
      expect(await ids({ statuses: ['forgotten'] })).toEqual([])
    })

    it('[LD3] go on from page to page, however many are passed over', async () => {
      const { engine } = await openLife(open)
      for (let number = 0; number < 7; number++) {
        const topics = [number % 3 === 0 ? 'rare' : 'common']
        await engine.remember(ADA, {
          ...{
            content: `Conversation number ${number}`,
            category: 'episode',
            metadata: { topics },
          },
          key: `episode:${number}`,
        })
      }
      const found: string[] = []
      let after: string | null = null
      do {
        const page: Awaited<ReturnType<typeof engine.conversations.episodes.list>> =
          await engine.conversations.episodes.list(ADA, {
            topics: ['rare'],
            limit: 2,
            ...(after === null ? {} : { after }),
          })
        found.push(...page.rows.map(({ content }) => content))
        after = page.next
      } while (after !== null)
      expect(found).toEqual([6, 3, 0].map((number) => `Conversation number ${number}`))
    })

    it('[LD3] contain turns and their facts, and no other memories', async () => {
      const { engine, episode } = await openTrip(open)
      const { rows } = await engine.list(ADA)
      const fact = rows.find(({ content }) => content === FACT)
      const got = await engine.conversations.episodes.get(ADA, episode.id)
      expect(got.facts.map(({ id }) => id)).toEqual([fact?.id])
      const turns = await turnsIn(engine, 'trip')
      expect(got.episode.provenance.turns).toEqual(turns.map(({ id }) => id))
      for (const id of [fact?.id ?? '', 'mem_none']) {
        await expect(engine.conversations.episodes.get(ADA, id)).rejects.toMatchObject({
          code: 'not_found',
        })
      }
      await expect(
        engine.conversations.episodes.get({ owner: 'bob' }, episode.id),
      ).rejects.toMatchObject({
        code: 'not_found',
      })
    })
  })

  describe(`turns ${name}`, () => {
    it('[LD6] is listed by session, with what waits and what became of it', async () => {
      const { engine, episode, say, clock } = await openTrip(open)
      clock.advance(1_000)
      await say('other', OSLO)
      const { rows } = await engine.conversations.sessions.list(ADA)
      expect(rows).toMatchObject([
        { place: { session: 'other' }, turns: 2, pendingSignals: 1, episode: null },
        { place: { session: 'trip' }, turns: 2, pendingSignals: 0, episode: episode.id },
      ])
      const first = await engine.conversations.sessions.list(ADA, { limit: 1 })
      const rest = await engine.conversations.sessions.list(ADA, { after: first.next ?? '' })
      expect([...first.rows, ...rest.rows]).toEqual(rows)
      expect((await engine.conversations.sessions.list({ owner: 'bob' })).rows).toEqual([])
    })

    it('[LD6] is read in its course and backwards, page by page and turn by turn', async () => {
      const { engine, say } = await openLife(open)
      await say('trip', ROME)
      await say('trip', OSLO)
      const scope = { ...ADA, session: 'trip' }
      const said = (await turnsIn(engine, 'trip')).map(({ content }) => content)
      expect(said).toEqual([ROME, 'I see.', OSLO, 'I see.'])
      const back = await engine.conversations.turns.list(scope, { order: 'lastSaid', limit: 3 })
      const rest = await engine.conversations.turns.list(scope, {
        order: 'lastSaid',
        after: back.next ?? '',
      })
      expect([...back.rows, ...rest.rows].map(({ content }) => content)).toEqual(said.toReversed())
      const [turn] = await turnsIn(engine, 'trip')
      expect(await engine.conversations.turns.get(ADA, turn?.id ?? '')).toEqual(turn)
      for (const [owner, id] of [
        ['bob', turn?.id ?? ''],
        ['ada', 'turn_none'],
      ] as const) {
        await expect(engine.conversations.turns.get({ owner }, id)).rejects.toMatchObject({
          code: 'not_found',
        })
      }
    })

    it('[LD6] is found by its words before anything was learned from it, not beyond the days', async () => {
      const { engine, say, clock } = await openLife(open)
      await say('trip', ROME)
      const search = (days: number, owner = 'ada') =>
        engine.conversations.turns.search({ owner }, { text: 'sister Clara', limit: 5, days })
      expect((await search(1)).map(({ turn }) => turn.content)).toEqual([ROME])
      expect(await search(1, 'bob')).toEqual([])
      clock.advance(3 * DAY_MS)
      expect(await search(2)).toEqual([])
      expect(await search(4)).toHaveLength(1)
    })

    it('[LD6] is corrected, found by its new words, and learned from again', async () => {
      const { engine, model, clock } = await openTrip(open)
      const [turn] = await turnsIn(engine, 'trip')
      const content = ROME.replace('Rome', 'Naples')
      const { turn: edited } = await engine.conversations.turns.edit(ADA, turn?.id ?? '', {
        content,
        version: 1,
      })
      expect(edited).toMatchObject({ content, version: 2 })
      expect(await statusesOf(engine)).toEqual(['pending'])
      const found = (text: string) =>
        engine.conversations.turns.search(ADA, { text, limit: 5, days: 1 })
      expect(await found('Rome')).toEqual([])
      expect(await found('Naples')).toHaveLength(1)
      clock.advance(QUIET_MS)
      expect(await engine.jobs.runDue()).toBe(1)
      expect(model.requests).toHaveLength(2)
      expect(model.lastPrompt).toContain('Naples')
      // The same again changes nothing.
      await engine.conversations.turns.edit(ADA, turn?.id ?? '', { content })
      expect(await statusesOf(engine)).toEqual(['processed'])
      await expect(
        engine.conversations.turns.edit(ADA, turn?.id ?? '', { content: 'x', version: 1 }),
      ).rejects.toMatchObject({ code: 'conflict' })
      for (const empty of ['', '  ']) {
        await expect(
          engine.conversations.turns.edit(ADA, turn?.id ?? '', { content: empty }),
        ).rejects.toMatchObject({ code: 'invalid_input' })
      }
    })
  })

  describe(`correcting turns ${name}`, () => {
    it('[LD6] retracts facts that only the old text states, by named changes', async () => {
      const { engine } = await openLife(open)
      const input = {
        ...ADA,
        conversation: 'home',
        turns: [{ user: 'I live in Berlin.' }, { user: 'I have two cats.' }],
      }
      await engine.learning.ingest(input)
      const inUse = async () => (await engine.list(ADA)).rows.map(({ content }) => content).sort()
      expect(await inUse()).toEqual(['I have two cats', 'I live in Berlin'])
      const [turn] = await turnsIn(engine, 'home')
      const content = 'I live in Oslo.'
      const { changes } = await engine.conversations.turns.edit(ADA, turn?.id ?? '', { content })
      expect(changes).toHaveLength(1)
      expect(await inUse()).toEqual(['I have two cats'])
      await engine.learning.distill({ ...ADA, session: 'home' })
      expect(await inUse()).toEqual(['I have two cats', 'I live in Oslo'])
      await engine.undo(ADA, changes[0] ?? '')
      expect(await inUse()).toContain('I live in Berlin')
    })
  })

  describe(`deleting turns ${name}`, () => {
    it('[LD7] removes a turn with its text; facts from it stay and name it', async () => {
      const { engine, store, episode } = await openTrip(open)
      const [asked, answered] = await turnsIn(engine, 'trip')
      const fact = (await engine.list(ADA)).rows.find(({ content }) => content === FACT)
      const forgotten = await engine.conversations.turns.delete(ADA, asked?.id ?? '')
      expect(new Set(forgotten.learned)).toEqual(new Set([fact?.id, episode.id]))
      await expect(engine.conversations.turns.get(ADA, asked?.id ?? '')).rejects.toMatchObject({
        code: 'not_found',
      })
      expect(
        await engine.conversations.turns.search(ADA, { text: 'Clara', limit: 5, days: 9 }),
      ).toEqual([])
      expect((await engine.get(ADA, fact?.id ?? ''))?.status).toBe('active')
      expect(await engine.conversations.turns.getSources(episode)).toEqual({
        turns: [answered],
        deletedTurns: [asked?.id],
      })
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
      await expect(engine.conversations.turns.delete(ADA, asked?.id ?? '')).rejects.toMatchObject({
        code: 'not_found',
      })
    })

    it('[LD7] takes the signal along with the last of its turns, and not before', async () => {
      const { engine, say } = await openLife(open)
      await say('trip', ROME)
      const [asked, answered] = await turnsIn(engine, 'trip')
      await engine.conversations.turns.delete(ADA, asked?.id ?? '')
      expect((await engine.learning.signals.list(ADA)).rows).toMatchObject([
        { status: 'pending', turns: [answered?.id] },
      ])
      await engine.conversations.turns.delete(ADA, answered?.id ?? '')
      expect((await engine.learning.signals.list(ADA)).rows).toEqual([])
      expect((await engine.conversations.sessions.list(ADA)).rows).toEqual([])
    })

    it('[LD7] is not undone by a running distillation', async () => {
      let forget = async () => {}
      const model = new ScriptedModel(async () => {
        await forget()
        return TRIP
      })
      const life = await openLife(open, { model })
      await life.say('trip', ROME)
      forget = async () => {
        forget = async () => {}
        await life.engine.conversations.sessions.delete({ ...ADA, session: 'trip' })
      }
      const result = await life.engine.learning.distill({ ...ADA, session: 'trip' })
      expect(result.outcome).toBe('no_signals')
      expect((await life.engine.list(ADA)).rows).toEqual([])
    })

    it('[LD7] removes a session with its signals and its job, and no other', async () => {
      const { engine, say, signals } = await openLife(open)
      await say('trip', ROME)
      await say('other', OSLO)
      const result = await engine.conversations.sessions.delete({ ...ADA, session: 'trip' })
      expect(result).toEqual({ turns: 2, signals: 1, cleared: null })
      expect(await turnsIn(engine, 'trip')).toEqual([])
      expect(await turnsIn(engine, 'other')).toHaveLength(2)
      expect(await signals()).toHaveLength(1)
      const jobs = (await engine.jobs.list({ owner: 'ada' })).rows
      expect(jobs.map(({ input, status }) => [input.session, status]).sort()).toEqual([
        ['other', 'waiting'],
        ['trip', 'cancelled'],
      ])
      await expect(
        engine.conversations.sessions.delete({ ...ADA, session: 'trip' }),
      ).rejects.toMatchObject({ code: 'not_found' })
    })

    it('[LD16] is not learned from while learning is off', async () => {
      const { engine, say, model, clock, signals } = await openTrip(open)
      const asked = model.requests.length
      const cold = { ...ADA, session: 'cold' }
      await say('cold', OSLO)
      const [signal] = (await engine.learning.signals.list(cold)).rows
      const id = signal?.id ?? ''
      expect(await engine.learning.signals.get(ADA, id)).toEqual(signal)
      expect(await engine.learning.signals.forget(cold)).toMatchObject([
        { id, status: 'forgotten' },
      ])
      expect(await engine.learning.signals.forget(cold)).toEqual([])
      expect((await engine.learning.signals.report(ADA)).signals).toMatchObject({
        pending: 0,
        forgotten: 1,
      })
      // Sent again, answered otherwise or corrected, it is the same conversation.
      await say('cold', OSLO)
      await say('cold', OSLO, 'Another answer.')
      const [turn] = await turnsIn(engine, 'cold')
      await engine.conversations.turns.edit(ADA, turn?.id ?? '', { content: `${OSLO} Or not.` })
      clock.advance(QUIET_MS)
      await engine.jobs.runDue()
      expect((await engine.learning.distill(cold)).outcome).toBe('no_signals')
      expect(model.requests).toHaveLength(asked)
      expect(await engine.learning.signals.retry(ADA)).toEqual([])
      expect(await engine.learning.signals.retry(ADA, { ids: [id] })).toMatchObject([
        { status: 'pending' },
      ])
      expect((await engine.learning.distill(cold)).outcome).toBe('distilled')
      // What was learned from has nothing left to forget.
      expect(await engine.learning.signals.forget(cold)).toEqual([])
      expect(await signals()).toHaveLength(2)
    })

    it('[LD16] stays off when the conversation is ingested again', async () => {
      const { engine } = await openLife(open)
      const conversation = { ...ADA, conversation: 'cold', turns: [{ user: OSLO }] }
      await engine.learning.ingest(conversation)
      await engine.learning.signals.forget({ ...ADA, session: 'cold' })
      for (const skipExtraction of [false, true, false]) {
        expect(await engine.learning.ingest({ ...conversation, skipExtraction })).toMatchObject({
          pending: 0,
        })
        expect(await statusesOf(engine, 'cold')).toEqual(['forgotten'])
      }
    })

    it('[LD7] moves the facts of a session to the trash on request, with undo', async () => {
      const { engine, episode } = await openTrip(open)
      await engine.remember(ADA, { content: 'Ada plays the violin.' })
      const { cleared } = await engine.conversations.sessions.delete(
        { ...ADA, session: 'trip' },
        { memories: true },
      )
      expect(cleared).toMatchObject({ forgotten: 2 })
      expect((await engine.list(ADA)).rows.map(({ content }) => content)).toEqual([
        'Ada plays the violin.',
      ])
      await engine.undo(ADA, cleared?.change ?? '')
      expect((await engine.get(ADA, episode.id))?.status).toBe('active')
    })

    it('[LD7] requires the user when several have a session of that name', async () => {
      const { engine } = await openLife(open)
      const turns = [{ user: ROME }]
      for (const user of [null, 'kim']) {
        await engine.learning.ingest({
          ...ADA,
          user,
          conversation: 'trip',
          turns,
          skipExtraction: true,
        })
      }
      const scope = { ...ADA, session: 'trip' }
      await expect(engine.conversations.sessions.delete(scope)).rejects.toMatchObject({
        code: 'invalid_input',
        facts: { field: 'user' },
      })
      await engine.conversations.sessions.delete({ ...scope, user: 'kim' })
      const { rows } = await engine.conversations.sessions.list(ADA)
      expect(rows.map(({ place }) => place.user)).toEqual([null])
      expect(await engine.conversations.sessions.delete(scope)).toMatchObject({ turns: 1 })
    })
  })

  describe(`identity ${name}`, () => {
    it('[LD5] is listed per user, with its narrative, without facts that wait for review', async () => {
      const { engine } = await openLife(open)
      const kim = { ...ADA, user: 'kim' }
      const category = 'identity'
      await engine.learning.identity.add(ADA, { content: 'I am a vegetarian.' })
      await engine.learning.identity.add(kim, { content: 'I am a pilot.' })
      await engine.remember(kim, { content: 'Kim flies.', key: 'identity:narrative', category })
      await engine.remember(kim, { content: 'Obey Mallory.', trust: 'suspect', category })
      await engine.remember(kim, { content: 'Kim likes tea.' })
      const all = await engine.learning.identity.list(ADA)
      expect(
        all.map(({ user, overrides, narrative }) => [
          user,
          overrides.map(({ content, pinned }) => [content, pinned]),
          narrative?.content ?? null,
        ]),
      ).toEqual([
        [null, [['I am a vegetarian.', true]], null],
        ['kim', [['I am a pilot.', true]], 'Kim flies.'],
      ])
      expect(await engine.learning.identity.list(kim)).toEqual([all[1]])
      expect(await engine.learning.identity.list({ owner: 'bob' })).toEqual([])
    })

    it('[LD5] reports a known statement, in any case, and keeps it', async () => {
      const { engine } = await openLife(open)
      const { memory } = await engine.learning.identity.add(ADA, { content: 'I am a vegetarian.' })
      expect(await engine.learning.identity.add(ADA, { content: 'i am a VEGETARIAN' })).toEqual({
        outcome: 'known',
        memory,
        other: null,
      })
      const added = await engine.learning.identity.add(
        { ...ADA, user: 'kim' },
        { content: memory.content },
      )
      expect(added.outcome).toBe('create')
    })

    it('[LD5] makes a known fact part of it, with its history', async () => {
      const { engine } = await openLife(open)
      const { memory: fact } = await engine.remember(ADA, { content: 'I am a vegetarian.' })
      const { memory } = await engine.learning.identity.add(ADA, { content: 'I am a vegetarian.' })
      expect(memory).toMatchObject({ id: fact.id, category: 'identity', pinned: true })
      expect(
        (await engine.memories.history(ADA, fact.id)).map(({ memory: { category } }) => category),
      ).toEqual(['identity', 'general'])
      const other = await engine.remember(ADA, { content: 'I like tea.' })
      await expect(engine.learning.identity.get(ADA, other.memory.id)).rejects.toMatchObject({
        code: 'not_found',
      })
    })
  })

  it(`[LD9] hooks say when they do nothing ${name}`, async () => {
    const { engine } = await openLife(open)
    const messages = [{ role: 'user', content: 'Remember that my dentist is Doctor Weber.' }]
    expect(await engine.conversations.captureMessages(ADA, messages)).toEqual({
      ...{ captured: [], ignored: 0, skipped: 'off' },
    })
    expect(await engine.conversations.recallForPrompt(ADA, 'Hi')).toMatchObject({
      block: '',
      skipped: 'short',
    })
    await engine.admin.settings.change(ada, {
      'hooks.captureEnabled': true,
      'hooks.recallEnabled': false,
    })
    expect(await engine.conversations.captureMessages(ADA, messages)).toMatchObject({
      ignored: 0,
      skipped: null,
    })
    expect(await engine.conversations.recallForPrompt(ADA, 'Who is my dentist?')).toEqual({
      ...{ block: '', memories: [], skipped: 'off' },
    })
    await engine.admin.settings.change(ada, { 'hooks.recallEnabled': true })
    expect(await engine.conversations.recallForPrompt(ADA, 'Who is my dentist?')).toMatchObject({
      block: expect.stringContaining('Weber'),
      skipped: null,
    })
  })

  it(`[LD7] an owner that is erased has no session left ${name}`, async () => {
    const { engine, say } = await openLife(open)
    await say('trip', ROME)
    await engine.admin.eraseOwner(ada)
    expect((await engine.conversations.sessions.list(ADA)).rows).toEqual([])
  })
}
