/** How jobs end, and what is kept of them, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import { buildJobId } from '../../src/jobs/job.ts'
import { AppError } from '../../src/lib/errors.ts'
import type { Change } from '../../src/storage/store.ts'
import { failingAt, interruptedBeforeCommit } from '../fakes/faulty-store.ts'
import { held, LEASE_MS, later, type OpenStore, openServers, owner, quick } from './jobs-support.ts'

export function describeJobEndings(name: string, open: OpenStore): void {
  describe(`${name}: failing and stopping`, () => describeFailures(open))
  describe(`${name}: keeping`, () => describeKeeping(open))
}

function describeFailures(open: OpenStore): void {
  const failing = (error: Error = new AppError('unavailable', 'Not now: secret words.')) => {
    const lastAttempts: boolean[] = []
    const handle = async (_: unknown, { isLastAttempt }: { readonly isLastAttempt: boolean }) => {
      lastAttempts.push(isLastAttempt)
      throw error
    }
    return { lastAttempts, handle }
  }

  it('[JB12] retries with exponential backoff, then is dead, and can be retried by hand', async () => {
    const { clock, serve, request } = await openServers(open)
    const { lastAttempts, handle } = failing()
    const { jobs } = serve({ work: handle })
    await jobs.schedule(request())
    const id = buildJobId(request())
    for (const pause of [30_000, 60_000]) {
      await jobs.runDue()
      expect(await jobs.get(id)).toMatchObject({ status: 'waiting', dueAt: clock.now() + pause })
      clock.advance(pause - 1)
      expect(await jobs.runDue()).toBe(0)
      clock.advance(1)
    }
    await jobs.runDue()
    expect(await jobs.get(id)).toMatchObject({
      status: 'dead',
      attempts: 3,
      dueAt: null,
      lastError: 'unavailable',
    })
    expect(lastAttempts).toEqual([false, false, true])
    clock.advance(30 * 86_400_000)
    expect(await jobs.runDue()).toBe(0)
    expect(JSON.stringify(await jobs.list({ statuses: ['dead'] }))).not.toContain('secret')
    expect(await jobs.retry(id)).toMatchObject({
      status: 'waiting',
      attempts: 0,
      lastError: 'unavailable',
    })
    expect(await jobs.runDue()).toBe(1)
  })

  it('[JB12] waits at most an hour', async () => {
    const { clock, serve, request } = await openServers(open)
    const { jobs } = serve({ work: failing().handle }, { attemptsMax: 20 })
    await jobs.schedule(request())
    for (let n = 0; n < 12; n++) {
      await jobs.runDue()
      const { dueAt } = (await jobs.get(buildJobId(request()))) ?? {}
      expect((dueAt ?? 0) - clock.now()).toBe(Math.min(30_000 * 2 ** n, 3_600_000))
      clock.advance(3_600_000)
    }
  })

  it('[JB12] an error with a known end postpones the job', async () => {
    const { clock, serve, request } = await openServers(open)
    const until = clock.now() + 5 * 3_600_000
    const { jobs } = serve({
      work: failing(new AppError('too_many_requests', 'Spent.', { until })).handle,
    })
    await jobs.schedule(request())
    await jobs.runDue()
    expect(await jobs.get(buildJobId(request()))).toMatchObject({
      ...{ status: 'waiting', dueAt: until, attempts: 0, lastError: 'too_many_requests' },
    })
  })

  it('[JB13] a recurring job continues after success and failure alike', async () => {
    const { clock, serve, request } = await openServers(open)
    const { handle, runs } = quick()
    const { jobs } = serve({ work: handle, bad: failing().handle }, { attemptsMax: 1 })
    await jobs.schedule(request({ everyMs: 86_400_000 }))
    await jobs.schedule(request({ kind: 'bad', everyMs: 86_400_000 }))
    for (let day = 1; day <= 3; day++) {
      expect(await jobs.runDue()).toBe(2)
      clock.advance(86_400_000 - 1)
      expect(await jobs.runDue()).toBe(0)
      clock.advance(1)
      expect(runs).toHaveLength(day)
    }
    expect(await jobs.get(buildJobId(request()))).toMatchObject({
      status: 'waiting',
      outcome: { run: 3 },
    })
  })

  it('[JB13] a restart does not postpone recurring jobs', async () => {
    const { clock, serve, request } = await openServers(open)
    const { jobs } = serve({ work: quick().handle })
    const daily = (everyMs: number) =>
      request({ at: later(clock.now(), everyMs), everyMs, onlyIfNew: true })
    await jobs.schedule(daily(86_400_000))
    const due = clock.now() + 86_400_000
    clock.advance(3_600_000)
    await jobs.schedule(daily(86_400_000))
    expect(await jobs.get(buildJobId(request()))).toMatchObject({ dueAt: due })
    await jobs.schedule(daily(7_200_000))
    expect(await jobs.get(buildJobId(request()))).toMatchObject({ dueAt: clock.now() + 7_200_000 })
  })

  it('[JB13] continues later with new input when the handler requests it', async () => {
    const { clock, serve, request } = await openServers(open)
    const seen: unknown[] = []
    const { jobs } = serve({
      work: async ({ input }) => {
        seen.push(input.from ?? 0)
        const from = Number(input.from ?? 0) + 1
        if (from > 2) return { kind: 'done', outcome: { from } }
        return { kind: 'later', at: clock.now(), input: { from } }
      },
    })
    await jobs.schedule(request())
    expect(await jobs.runDue()).toBe(3)
    expect(seen).toEqual([0, 1, 2])
  })

  it('[JB14] is cancelled before it runs, while it runs here, and while another process runs it', async () => {
    const { serve, request, settle } = await openServers(open)
    const { handle, runs } = held()
    const first = serve({ work: handle })
    const id = buildJobId(request())
    await first.jobs.schedule(request())
    expect(await first.jobs.cancel(id)).toMatchObject({ status: 'cancelled' })
    expect(await first.jobs.runDue()).toBe(0)

    first.jobs.start()
    await first.jobs.schedule(request())
    await settle()
    await first.jobs.cancel(id)
    await settle()
    expect(runs[0]?.context.signal.aborted).toBe(true)
    expect(await first.jobs.get(id)).toMatchObject({ status: 'cancelled', lastError: null })
    expect(first.jobs.report().running).toEqual([])

    await first.jobs.retry(id)
    await settle()
    expect(runs).toHaveLength(2)
    await serve({}).jobs.cancel(id)
    await first.pass(LEASE_MS / 3)
    expect(runs[1]?.context.signal.aborted).toBe(true)
    expect(await first.jobs.get(id)).toMatchObject({ status: 'cancelled' })
    await first.jobs.schedule(request())
    await settle()
    expect(runs).toHaveLength(3)
  })

  it('[JB14] cancelling a recurring job cancels one run', async () => {
    const { clock, serve, request } = await openServers(open)
    const { jobs } = serve({ work: quick().handle })
    await jobs.schedule(request({ everyMs: 60_000 }))
    await jobs.cancel(buildJobId(request()))
    expect(await jobs.runDue()).toBe(0)
    clock.advance(60_000)
    expect(await jobs.runDue()).toBe(1)
  })

  it('[JB15] closing lets running jobs finish and starts no others', async () => {
    const { serve, request, settle } = await openServers(open)
    const { handle, runs, end } = held()
    const first = serve({ work: handle })
    await first.jobs.schedule(request())
    await first.jobs.schedule(request({ owner: owner('bob') }))
    await first.jobs.schedule(request({ key: 'two' }))
    first.jobs.start()
    await settle()
    const closing = first.jobs.close(60_000)
    await settle()
    expect(runs.map(({ context }) => context.signal.aborted)).toEqual([false, false])
    end()
    end()
    await closing
    expect(runs).toHaveLength(2)
    expect(first.timers.count).toBe(0)
    expect(await first.jobs.get(buildJobId(request()))).toMatchObject({ status: 'done' })
    expect(await first.jobs.get(buildJobId(request({ key: 'two' })))).toMatchObject({
      status: 'waiting',
    })
  })

  it('[JB15] jobs that exceed the grace period are stopped and released immediately', async () => {
    const { serve, request, settle } = await openServers(open)
    const { handle, runs } = held()
    const first = serve({ work: handle })
    await first.jobs.schedule(request())
    await first.jobs.schedule(request({ key: 'two' }))
    first.jobs.start()
    await settle()
    await first.jobs.close(1)
    expect(runs).toHaveLength(1)
    expect(first.timers.count).toBe(0)
    const second = serve({ work: quick().handle })
    expect(await second.jobs.get(buildJobId(request()))).toMatchObject({
      status: 'waiting',
      attempts: 0,
      lostLeases: 0,
    })
    expect(await second.jobs.runDue()).toBe(2)
    expect(await first.jobs.runDue()).toBe(0)
  })

  it('[JB15] closing waits a limited time, and a job that keeps running keeps its lease', async () => {
    const { clock, serve, request, settle } = await openServers(open)
    let end = () => {}
    const deaf = () =>
      new Promise<{ kind: 'done'; outcome: object }>((resolve) => {
        end = () => resolve({ kind: 'done', outcome: {} })
      })
    const first = serve({ work: deaf as never })
    await first.jobs.schedule(request())
    first.jobs.start()
    await settle()
    await first.jobs.close(1)
    const { handle, runs } = quick()
    const second = serve({ work: handle })
    expect(await second.jobs.runDue()).toBe(0)
    end()
    await settle()
    expect(await second.jobs.get(buildJobId(request()))).toMatchObject({ status: 'done' })
    clock.advance(2 * LEASE_MS)
    expect(await second.jobs.runDue()).toBe(0)
    expect(runs).toEqual([])
  })

  it('[JB16] whichever store call fails, the job is eventually done and its lock is free', async () => {
    const { clock, store, serve, request } = await openServers(open)
    for (let call = 1; call <= 14; call++) {
      for (const when of ['before', 'after'] as const) {
        const whose = owner(`call ${call}, ${when}`)
        const mine = request({ owner: whose })
        const { handle, runs } = quick()
        const first = serve({ work: handle }, {}, failingAt(store, { call, when }))
        await first.jobs.schedule(mine).catch(() => {})
        await first.jobs.runDue().catch(() => {})
        const second = serve({ work: handle })
        await second.jobs.schedule({ ...mine, onlyIfNew: true })
        clock.advance(2 * LEASE_MS)
        await second.jobs.runDue()
        expect(runs.length, whose).toBeGreaterThan(0)
        expect(await second.jobs.get(buildJobId(mine)), whose).toMatchObject({ status: 'done' })
        await second.jobs.schedule({ ...mine, key: 'next' })
        expect(await second.jobs.runDue(), whose).toBe(1)
      }
    }
  })
}

function describeKeeping(open: OpenStore): void {
  const HOUR = 3_600_000

  it('[JB17] finished jobs stay visible for an hour; dead ones stay', async () => {
    const { store, clock, serve, request, settle } = await openServers(open)
    const { handle } = quick()
    const fails = async () => {
      throw new Error('no')
    }
    const { jobs, pass } = serve({ work: handle, bad: fails }, { attemptsMax: 1 })
    for (let n = 0; n < 5; n++) await jobs.schedule(request({ key: `${n}` }))
    await jobs.schedule(request({ kind: 'bad' }))
    await jobs.runDue()
    expect((await jobs.list({ statuses: ['done'] })).rows).toHaveLength(5)
    clock.advance(HOUR)
    await jobs.schedule(request({ key: '0', at: later(clock.now(), 2 * HOUR) }))
    const commits: number[] = []
    const counting = {
      ...store,
      commit: (changes: readonly Change[]) => {
        if (changes.some(({ op }) => op === 'remove')) commits.push(changes.length)
        return store.commit(changes)
      },
    }
    await jobs.close()
    const next = serve({ work: handle }, {}, counting)
    next.jobs.start()
    await settle()
    await next.pass(5 * 60_000)
    await pass(0)
    expect((await jobs.list()).rows.map(({ status }) => status).sort()).toEqual(['dead', 'waiting'])
    expect(commits).toEqual([4])
  })

  it('[JB17] a job that is scheduled during its removal stays', async () => {
    const { store, clock, serve, request, settle } = await openServers(open)
    const { jobs } = serve({ work: quick().handle })
    await jobs.schedule(request())
    await jobs.runDue()
    clock.advance(HOUR)
    const at = later(clock.now(), HOUR)
    const scheduling = interruptedBeforeCommit(store, () => jobs.schedule(request({ at })))
    const next = serve({ work: quick().handle }, {}, scheduling)
    next.jobs.start()
    await settle()
    await next.pass(5 * 60_000)
    expect(await jobs.get(buildJobId(request()))).toMatchObject({ status: 'waiting', dueAt: at })
  })

  it('[JB18] lists jobs by owner, kind and status, page by page', async () => {
    const { serve, request } = await openServers(open)
    const { jobs } = serve({ work: quick().handle })
    for (let n = 0; n < 5; n++) {
      await jobs.schedule(request({ key: `${n}`, owner: n < 3 ? owner('ada') : null }))
    }
    await jobs.schedule(request({ kind: 'play' }))
    const first = await jobs.list({ owner: owner('ada'), kind: 'work', limit: 2 })
    const rest = await jobs.list({ owner: owner('ada'), kind: 'work', after: first.next ?? '' })
    expect([...first.rows, ...rest.rows].map(({ key }) => key).sort()).toEqual(['0', '1', '2'])
    expect(rest.next).toBeNull()
    expect((await jobs.list({ owner: null })).rows).toHaveLength(2)
    await jobs.runDue()
    const done = await jobs.list({ statuses: ['done'] })
    expect(done.rows).toHaveLength(5)
    expect(done.rows[0]).toMatchObject({ outcome: { run: expect.any(Number) }, claim: null })
  })

  it('[JB18] erasing an owner stops and removes its jobs', async () => {
    const { serve, request, settle } = await openServers(open)
    const { handle, runs } = held()
    const { jobs } = serve({ work: handle })
    await jobs.schedule(request())
    await jobs.schedule(request({ key: 'two' }))
    await jobs.schedule(request({ owner: owner('bob') }))
    jobs.start()
    await settle()
    await jobs.cancelOwnerJobs(owner('ada'))
    await settle()
    expect(runs.map(({ job, context }) => [job.owner, context.signal.aborted])).toEqual([
      ['ada', true],
      ['bob', false],
    ])
    expect((await jobs.list()).rows.map(({ owner }) => owner)).toEqual(['bob'])
  })

  it('[JB18] reports every run that ended', async () => {
    const { serve, request } = await openServers(open)
    const ended: string[] = []
    const { jobs } = serve(
      {
        work: quick().handle,
        bad: async () => {
          throw new Error('no')
        },
      },
      { onEnded: ({ kind, outcome }) => ended.push(`${kind} ${outcome}`) },
    )
    await jobs.schedule(request())
    await jobs.schedule(request({ kind: 'bad', owner: null }))
    await jobs.runDue()
    expect(ended.sort()).toEqual(['bad failed', 'work done'])
  })
}
