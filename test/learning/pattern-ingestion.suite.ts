/** Conversations taken in where no model reads them: patterns do. */
import { describe, expect, it } from 'vitest'
import type { Memory } from '../../src/domain/memory.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import {
  type IngestInput,
  ingestConversation,
} from '../../src/learning/distillation/conversation-ingest.ts'
import { failingAt } from '../fakes/faulty-store.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { answer, NEVER, type OpenStore, openSession } from './distillation-support.ts'

const ADA = { owner: 'ada' }
const CONVERSATION = {
  ...ADA,
  conversation: 'trip',
  sessionDate: new Date('2023-03-01T12:00:00Z'),
} satisfies Partial<IngestInput>
/** Long enough to be worth a question. */
const ANSWER = 'Tea it is, then. There are many good places for that in such a city.'

export function describePatternsAlone(name: string, open: OpenStore): void {
  describe(`ingesting without a model ${name}`, () => {
    it('[DI20] learns by patterns without a model, each exchange once, and from all of them when one is corrected', async () => {
      const session = await openSession(open)
      const engine = createEngineWith(session.ports)
      const parts = session.partsWith(null)
      const tea = { user: 'I prefer tea over coffee and I live in Berlin.', assistant: ANSWER }
      const input = { ...CONVERSATION, turns: [tea, { user: 'I have two cats.' }] }
      const first = await ingestConversation(parts, input, NEVER)
      expect(first).toMatchObject({
        ...{ outcome: 'skipped:no_model', pending: 2, identity: 1 },
        facts: { created: 3 },
      })
      const known = await session.memories()
      expect(known.map(({ content, category }) => [content, category])).toEqual([
        ['I prefer tea over coffee', 'preference'],
        ['I live in Berlin', 'identity'],
        ['I have two cats', 'relationship'],
      ])
      // Neither is read again: what a person has made of it since stays.
      await engine.edit(ADA, known[0]?.id ?? '', { content: 'I prefer tea' })
      const again = await ingestConversation(parts, input, NEVER)
      expect(again).toMatchObject({ outcome: 'skipped:no_model', changes: [], pending: 2 })
      const oslo = { ...tea, user: 'I prefer tea over coffee and I live in Oslo.' }
      const moved = { ...input, turns: [oslo, ...input.turns.slice(1)] }
      const corrected = await ingestConversation(parts, moved, NEVER)
      const inUse = async () =>
        (await session.memories()).filter(({ status }) => status === 'active').map(told)
      const told = ({ content, sourceCount }: Memory) => [content, sourceCount]
      expect(await inUse()).toEqual([
        ['I prefer tea over coffee', 1],
        ['I have two cats', 1],
        ['I live in Oslo', 1],
      ])
      // A model that is there later finds them, and is no second source of what the same turns say.
      const model = new ScriptedModel(
        answer([
          { content: 'The user lives in Oslo', turns: [0] },
          { content: 'The user has 2 cats', turns: [2] },
        ]),
      )
      const distilled = await ingestConversation(session.partsWith(model), moved, NEVER)
      expect(distilled).toMatchObject({ outcome: 'distilled', facts: { created: 0 } })
      expect(await inUse()).toHaveLength(4)
      expect((await inUse()).filter(([, sources]) => sources !== 1)).toEqual([])
      // All that the correction did can be taken back.
      for (const change of [...corrected.changes, ...distilled.changes].reverse()) {
        await engine.undo(ADA, change)
      }
      expect(corrected.changes.length).toBeGreaterThan(1)
      expect((await inUse()).map(([content]) => content)).toContain('I live in Berlin')
    })

    it('[DI20] learns by patterns from turns that are too short for a model', async () => {
      const session = await openSession(open)
      const model = new ScriptedModel()
      const input = { ...CONVERSATION, turns: [{ user: 'My name is Ada.' }] }
      expect(await ingestConversation(session.partsWith(model), input, NEVER)).toMatchObject({
        ...{ outcome: 'skipped:low_novelty', pending: 0, identity: 1 },
        facts: { created: 1 },
      })
    })

    it('[DI20] has what patterns find once, whichever call of the store fails', async () => {
      const turns = [{ user: 'I prefer tea over coffee and I live in Berlin.' }]
      const input = { ...CONVERSATION, turns }
      for (const when of ['before', 'after'] as const) {
        for (let call = 1, calls = 1; call <= calls; call++) {
          const session = await openSession(open)
          const store = failingAt(session.base, { call, when })
          const parts = { ...session.partsWith(null), ports: { ...session.ports, store } }
          await ingestConversation(parts, input, NEVER).catch(() => null)
          calls = store.calls()
          await ingestConversation(session.partsWith(null), input, NEVER)
          const remaining = (await session.memories()).map((each) => [
            each.content,
            each.sourceCount,
          ])
          expect(remaining, `${when} call ${call}`).toEqual([
            ['I prefer tea over coffee', 1],
            ['I live in Berlin', 1],
          ])
        }
      }
    })
  })
}
