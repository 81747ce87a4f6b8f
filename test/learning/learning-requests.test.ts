/** What people ask of the life of memories: distilling, consolidating, and what became of both. */
import { describe, expect, it } from 'vitest'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change } from '../../src/storage/store.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { answer } from './distillation-support.ts'
import { ADA, ada, HOUR_MS, type OpenStore, openLife, QUIET_MS, ROME } from './learning-support.ts'

const KIM = { owner: 'ada', user: 'kim' }
const TRIP = answer([{ content: 'The user travels to Rome with her sister Clara', turns: [0] }])
const FACTS = { facts: [{ content: 'The user travels to Rome with Clara', turns: [0] }] }

const STORES: Readonly<Record<string, OpenStore>> = {
  'on the reference store': async () => createInMemoryStore(),
  'on sqlite': () => openSqliteStore({ path: ':memory:', now: Date.now }),
}

describe.each(Object.entries(STORES))('asked %s', (_, open) => {
  it('[LD13] distils the session of a user who is not named, and asks whose where several have one', async () => {
    const life = await openLife(open, { model: new ScriptedModel(TRIP) })
    const alice = { owner: 'ada', user: 'alice', session: 'trip' }
    await life.client.ask([ROME], 'I see.', { scope: alice })
    const result = await life.engine.learning.distill({ ...ADA, session: 'trip' })
    expect(result).toMatchObject({ outcome: 'distilled', signals: 1 })
    await life.client.ask([ROME], 'I see.', { scope: { ...alice, user: 'bob' } })
    await expect(life.engine.learning.distill({ ...ADA, session: 'trip' })).rejects.toMatchObject({
      code: 'invalid_input',
      facts: { field: 'user' },
    })
    const bobs = await life.engine.learning.distill({ ...alice, user: 'bob' })
    expect(bobs.outcome).toBe('distilled')
  })

  it('[LI4] where every turn is read, the fast model alone is one, and what waited for it is woken', async () => {
    const model = new ScriptedModel(FACTS)
    const settings = {
      'learning.extractionMode': 'everyTurn',
      'learning.extractionModel': '',
    } as const
    const life = await openLife(open, { model, settings })
    await life.say('trip', ROME)
    await life.engine.jobs.runDue()
    expect(await life.engine.learning.signals.report(ADA)).toMatchObject({
      model: null,
      signals: { pending: 1 },
    })
    await life.engine.admin.settings.change(ada, { 'gateway.gateModel': 'test/fast' })
    expect((await life.engine.learning.signals.report(ADA)).model).toBe('test/fast')
    await life.engine.jobs.runDue()
    expect(model.requests.map((request) => request.model)).toEqual(['test/fast'])
    expect((await life.engine.learning.signals.report(ADA)).signals).toMatchObject({ processed: 1 })
    await life.engine.admin.settings.change(null, { 'gateway.gateModel': 'test/fast' })
    expect((await life.engine.status()).learning.extractionModel).toBe('test/fast')
  })

  it('[LI5] retried signals are returned in their new state', async () => {
    const model = new ScriptedModel('no', 'no', 'no', 'no', 'no', 'no', TRIP)
    const life = await openLife(open, { model })
    await life.say('trip', ROME)
    for (let failures = 0; failures < 3; failures++) {
      await life.engine.learning.distill({ ...ADA, session: 'trip' })
    }
    expect((await life.engine.learning.signals.report(ADA)).signals.dead).toBe(1)
    expect(await life.engine.learning.signals.retry(ADA)).toMatchObject([
      { status: 'pending', attempts: 0, error: null },
    ])
    await life.engine.jobs.runDue()
    expect((await life.engine.learning.signals.report(ADA)).signals.processed).toBe(1)
  })

  it('[LD14] consolidation on request is a job during and after its run', async () => {
    const life = await openLife(open)
    await life.engine.remember(ADA, { content: 'Ada plays the violin.' })
    const listed = async () => (await life.engine.jobs.list({ owner: 'ada' })).rows
    let meanwhile: Awaited<ReturnType<typeof listed>> = []
    let looking = Promise.resolve()
    const report = await life.engine.learning.consolidate(ADA, {
      onProgress: () => {
        looking = looking.then(async () => {
          if (meanwhile.length === 0) meanwhile = await listed()
        })
      },
    })
    await looking
    const job = { kind: 'consolidate', owner: 'ada', input: { isForeground: true } }
    expect(meanwhile).toMatchObject([{ ...job, status: 'running' }])
    const outcome = { report: report.id, memories: 1 }
    expect(await listed()).toMatchObject([{ ...job, status: 'done', outcome }])
    await life.engine.learning.consolidate(ADA, { dryRun: true })
    expect(await listed()).toMatchObject([{ status: 'done', outcome }])
    life.clock.advance(HOUR_MS)
    expect(await life.engine.jobs.runDue()).toBe(0)
  })

  it('[LD14] failures and cancellations are reported, and not retried automatically', async () => {
    const life = await openLife(open)
    await life.engine.remember(ADA, { content: 'Ada plays the violin.' })
    const left = new AbortController()
    const input = { signal: left.signal, onProgress: () => left.abort() }
    await expect(life.engine.learning.consolidate(ADA, input)).rejects.toMatchObject({
      code: 'cancelled',
    })
    const listed = async () => (await life.engine.jobs.list({ owner: 'ada' })).rows
    expect(await listed()).toMatchObject([{ status: 'cancelled', dueAt: null }])
    const onProgress = () => {
      throw new Error('No.')
    }
    await expect(life.engine.learning.consolidate(ADA, { onProgress })).rejects.toThrow()
    expect(await listed()).toMatchObject([{ status: 'dead', lastError: 'internal', dueAt: null }])
    expect(await life.engine.jobs.runDue()).toBe(0)
    const [job] = await listed()
    await life.engine.jobs.retry(job?.id ?? '')
    expect(await life.engine.jobs.runDue()).toBe(1)
    expect(await listed()).toMatchObject([{ status: 'done', outcome: { memories: 1 } }])
  })

  /** Consolidation that stands still at its report until it is let go on. */
  const openHalted = async () => {
    let goOn = () => {}
    const released = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let isReached = false
    const isReport = (change: Change) =>
      change.op === 'put' && change.table === 'entry' && change.row.id.startsWith('rpt_')
    const life = await openLife(open, {
      on: (store) => ({
        ...store,
        commit: async (changes) => {
          if (!isReached && changes.some(isReport)) {
            isReached = true
            await released
          }
          return store.commit(changes)
        },
      }),
    })
    await life.engine.remember(KIM, { content: 'Kim plays the violin.' })
    const consolidating = life.engine.learning.consolidate(KIM).then(
      () => 'done',
      (error: { readonly code: string }) => error.code,
    )
    await expect.poll(() => isReached).toBe(true)
    const [job] = (await life.engine.jobs.list({ owner: 'ada' })).rows
    return { ...life, consolidating, goOn, id: job?.id ?? '' }
  }

  it('[LD14] it can be cancelled as any job can', async () => {
    const { engine, consolidating, goOn, id } = await openHalted()
    expect(await engine.jobs.cancel(id)).toMatchObject({ status: 'cancelled' })
    goOn()
    await consolidating
    expect(await engine.jobs.get(id)).toMatchObject({ status: 'cancelled' })
    expect((await engine.learning.consolidate(ADA, { waitMs: 0 })).id).not.toBeNull()
  })

  it('[LD14] another process continues it when its process dies', async () => {
    const { serve, clock, consolidating, goOn, id } = await openHalted()
    const other = serve()
    expect(await other.jobs.runDue()).toBe(0)
    clock.advance(2 * 60_000)
    expect(await other.jobs.runDue()).toBe(1)
    const done = {
      status: 'done',
      input: { isForeground: true, user: 'kim' },
      outcome: { memories: 1 },
    }
    expect(await other.jobs.get(id)).toMatchObject(done)
    goOn()
    await consolidating
    expect(await other.jobs.get(id)).toMatchObject(done)
  })

  it('[LI13] what a model is thinking about when the process is to end is learned', async () => {
    let answerNow = () => {}
    const thinking = new Promise<void>((resolve) => {
      answerNow = resolve
    })
    const model = new ScriptedModel(async () => {
      await thinking
      return TRIP
    })
    const life = await openLife(open, { model })
    await life.say('trip', ROME)
    life.clock.advance(QUIET_MS)
    const running = life.engine.jobs.runDue()
    await expect.poll(() => model.requests.length).toBe(1)
    const stopping = life.engine.jobs.stop(60_000)
    answerNow()
    await Promise.all([running, stopping])
    expect((await life.engine.learning.signals.report(ADA)).signals).toMatchObject({ processed: 1 })
  })
})
