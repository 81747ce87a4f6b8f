/** Turns that somebody took out of use. */
import { describe, expect, it } from 'vitest'
import { ScriptedModel } from '../fakes/language-model.ts'
import {
  ADA,
  type OpenStore,
  OSLO,
  openLife,
  QUIET_MS,
  statusesOf,
} from '../learning/learning-support.ts'
import { FACT, openTrip, ROME, TRIP, turnsIn } from './conversation-admin.suite.ts'

export function describeDisabledTurns(name: string, open: OpenStore): void {
  describe(`disabled turns ${name}`, () => {
    it('[LD17] a turn that is disabled is shown, and neither found nor learned from until it is restored', async () => {
      const model = new ScriptedModel(TRIP)
      const { engine, say, clock, store } = await openLife(open, { model })
      await say('trip', ROME)
      await say('trip', OSLO)
      const [asked] = await turnsIn(engine, 'trip')
      const id = asked?.id ?? ''
      expect(await engine.conversations.turns.disable(ADA, id)).toMatchObject({
        turn: { id, disabled: true, version: 2 },
        learned: [],
      })
      expect((await engine.conversations.turns.disable(ADA, id)).turn.version).toBe(2)
      expect((await turnsIn(engine, 'trip'))[0]).toMatchObject({
        id,
        content: ROME,
        disabled: true,
      })
      const found = () =>
        engine.conversations.turns.search(ADA, { text: 'Clara', limit: 5, days: 1 })
      expect(await found()).toEqual([])
      // Corrected, it stays out of use.
      await engine.conversations.turns.edit(ADA, id, { content: `${ROME} Really.` })
      clock.advance(QUIET_MS)
      await engine.jobs.runDue()
      expect(model.lastPrompt).toContain('Oslo')
      expect(model.lastPrompt).not.toContain('Clara')
      expect(await statusesOf(engine)).toEqual(['processed', 'processed'])
      expect(await engine.conversations.turns.restore(ADA, id)).toMatchObject({
        turn: { disabled: false },
      })
      expect(await found()).toHaveLength(1)
      expect(await statusesOf(engine)).toEqual(['pending', 'processed'])
      clock.advance(QUIET_MS)
      await engine.jobs.runDue()
      expect(model.lastPrompt).toContain('Clara')
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
    })

    it('[LD17] facts from it stay, are named, and are not learned again', async () => {
      const { engine, episode, model } = await openTrip(open)
      const [asked] = await turnsIn(engine, 'trip')
      const fact = (await engine.list(ADA)).rows.find(({ content }) => content === FACT)
      const { learned } = await engine.conversations.turns.disable(ADA, asked?.id ?? '')
      expect(new Set(learned)).toEqual(new Set([fact?.id, episode.id]))
      expect((await engine.get(ADA, fact?.id ?? ''))?.status).toBe('active')
      await engine.conversations.turns.restore(ADA, asked?.id ?? '')
      expect(await statusesOf(engine)).toEqual(['processed'])
      expect(model.requests).toHaveLength(1)
      for (const scope of [{ owner: 'bob' }, { ...ADA, user: 'eve' }]) {
        await expect(
          engine.conversations.turns.disable(scope, asked?.id ?? ''),
        ).rejects.toMatchObject({
          code: 'not_found',
        })
      }
    })

    it('[LD17] stays disabled when the conversation is ingested again, also reworded', async () => {
      const { engine } = await openLife(open)
      const conversation = { ...ADA, conversation: 'home' }
      await engine.learning.ingest({ ...conversation, turns: [{ user: 'Well, hello there.' }] })
      const [turn] = await turnsIn(engine, 'home')
      await engine.conversations.turns.disable(ADA, turn?.id ?? '')
      await engine.learning.ingest({ ...conversation, turns: [{ user: 'I live in Berlin.' }] })
      expect(await turnsIn(engine, 'home')).toMatchObject([
        { content: 'I live in Berlin.', disabled: true },
      ])
      expect((await engine.list(ADA)).rows).toEqual([])
      await engine.conversations.turns.restore(ADA, turn?.id ?? '')
      await engine.learning.distill({ ...ADA, session: 'home' })
      expect((await engine.list(ADA)).rows).toMatchObject([{ content: 'I live in Berlin' }])
    })

    it('[LD17] a running distillation starts again without it', async () => {
      let disable = async () => {}
      const model = new ScriptedModel(async () => {
        await disable()
        return TRIP
      })
      const { engine, say } = await openLife(open, { model })
      await say('trip', ROME)
      const turns = await turnsIn(engine, 'trip')
      disable = async () => {
        disable = async () => {}
        for (const { id } of turns) await engine.conversations.turns.disable(ADA, id)
      }
      const result = await engine.learning.distill({ ...ADA, session: 'trip' })
      expect(result.outcome).toBe('empty:no_turns')
      expect((await engine.list(ADA)).rows).toEqual([])
    })
  })
}
