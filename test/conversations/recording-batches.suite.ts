/** Answers that are recorded together, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/storage/store.ts'
import { failingAt, interruptedBeforeCommit } from '../fakes/faulty-store.ts'
import {
  ADA,
  ada,
  answerOf,
  contentsOf,
  type OpenStore,
  openConversations,
  outcomeOf,
  requestOf,
  transcript,
} from './conversations-support.ts'

const sessionsOf = async (store: Store) => {
  const { rows } = await store.find('turn', { owner: ada }, { where: {}, limit: 1_000 })
  return new Set(rows.map(({ place }) => place.session)).size
}

export function describeBatches(name: string, open: OpenStore): void {
  describe(`${name}: answers that come together`, () => {
    it('[CV45] answers that come together are one commit, each as if those before it were stored', async () => {
      const store = await open()
      let commits = 0
      const { engine, client } = await openConversations(open, {
        store: {
          ...store,
          commit: async (changes) => {
            if (changes.some((change) => change.op === 'put' && change.table === 'turn')) commits++
            return store.commit(changes)
          },
        },
      })
      const prepared = await Promise.all([
        engine.conversations.prepare(requestOf(['Hello'])),
        engine.conversations.prepare(requestOf(['Hello'])),
        engine.conversations.prepare(requestOf(['Hello', 'Hi.', 'I prefer tea'])),
        engine.conversations.prepare(requestOf(['Good day', 'Yes?', 'I live in Rome'])),
        engine.conversations.prepare(
          requestOf(['I own a dog'], { scope: { ...ADA, user: 'kim' } }),
        ),
        engine.conversations.prepare(requestOf(['Hello', 'Hi.', 'I prefer tea', 'Good.', 'Bye'])),
      ])
      for (const [index, answer] of ['Hi.', 'Hi.', 'Good.', 'Nice.', 'Great.', 'Bye.'].entries()) {
        const each = prepared[index]
        if (each === undefined) continue
        engine.conversations.recordOutcome(each, outcomeOf(each, answerOf(answer)))
      }
      await engine.conversations.flush()
      expect(commits).toBe(1)
      const said = (await transcript(store)).map((line) => line.slice(2))
      expect(said.toSorted()).toEqual(
        [
          ...['user: Hello', 'assistant: Hi.', 'user: I prefer tea', 'assistant: Good.'],
          ...['user: Bye', 'assistant: Bye.', 'user: Good day', 'assistant: Yes?'],
          ...['user: I live in Rome', 'assistant: Nice.', 'user: I own a dog', 'assistant: Great.'],
        ].toSorted(),
      )
      expect(await sessionsOf(store)).toBe(3)
      const { rows } = await engine.list(ADA, { limit: 200 })
      expect(rows.map(({ content, sourceCount }) => `${content} ${sourceCount}`).sort()).toEqual([
        'I live in Rome 1',
        'I own a dog 1',
        'I prefer tea 1',
      ])
      expect((await engine.conversations.receipts.list(ADA)).rows).toHaveLength(6)
      // What comes next goes on from there.
      await client.ask(['Hello', 'Hi.', 'I prefer tea', 'Good.', 'Bye', 'Bye.', 'Wait'], 'Yes?')
      expect(await sessionsOf(store)).toBe(3)
    })

    it('[CV45] concurrent writes lose no response of a batch', async () => {
      const store = await open()
      const other = await openConversations(open, { store: { ...store, close: async () => {} } })
      const interrupted = interruptedBeforeCommit(store, async () => {
        await other.client.ask(['I prefer tea'], 'Good.')
      })
      const { engine, client } = await openConversations(open, { store: interrupted })
      await Promise.all([
        client.send(['I prefer tea'], 'Good.'),
        client.send(['I live in Rome'], 'Nice.', { scope: { ...ADA, session: 'other' } }),
      ])
      await engine.conversations.flush()
      expect(await transcript(store)).toHaveLength(4)
      const { rows } = await engine.list(ADA)
      expect(rows.map(({ content, sourceCount }) => [content, sourceCount]).sort()).toEqual([
        ['I live in Rome', 1],
        ['I prefer tea', 1],
      ])
    })
  })
}

/** Apart, because it opens a store for each call of one. */
export function describeBatchFaults(name: string, open: OpenStore): void {
  describe(`${name}: answers that come together to a failing store`, () => {
    it.each(['before', 'after'] as const)(
      '[CV45] whichever call of the store fails %s its effect, a batch is recorded once',
      async (when) => {
        const live = async (call: number) => {
          const store = await open()
          const broken = failingAt(store, { call, when })
          const { engine, client } = await openConversations(open, { store: broken })
          await Promise.all([
            client.send(['I prefer tea'], 'Good.'),
            client.send(['I prefer tea'], 'Good.'),
            client.send(['I live in Rome'], 'Nice.', { scope: { ...ADA, session: 'other' } }),
          ])
          await engine.conversations.flush()
          return {
            calls: broken.calls(),
            transcript: (await transcript(store)).map((line) => line.slice(2)).sort(),
            memories: await contentsOf(engine).catch(() => null),
            signals: (await store.find('signal', { owner: ada }, { where: {}, limit: 9 })).rows
              .length,
          }
        }
        const undisturbed = await live(0)
        expect(undisturbed).toMatchObject({ memories: ['I live in Rome', 'I prefer tea'] })
        for (let call = 1; call <= undisturbed.calls; call++) {
          const disturbed = await live(call)
          expect(disturbed.transcript, `call ${call}`).toEqual(undisturbed.transcript)
          if (disturbed.memories !== null) {
            expect(disturbed.memories, `call ${call}`).toEqual(undisturbed.memories)
          }
          expect(disturbed.signals, `call ${call}`).toBe(2)
        }
      },
    )
  })
}
