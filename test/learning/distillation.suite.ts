/** What distillation promises, on any store. */
import { describe, expect, it } from 'vitest'
import { distillSession } from '../../src/learning/distillation/distiller.ts'
import { listSignals, retrySignals } from '../../src/learning/signals.ts'
import { AppError } from '../../src/lib/errors.ts'
import { undoChange } from '../../src/memory/undo.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import {
  answer,
  HOME,
  NEVER,
  type OpenStore,
  openSession,
  placeOf,
  recording,
  signalNamed,
  TRIP,
  turnNamed,
} from './distillation-support.ts'

export function describeDistillation(name: string, open: OpenStore): void {
  describe(`distillation ${name}`, () => {
    it('[DI9] stores episode, facts and identity with their sources, and marks the signals, in one commit', async () => {
      let commits = 0
      const session = await openSession(open, (store) => ({
        ...store,
        commit: (changes) => {
          commits++
          return store.commit(changes)
        },
      }))
      await session.say(TRIP)
      const model = new ScriptedModel({
        episode: {
          summary: 'Ada planned a trip to Rome with Clara.',
          topics: ['travel'],
          entities: ['Rome', 'Clara'],
          decisions: ['Go in June'],
          actionItems: ['Find a hotel'],
          salience: 0.7,
        },
        facts: [
          {
            content: 'The user travels to Rome in June 2024',
            category: 'event',
            importance: 6,
            entities: ['Rome'],
            validFrom: '2024-06-01',
            validUntil: '2024-06-30',
            turns: [0],
          },
          {
            content: 'The user likes small hotels near a river',
            category: 'preference',
            turns: [2],
          },
        ],
        identity: ['The user is vegetarian'],
      })
      const result = await session.distil(model)
      const [episode, trip, hotels, identity] = await session.memories()
      expect(commits).toBe(1)
      expect(result).toMatchObject({
        outcome: 'distilled',
        episode: episode?.id,
        change: episode?.change,
        facts: { created: 2, suspect: 0 },
        identity: 1,
        signals: 2,
        pending: 0,
        tokens: { input: 100, output: 10 },
      })
      const all = [0, 1].flatMap((at) => [turnNamed(at, 'user'), turnNamed(at, 'assistant')])
      expect(episode).toMatchObject({
        content: 'Ada planned a trip to Rome with Clara.',
        place: placeOf('trip'),
        category: 'episode',
        type: 'episodic',
        salience: 0.7,
        entities: ['Rome', 'Clara'],
        metadata: { topics: ['travel'], decisions: ['Go in June'], actionItems: ['Find a hotel'] },
        validFrom: Date.UTC(2024, 4, 31, 10, 0, 1),
        provenance: { turns: all, extractor: 'distillation', extractorVersion: '2' },
      })
      expect(trip).toMatchObject({
        category: 'event',
        type: 'episodic',
        importance: 6,
        trust: 'user',
        place: placeOf('trip'),
        validFrom: Date.UTC(2024, 5, 1),
        validUntil: Date.UTC(2024, 6, 1),
        provenance: { turns: [turnNamed(0, 'user')], speaker: 'user', extractorVersion: '2' },
      })
      expect(hotels?.provenance.turns).toEqual([turnNamed(1, 'user')])
      expect(identity).toMatchObject({ category: 'identity', pinned: true, trust: 'user' })
      for (const memory of [trip, hotels, identity]) expect(memory?.change).toBe(result.change)
      const signals = await session.signals()
      expect(signals.map(({ status }) => status)).toEqual(['processed', 'processed'])
      expect(signals.map(({ change }) => change)).toEqual([result.change, result.change])
    })

    it('[DI9] can be undone, and what was undone is not distilled again from the same turns', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const model = new ScriptedModel(
        answer([{ content: 'The user likes tea', turns: [0] }], { identity: ['The user is Ada'] }),
      )
      const { change } = await session.distil(model)
      session.clock.advance(1_000)
      await undoChange(session.ports, HOME, change ?? ('chg_x' as never))
      expect((await session.memories()).map(({ status }) => status)).toEqual([
        'forgotten',
        'forgotten',
        'forgotten',
      ])
      for (const [at, signal] of (await session.signals()).entries()) {
        const again = recording(TRIP[at] ?? ['x'], at, 'trip', signal.createdAt, signal)
        await session.base.commit(again)
      }
      const again = await session.distil(model)
      expect(again).toMatchObject({
        outcome: 'distilled',
        episode: null,
        change: null,
        facts: { refused: 1, created: 0 },
      })
      expect((await session.memories()).every(({ status }) => status === 'forgotten')).toBe(true)
    })

    it('[DI10] tells that there is nothing to distil, and which episode there is', async () => {
      const session = await openSession(open)
      const model = new ScriptedModel(answer([]))
      expect(await session.distil(model)).toMatchObject({ outcome: 'no_signals', episode: null })
      await session.say(TRIP)
      const { episode } = await session.distil(model)
      expect(await session.distil(model)).toMatchObject({ outcome: 'no_signals', episode })
      expect(model.requests).toHaveLength(1)
    })

    it('[DI10] asks no model about a few words, and does not keep them waiting', async () => {
      const session = await openSession(open)
      await session.say([['Hello!', 'Hi.']])
      const model = new ScriptedModel(answer([]))
      expect(await session.distil(model)).toMatchObject({
        outcome: 'skipped:low_novelty',
        signals: 1,
      })
      expect(model.requests).toEqual([])
      expect(await session.signals()).toMatchObject([{ status: 'processed', change: null }])
    })

    it('[DI10] tells that a model found nothing', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const result = await session.distil(
        new ScriptedModel('Nothing here: {"episode": null, "facts": []}'),
      )
      expect(result).toMatchObject({ outcome: 'empty:nothing', change: null, signals: 2 })
      expect(await session.memories()).toEqual([])
      expect((await session.signals()).map(({ status }) => status)).toEqual([
        'processed',
        'processed',
      ])
    })

    it('[DI10] keeps facts of an answer without an episode', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const result = await session.distil(
        new ScriptedModel(answer(['The user likes tea'], { summary: '' })),
      )
      expect(result).toMatchObject({ outcome: 'distilled', episode: null, facts: { created: 1 } })
    })

    it('[DI11] lets everything wait while there is no model, or none by that name', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      expect(await session.distil(null)).toMatchObject({ outcome: 'skipped:no_model' })
      const unknown = new ScriptedModel(new AppError('not_found', 'No such model.'))
      expect(await session.distil(unknown)).toMatchObject({ outcome: 'skipped:no_model' })
      expect(await session.signals()).toMatchObject([
        { status: 'pending', attempts: 0 },
        { attempts: 0 },
      ])
    })

    it('[DI11] lets everything wait when it is stopped, or a model says until when it rests', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const until = Date.UTC(2024, 5, 1)
      const resting = new ScriptedModel(new AppError('too_many_requests', 'Spent.', { until }))
      expect(await session.distil(resting)).toMatchObject({
        outcome: 'skipped:too_many_requests',
        retryAt: until,
      })
      const stopping = new AbortController()
      const stopped = new ScriptedModel(async () => {
        stopping.abort()
        return answer(['The user likes tea'])
      })
      expect(await session.distil(stopped, { signal: stopping.signal })).toMatchObject({
        outcome: 'skipped:cancelled',
      })
      expect(await session.distil(stopped, { signal: AbortSignal.abort() })).toMatchObject({
        outcome: 'skipped:cancelled',
      })
      expect(await session.memories()).toEqual([])
      expect(await session.signals()).toMatchObject([
        { status: 'pending', attempts: 0 },
        { attempts: 0 },
      ])
    })

    it('[DI10] tells how much still waits, also where nothing was distilled', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const waiting = { outcome: 'skipped:no_model', signals: 0, pending: 2 }
      expect(await session.distil(null)).toMatchObject(waiting)
      const stopped = { signal: AbortSignal.abort() }
      const broken = new ScriptedModel('no')
      expect(await session.distil(broken, stopped)).toMatchObject({
        outcome: 'skipped:cancelled',
        pending: 2,
      })
      const resting = new AppError('unavailable', 'Rests.', { until: session.clock.now() + 60_000 })
      expect(await session.distil(new ScriptedModel(resting))).toMatchObject({
        outcome: 'skipped:unavailable',
        pending: 2,
      })
      for (const [outcome, pending] of [
        ['error:bad_answer', 2],
        ['error:bad_answer', 2],
        ['dead_letter:2', 0],
      ]) {
        expect(await session.distil(broken)).toMatchObject({ outcome, pending })
      }
    })

    it('[DI12] has an answer that cannot be used repaired once', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const model = new ScriptedModel(
        '{"episode": {"summary": "Ada pl',
        answer(['The user likes tea']),
      )
      const result = await session.distil(model)
      expect(result).toMatchObject({ outcome: 'distilled', tokens: { input: 200, output: 20 } })
      expect(model.lastPrompt).toContain('The answer is truncated.')
    })

    it.each([
      ['prose', 'I can not do that.'],
      ['a cut answer', '{"episode": {"summary": "Ada'],
      ['wrong types', '{"episode": 7, "facts": "", "identity": 3}'],
      ['ten megabytes', `{"facts": ["${'x'.repeat(10_000_000)}"]}`],
    ])('[DI12] stores nothing of %s, and tells so', async (_, text) => {
      const session = await openSession(open)
      await session.say(TRIP)
      const model = new ScriptedModel(text)
      expect(await session.distil(model)).toMatchObject({
        outcome: 'error:bad_answer',
        change: null,
      })
      expect(model.requests).toHaveLength(2)
      expect(await session.memories()).toEqual([])
      expect(await session.signals()).toMatchObject([
        { status: 'pending', attempts: 1, error: 'bad_answer' },
        { status: 'pending', attempts: 1 },
      ])
    })

    it('[DI13] puts signals aside after three failures, shows them, and tries again when asked to', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const broken = new ScriptedModel(new AppError('unavailable', 'Down.'))
      expect((await session.distil(broken)).outcome).toBe('error:unavailable')
      expect((await session.distil(broken)).outcome).toBe('error:unavailable')
      await session.say([['A word that came later, when the others had failed twice already.']])
      expect((await session.distil(broken)).outcome).toBe('dead_letter:2')
      const dead = await listSignals(session.ports, HOME, { status: 'dead' })
      expect(dead.rows.map(({ error, attempts }) => [error, attempts])).toEqual([
        ['unavailable', 3],
        ['unavailable', 3],
      ])
      const model = new ScriptedModel(answer(['The user likes tea']))
      expect(await session.distil(model)).toMatchObject({
        outcome: 'skipped:low_novelty',
        signals: 1,
      })
      expect(await retrySignals(session.ports, HOME, { ids: [signalNamed(0)] })).toHaveLength(1)
      expect(await retrySignals(session.ports, HOME)).toHaveLength(1)
      expect(await session.distil(model)).toMatchObject({ outcome: 'distilled', signals: 2 })
      expect((await listSignals(session.ports, HOME, { status: 'dead' })).rows).toEqual([])
      await expect(retrySignals(session.ports, HOME, { ids: ['sig_none'] })).rejects.toThrow(
        'at least one was not found',
      )
    })

    it('[DI13] lists signals page by page', async () => {
      const session = await openSession(open)
      await session.say([['a'], ['b'], ['c'], ['d'], ['e']])
      const first = await listSignals(session.ports, HOME, { limit: 3 })
      const second = await listSignals(session.ports, HOME, { limit: 3, after: first.next ?? '' })
      expect([first.rows.length, second.rows.length, second.next]).toEqual([3, 2, null])
      expect((await listSignals(session.ports, HOME, { status: 'dead' })).rows).toEqual([])
    })

    it('[DI14] leaves what is said meanwhile for the next time', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const model = new ScriptedModel(
        async () => {
          await session.say([
            [
              'And by the way, I play the cello in an orchestra every Tuesday evening, with great joy.',
            ],
          ])
          return answer([{ content: 'The user is vegetarian', turns: [0] }])
        },
        answer([{ content: 'The user plays the cello', turns: [0] }], {
          summary: 'Ada spoke of Rome and her cello.',
        }),
      )
      expect(await session.distil(model)).toMatchObject({ outcome: 'distilled', signals: 2 })
      expect((await session.signals()).map(({ status }) => status)).toEqual([
        'processed',
        'processed',
        'pending',
      ])
      const next = await session.distil(model)
      expect(next).toMatchObject({ outcome: 'distilled', signals: 1 })
      expect(model.lastPrompt).toContain('<summary>Ada planned a trip to Rome.</summary>')
      expect(model.lastPrompt).not.toContain('small hotel')
      const cello = (await session.memories()).find(({ content }) =>
        content.includes('plays the cello'),
      )
      expect(cello?.provenance.turns).toEqual([turnNamed(2, 'user')])
    })

    it('[DI14] asks again when what was said has changed while the model thought', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const [first] = await session.signals()
      const other = [
        'I am going to Oslo with my brother in July, and I eat everything that I am given.',
      ] as const
      const model = new ScriptedModel(
        async () => {
          await session.base.commit(recording(other, 0, 'trip', session.clock.now(), first))
          return answer(['The user travels to Rome'])
        },
        answer(['The user travels to Oslo']),
      )
      expect(await session.distil(model)).toMatchObject({ outcome: 'distilled', signals: 2 })
      expect(model.lastPrompt).toContain('Oslo')
      expect((await session.memories()).map(({ content }) => content)).not.toContain(
        'The user travels to Rome',
      )
    })

    it('[DI14] asks again when a turn is another or gone by now, and not when all of them are gone', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const [first, ...rest] = await session.turns()
      if (first === undefined) throw new Error('Nothing was said.')
      const scope = placeOf('trip')
      const model = new ScriptedModel(
        async () => {
          const row = { ...first, content: `${first.content} And to Naples.`, version: 2 }
          await session.base.commit([{ op: 'put', table: 'turn', row, expect: { version: 1 } }])
          return answer(['The user travels to Rome'])
        },
        async () => {
          await session.base.commit(
            [first, ...rest].map(({ id }) => ({
              op: 'remove',
              table: 'turn',
              scope,
              id,
              expect: 'any',
            })),
          )
          return answer(['The user travels to Naples'])
        },
      )
      expect((await session.distil(model)).outcome).toBe('empty:no_turns')
      expect(model.lastPrompt).toContain('Naples')
      expect(await session.memories()).toEqual([])
      expect((await session.signals()).map(({ status }) => status)).toEqual([
        'processed',
        'processed',
      ])
    })

    it('[DI14] gives up for now on a session that changes each time', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const model = new ScriptedModel(async () => {
        const [first] = await session.signals()
        await session.base.commit(
          recording(TRIP[0] ?? ['x'], 0, 'trip', session.clock.now(), first),
        )
        return answer(['The user travels to Rome'])
      })
      expect(await session.distil(model)).toMatchObject({ outcome: 'skipped:changed' })
      expect(await session.memories()).toEqual([])
    })

    it('[DI14] distils a session once when two do it at the same time', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const other = new ScriptedModel(answer(['The user likes tea']))
      const model = new ScriptedModel(async () => {
        expect((await session.distil(other)).outcome).toBe('distilled')
        return answer(['The user likes tea'])
      })
      expect((await session.distil(model)).outcome).toBe('no_signals')
      expect(await session.memories()).toHaveLength(2)
      expect((await session.memories()).map(({ sourceCount }) => sourceCount)).toEqual([1, 1])
    })

    it('[DI14] commits only while whoever fences it may, and in turn with other writes', async () => {
      const session = await openSession(open)
      await session.say(TRIP)
      const order: string[] = []
      const parts = {
        ...session.partsWith(new ScriptedModel(answer(['The user likes tea']))),
        serialize: async <Result>(_: unknown, work: () => Promise<Result>) => {
          order.push('turn')
          return work()
        },
        fence: async () => {
          order.push('fence')
          throw new AppError('cancelled', 'Others do this by now.')
        },
      }
      expect(await distillSession(parts, placeOf('trip'), NEVER)).toMatchObject({
        outcome: 'skipped:cancelled',
      })
      expect(order).toEqual(['turn', 'fence'])
      expect(await session.memories()).toEqual([])
    })
  })
}
