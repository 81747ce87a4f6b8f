/** Clocks that are set while memories live: nothing waits for ever, nothing is done twice, and nothing goes for good. */
import { describe, expect, it } from 'vitest'
import { computeEffectiveSalience } from '../../src/memory/salience-decay.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { answer } from './distillation-support.ts'
import {
  ADA,
  HOUR_MS,
  type OpenStore,
  OSLO,
  openLife,
  QUIET_MS,
  ROME,
  statusesOf,
} from './learning-support.ts'

const DAY_MS = 24 * HOUR_MS
const YEAR_MS = 365 * DAY_MS
const TRIP = answer([{ content: 'The user travels to Rome with her sister Clara', turns: [0] }])

describeClocks('on the reference store', async () => createInMemoryStore())
describeClocks('on sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now }))

function describeClocks(name: string, open: OpenStore): void {
  describe(`a clock that is set ${name}`, () => {
    it('[LP4] back lets a quiet session wait no longer than it would have', async () => {
      const model = new ScriptedModel(TRIP)
      const life = await openLife(open, { model })
      await life.say('trip', ROME)
      life.clock.advance(-YEAR_MS)
      await life.engine.jobs.runDue()
      expect(await statusesOf(life.engine)).toEqual(['processed'])
      expect(model.requests).toHaveLength(1)
      expect(await life.engine.jobs.runDue()).toBe(0)
      // What is said from then on waits until it is quiet, as ever.
      await life.say('trip', OSLO)
      expect(await life.engine.jobs.runDue()).toBe(0)
      life.clock.advance(QUIET_MS)
      expect(await life.engine.jobs.runDue()).toBe(1)
      expect(await statusesOf(life.engine)).toEqual(['processed', 'processed'])
    })

    it('[LP4] set back by seconds delays a session by no more than that', async () => {
      const model = new ScriptedModel(TRIP)
      const life = await openLife(open, { model })
      await life.say('trip', ROME)
      life.clock.advance(-30_000)
      await life.say('trip', OSLO)
      life.clock.advance(QUIET_MS)
      expect(await life.engine.jobs.runDue()).toBe(1)
      expect(await statusesOf(life.engine)).toEqual(['processed', 'processed'])
      expect(model.requests).toHaveLength(1)
    })

    it('[LP4] set forward distills a session early, and later sessions as usual', async () => {
      const model = new ScriptedModel(TRIP)
      const life = await openLife(open, { model })
      await life.say('trip', ROME)
      life.clock.advance(YEAR_MS)
      expect(await life.engine.jobs.runDue()).toBe(1)
      life.clock.advance(-YEAR_MS)
      await life.say('trip', OSLO)
      life.clock.advance(QUIET_MS)
      await life.engine.jobs.runDue()
      expect(await statusesOf(life.engine)).toEqual(['processed', 'processed'])
      const { rows } = await life.engine.list(ADA, { categories: ['episode'] })
      expect(rows).toHaveLength(1)
    })

    it('[LP4] forward has memories consolidated once, and not for every day that did not pass', async () => {
      const life = await openLife(open)
      await life.engine.remember(ADA, { content: 'Ada plays the violin in an orchestra.' })
      await life.engine.jobs.start()
      await life.engine.jobs.runDue()
      life.clock.advance(YEAR_MS)
      await life.engine.jobs.runDue()
      const reports = await life.engine.learning.listConsolidations(ADA)
      expect(reports).toHaveLength(1)
      life.clock.advance(-YEAR_MS)
      await life.engine.jobs.runDue()
      // Nobody knows what the time is, so it is looked after at once, and then at its interval again.
      const after = (await life.engine.learning.listConsolidations(ADA)).length
      expect(await life.engine.jobs.runDue()).toBe(0)
      life.clock.advance(25 * HOUR_MS)
      await life.engine.jobs.runDue()
      expect(await life.engine.learning.listConsolidations(ADA)).toHaveLength(after + 1)
    })

    it('[LP4] forward and back takes nothing that cannot be brought back', async () => {
      const life = await openLife(open)
      const { memory } = await life.engine.remember(ADA, {
        content: 'Ada once borrowed a ladder.',
        // Only extracted memories are evicted.
        provenance: { source: 'gateway', extractor: 'patterns', extractorVersion: '1' },
      })
      await life.engine.learning.consolidate(ADA)
      life.clock.advance(10 * YEAR_MS)
      const leapt = await life.engine.learning.consolidate(ADA)
      expect(leapt).toMatchObject({ evicted: 1, trashPurged: 0, turnsDeleted: 0 })
      life.clock.advance(-10 * YEAR_MS)
      await life.engine.learning.consolidate(ADA)
      await life.engine.undo(ADA, leapt.actions[0]?.change ?? '')
      expect(await life.engine.get(ADA, memory.id)).toMatchObject({ status: 'active' })
    })

    it('[LP4] back makes nothing more salient than it is', async () => {
      const life = await openLife(open)
      const { memory } = await life.engine.remember(ADA, { content: 'Ada plays the violin.' })
      const before = life.clock.advance(-YEAR_MS)
      expect(computeEffectiveSalience(memory, before)).toBe(memory.salience)
    })

    it('[LP4] back or forward leaves the budget of a day what it was', async () => {
      const model = new ScriptedModel(TRIP)
      const life = await openLife(open, { model, settings: { 'learning.modelTokensPerDay': 100 } })
      await life.say('trip', ROME)
      await life.engine.learning.distill({ ...ADA, session: 'trip' })
      life.clock.advance(2 * DAY_MS)
      expect((await life.engine.learning.signals.report(ADA)).usageToday).toMatchObject({
        input: 0,
      })
      life.clock.advance(-2 * DAY_MS)
      expect((await life.engine.learning.signals.report(ADA)).usageToday).toMatchObject({
        input: 100,
      })
      await life.say('trip', OSLO)
      const result = await life.engine.learning.distill({ ...ADA, session: 'trip' })
      expect(result.outcome).toBe('skipped:too_many_requests')
      expect(await statusesOf(life.engine)).toEqual(expect.arrayContaining(['pending']))
    })
  })
}
