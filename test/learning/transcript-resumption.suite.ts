/** Learning from conversations that are first seen in the middle, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import { ScriptedModel } from '../fakes/language-model.ts'
import { ADA, HOUR_MS, type OpenStore, openLife, statusesOf } from './learning-support.ts'

export function describeHistories(name: string, open: OpenStore): void {
  describe(`histories ${name}`, () => {
    it('[DI6] shows the last 15 messages of a conversation that is met in the middle', async () => {
      const model = new ScriptedModel({ facts: [] })
      const life = await openLife(open, {
        model,
        settings: { 'learning.extractionMode': 'everyTurn', 'gateway.gateModel': 'test/fast' },
      })
      const said = Array.from({ length: 29 }, (_, n) => `Message ${n} tells something.`)
      await life.client.ask(said, 'Message 29 tells something.')
      while ((await life.engine.jobs.runDue()) > 0);
      expect(await statusesOf(life.engine)).toEqual(Array(15).fill('processed'))
      const shown = model.prompts.map((prompt) =>
        [...prompt.matchAll(/Message (\d+)/g)].map(([, n]) => Number(n)),
      )
      const numbers = Array.from({ length: 30 }, (_, n) => n)
      expect(shown).toEqual([numbers.slice(0, 14), numbers.slice(13, 28), numbers.slice(15)])
      expect(model.lastPrompt.split('New:')[1]).not.toContain('Message 27')
    })

    it('[DI6] shows messages that nothing is learned from, unless a person excluded them', async () => {
      const model = new ScriptedModel({ facts: [] })
      const life = await openLife(open, {
        model,
        settings: { 'learning.extractionMode': 'everyTurn' },
      })
      const turns = [{ user: 'The hotel is called Aurora.', assistant: 'I see.' }]
      await life.engine.learning.ingest({
        ...ADA,
        conversation: 'trip',
        turns,
        skipExtraction: true,
      })
      await life.say('trip', 'My locker code was changed.')
      await life.engine.learning.signals.forget({ ...ADA, session: 'trip' })
      await life.client.ask(
        ['My locker code was changed.', 'I see.', 'It is nice there.'],
        'Good.',
        {
          scope: { ...ADA, session: 'trip' },
        },
      )
      await life.engine.jobs.runDue()
      expect(model.lastPrompt).toContain('Aurora')
      expect(model.lastPrompt).toContain('It is nice there.')
      expect(model.lastPrompt).not.toContain('locker')
    })

    it('[CV41] a model learns nothing from a history that was forgotten before it came', async () => {
      const fact = 'The user lives in Rome'
      const facts = [{ content: fact, turns: [0] }]
      const model = new ScriptedModel({ facts }, { facts })
      const life = await openLife(open, {
        model,
        settings: { 'learning.extractionMode': 'everyTurn' },
      })
      const { memory } = await life.engine.remember(ADA, { content: fact })
      await life.engine.forget(ADA, memory.id)
      life.clock.advance(HOUR_MS)
      const said = ['Rome has been my home for ages.', 'I see.', 'And what about it?']
      await life.client.ask(said, 'Nothing.')
      while ((await life.engine.jobs.runDue()) > 0);
      expect((await life.engine.list(ADA)).rows).toEqual([])
      // What is said now is new.
      await life.client.ask(['Rome has been my home for ages.'], 'So I hear.', {
        scope: { ...ADA, session: 'now' },
      })
      while ((await life.engine.jobs.runDue()) > 0);
      expect((await life.engine.list(ADA)).rows).toMatchObject([{ content: fact }])
    })
  })
}
