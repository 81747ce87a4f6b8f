/** Distilling and consolidating on request, while another process on the same store does the same. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SettingValues } from '../../src/domain/settings/settings.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { AppError } from '../../src/lib/errors.ts'
import type { LanguageModel } from '../../src/models/language-model.ts'
import type { Change, Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { answer } from './distillation-support.ts'
import { ADA, OSLO, personOn, QUIET_MS, ROME, statusesOf } from './learning-support.ts'

const TRIP = answer([{ content: 'The user travels to Rome with her sister Clara', turns: [0] }])
const SESSION = { ...ADA, session: 'trip' }
const LEASE_MS = 60_000

/** Something that is waited for until the test lets it go on. */
function gate() {
  let reached = () => {}
  let release = () => {}
  const isReached = new Promise<void>((resolve) => {
    reached = resolve
  })
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  const pass = async () => {
    reached()
    await isReleased
  }
  return { isReached, release, pass }
}

/** Each is a store of its own, on the same data. */
export type OpenTwo = () => Promise<readonly [Store, Store]>

export function describeAsked(name: string, openTwo: OpenTwo): void {
  const open = async ({
    models = [],
    on = (store) => store,
  }: {
    readonly models?: readonly LanguageModel[]
    readonly on?: (store: Store) => Store
  } = {}) => {
    const stores = await openTwo()
    const clock = new FakeClock()
    const ids = countingIds()
    const settings: SettingValues = {
      ...{
        'gateway.enabled': true,
        'gateway.contextTimeoutMs': 30_000,
        'learning.extractionModel': 'test/core',
      },
    }
    const [first, second] = stores.map((store, index) => {
      const languageModel = models[index] ?? new ScriptedModel(TRIP)
      const own = index === 0 ? on(store) : store
      const engine = createEngineWith({ store: own, clock, ids, settings, languageModel })
      onTestFinished(() => engine.close())
      return engine
    })
    if (first === undefined || second === undefined) throw new Error('Two are needed.')
    return { first, second, clock, ...personOn(first) }
  }

  describe(`asked for ${name}`, () => {
    it('[LD10] distills a session once for concurrent requests', async () => {
      const thinking = gate()
      const slow = new ScriptedModel(async () => {
        await thinking.pass()
        return TRIP
      })
      const other = new ScriptedModel(TRIP)
      const { first, second, say } = await open({ models: [slow, other] })
      await say('trip', ROME)
      const one = first.learning.distill(SESSION)
      await thinking.isReached
      const two = second.learning.distill(SESSION)
      thinking.release()
      const reports = [await one, await two]
      expect(reports.map(({ outcome }) => outcome)).toEqual(['distilled', 'no_signals'])
      expect(reports[1]?.episode).toBe(reports[0]?.episode)
      expect(other.requests).toEqual([])
      expect((await second.conversations.episodes.list(ADA)).rows).toHaveLength(1)
    })

    it('[LD10] tells when a job of another server is at it for too long, and has a job do the rest', async () => {
      const thinking = gate()
      const slow = new ScriptedModel(async () => {
        await thinking.pass()
        return TRIP
      }, TRIP)
      const { first, second, say, clock } = await open({ models: [slow] })
      await say('trip', ROME)
      await say('other', OSLO)
      const running = first.jobs.runDue()
      await thinking.isReached
      const scope = { ...ADA, session: 'other' }
      expect(await second.learning.distill(scope, { waitMs: 30 })).toMatchObject({
        outcome: 'skipped:busy',
        pending: 1,
      })
      await expect(second.learning.consolidate(ADA, { waitMs: 0 })).rejects.toMatchObject({
        code: 'busy',
        retryable: true,
      })
      expect(await second.learning.consolidate(ADA, { dryRun: true })).toMatchObject({
        isDryRun: true,
      })
      // What others have is not kept waiting.
      expect((await second.learning.consolidate({ owner: 'bob' }, { waitMs: 0 })).id).not.toBeNull()
      thinking.release()
      await running
      // Sooner than the session would have been quiet.
      expect(clock.now()).toBeLessThan(1_700_000_000_000 + QUIET_MS)
      await second.jobs.runDue()
      expect(await statusesOf(second, 'other')).toEqual(['processed'])
      expect((await second.learning.consolidate(ADA, { waitMs: 0 })).id).not.toBeNull()
    })

    it('[LD10] consolidates an owner one at a time, and lets jobs wait meanwhile', async () => {
      const reporting = gate()
      const isReport = (change: Change) =>
        change.op === 'put' && change.table === 'entry' && change.row.id.startsWith('rpt_')
      const { first, second, say, clock } = await open({
        on: (store) => ({
          ...store,
          commit: async (changes) => {
            if (changes.some(isReport)) await reporting.pass()
            return store.commit(changes)
          },
        }),
      })
      await say('trip', ROME)
      clock.advance(QUIET_MS)
      const consolidating = first.learning.consolidate(ADA)
      await reporting.isReached
      await expect(second.learning.consolidate(ADA, { waitMs: 0 })).rejects.toMatchObject({
        code: 'busy',
      })
      expect(await second.jobs.runDue()).toBe(0)
      const waiting = second.learning.consolidate(ADA)
      reporting.release()
      expect((await consolidating).id).not.toBe((await waiting).id)
      expect(await second.learning.listConsolidations(ADA)).toHaveLength(2)
      expect(await second.jobs.runDue()).toBe(1)
    })

    it('[LD10] takes over after a dead process, and refuses its late writes', async () => {
      const [lost, taking] = [gate(), gate()]
      const late = new ScriptedModel(async () => {
        await lost.pass()
        return answer([{ content: 'What came too late', turns: [0] }])
      })
      const model = new ScriptedModel(async () => {
        await taking.pass()
        return TRIP
      })
      const { first, second, say, clock } = await open({ models: [late, model] })
      await say('trip', ROME)
      const dead = first.learning.distill(SESSION)
      await lost.isReached
      expect((await second.learning.distill(SESSION, { waitMs: 0 })).outcome).toBe('skipped:busy')
      clock.advance(LEASE_MS + 1)
      const alive = second.learning.distill(SESSION, { waitMs: 0 })
      await taking.isReached
      lost.release()
      expect((await dead).outcome).toBe('skipped:cancelled')
      taking.release()
      expect((await alive).outcome).toBe('distilled')
      const { rows } = await second.list(ADA)
      expect(rows.map(({ content }) => content)).not.toContain('What came too late')
    })

    it('[LD10] stops and releases its lock when the process ends or the request is aborted', async () => {
      const asked = gate()
      const patient: LanguageModel = {
        complete: ({ signal }) =>
          new Promise((_, reject) => {
            const stop = () => reject(new AppError('cancelled', 'Stopped.'))
            signal.addEventListener('abort', stop, { once: true })
            void asked.pass()
          }),
      }
      const { first, second, say } = await open({ models: [patient] })
      await say('trip', ROME)
      const stopped = first.learning.distill(SESSION)
      await asked.isReached
      const impatient = new AbortController()
      const waiting = second.learning.distill(SESSION, { signal: impatient.signal })
      impatient.abort()
      expect((await waiting).outcome).toBe('skipped:cancelled')
      await first.close()
      expect((await stopped).outcome).toBe('skipped:cancelled')
      expect((await second.learning.distill(SESSION, { waitMs: 0 })).outcome).toBe('distilled')
    })

    it('[LD10] takes in a conversation whole while others work for the owner, and distils it after them', async () => {
      const thinking = gate()
      const slow = new ScriptedModel(async () => {
        await thinking.pass()
        return TRIP
      })
      const { first, second, say, clock } = await open({ models: [slow] })
      await say('trip', ROME)
      clock.advance(QUIET_MS)
      const running = first.jobs.runDue()
      await thinking.isReached
      const turns = [{ user: `${OSLO} ${ROME}`, assistant: 'I see.' }]
      const ingesting = second.learning.ingest({ ...ADA, conversation: 'whole', turns })
      const said = async () =>
        (await second.conversations.turns.list({ ...ADA, session: 'whole' })).rows
      await expect.poll(async () => (await said()).length).toBe(2)
      thinking.release()
      expect((await ingesting).outcome).toBe('distilled')
      await running
    })
  })
}
