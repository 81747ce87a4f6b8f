/** What background jobs promise, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import { buildJobId, type JobRequest } from '../../src/jobs/job.ts'
import type { Change } from '../../src/storage/store.ts'
import { FakeClock } from '../fakes/clock.ts'
import { memory } from '../fakes/memories.ts'
import { expectSound } from '../support/doctor.ts'
import {
  held,
  LEASE_MS,
  later,
  type OpenStore,
  openServers,
  owner,
  POLL_MS,
  quick,
} from './jobs-support.ts'

const HOUR_MS = 3_600_000

export function describeJobs(name: string, open: OpenStore): void {
  describe(`${name}: arming`, () => describeArming(open))
  describe(`${name}: who does what`, () => describeClaims(open))
}

function describeArming(open: OpenStore): void {
  it('[JB1] is scheduled in the commit that makes it necessary, or not at all', async () => {
    const { store, serve, request } = await openServers(open)
    const { jobs } = serve({ work: quick().handle })
    const row = memory()
    const put: Change = { op: 'put', table: 'memory', row, expect: 'absent' }
    const arming = await jobs.buildScheduleChanges(request())
    expect(await store.commit([put, ...arming])).toEqual({ kind: 'committed' })
    const other = await jobs.buildScheduleChanges(request({ key: 'other' }))
    expect(await store.commit([put, ...other])).toMatchObject({ kind: 'conflict' })
    expect((await jobs.list()).rows.map(({ key }) => key)).toEqual(['one'])
  })

  it('[JB2] the same key is the same job: the latest time and input apply', async () => {
    const { clock, serve, request } = await openServers(open)
    const { handle, runs } = quick()
    const { jobs } = serve({ work: handle })
    await jobs.schedule(request({ at: later(clock.now(), 1_000), input: { turn: 1 } }))
    await jobs.schedule(request({ at: later(clock.now(), 60_000), input: { turn: 2 } }))
    clock.advance(59_999)
    expect(await jobs.runDue()).toBe(0)
    clock.advance(1)
    expect(await jobs.runDue()).toBe(1)
    expect(runs.map(({ input }) => input)).toEqual([{ turn: 2 }])
    expect(await jobs.runDue()).toBe(0)
  })

  it('[JB2] jobs with the same key but another owner or kind are separate', async () => {
    const { serve, request } = await openServers(open)
    const { handle, runs } = quick()
    const { jobs } = serve({ work: handle, play: handle })
    await jobs.schedule(request())
    await jobs.schedule(request({ owner: owner('bob') }))
    await jobs.schedule(request({ owner: null }))
    await jobs.schedule(request({ kind: 'play' }))
    await jobs.runDue()
    expect(runs.map(({ kind, owner }) => `${kind} ${owner}`).sort()).toEqual([
      'play ada',
      'work ada',
      'work bob',
      'work null',
    ])
  })

  it('[JB3] a job that is scheduled while it runs runs once more', async () => {
    const { serve, request, settle } = await openServers(open)
    const { handle, runs, end } = held()
    const { jobs } = serve({ work: handle })
    await jobs.schedule(request({ input: { turn: 1 } }))
    jobs.start()
    await settle()
    await jobs.schedule(request({ input: { turn: 2 } }))
    await jobs.schedule(request({ input: { turn: 3 } }))
    await settle()
    expect(runs).toHaveLength(1)
    end()
    await settle()
    expect(runs.map(({ job }) => job.input)).toEqual([{ turn: 1 }, { turn: 3 }])
    end()
    await settle()
    expect(runs).toHaveLength(2)
    expect(await jobs.get(buildJobId(request()))).toMatchObject({ status: 'done' })
  })

  it('[JB3] the same holds for another process, a later time, and a failing run', async () => {
    const { clock, serve, request, settle } = await openServers(open)
    const { handle, runs, end } = held()
    const { jobs, pass } = serve({ work: handle })
    await jobs.schedule(request({ input: { turn: 1 } }))
    jobs.start()
    await settle()
    const at = later(clock.now(), 30_000)
    await serve({}).jobs.schedule(request({ at, input: { turn: 2 } }))
    end(new Error('no'))
    await settle()
    expect(await jobs.get(buildJobId(request()))).toMatchObject({
      status: 'waiting',
      dueAt: at,
      attempts: 0,
    })
    await pass(30_000)
    expect(runs.map(({ job }) => job.input)).toEqual([{ turn: 1 }, { turn: 2 }])
  })

  it('[JB4] starts own jobs immediately and those of other processes soon', async () => {
    const { clock, store, serve, request, settle } = await openServers(open)
    const { handle, runs } = quick()
    const { jobs, pass } = serve({ work: handle })
    jobs.start()
    await settle()
    const changes = await jobs.buildScheduleChanges(request({ key: 'mine' }))
    await store.commit(changes)
    jobs.onCommit(changes)
    await settle()
    expect(runs.map(({ key }) => key)).toEqual(['mine'])
    await serve({}).jobs.schedule(request({ key: 'theirs' }))
    await jobs.schedule(request({ key: 'soon', at: later(clock.now(), 7_000) }))
    await pass(POLL_MS)
    expect(runs.map(({ key }) => key)).toEqual(['mine', 'theirs'])
    await pass(POLL_MS)
    expect(runs.map(({ key }) => key)).toEqual(['mine', 'theirs', 'soon'])
  })

  it('[JB5] refuses invalid requests', async () => {
    const { serve, request } = await openServers(open)
    const { jobs } = serve({})
    const wrong: Partial<JobRequest>[] = [
      { kind: 'two words' },
      { kind: 'x'.repeat(20) },
      { key: 'k'.repeat(1_001) },
      { at: Number.NaN as JobRequest['at'] },
      { everyMs: 10 },
    ]
    for (const fields of wrong) {
      await expect(jobs.schedule(request(fields))).rejects.toMatchObject({ code: 'invalid_input' })
    }
    for (const call of [jobs.retry('job_no'), jobs.cancel('job_no')]) {
      await expect(call).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await jobs.get('set_system')).toBeNull()
  })

  it('[JB5] does not run unknown kinds', async () => {
    const { serve, request } = await openServers(open)
    const { handle, runs } = quick()
    const { jobs } = serve({ work: handle })
    await jobs.schedule(request({ kind: 'newer' }))
    await jobs.schedule(request())
    expect(await jobs.runDue()).toBe(1)
    expect(runs.map(({ kind }) => kind)).toEqual(['work'])
    expect(await serve({ newer: handle }).jobs.runDue()).toBe(1)
  })
}

function describeClaims(open: OpenStore): void {
  it('[JB6] many jobs, several processes: each runs once, those of an owner one at a time', async () => {
    const { serve, request } = await openServers(open)
    const done: string[] = []
    const working = new Set<string>()
    let atOnce = 0
    const handle = async ({ key, owner }: { key: string; owner: string | null }) => {
      expect(working.has(owner ?? '')).toBe(false)
      working.add(owner ?? '')
      atOnce = Math.max(atOnce, working.size)
      await new Promise((resolve) => setTimeout(resolve, (key.length * 7) % 3))
      working.delete(owner ?? '')
      done.push(`${owner} ${key}`)
      return { kind: 'done' as const, outcome: {} }
    }
    const servers = [1, 2, 3].map(() => serve({ work: handle }).jobs)
    const all: string[] = []
    for (let n = 0; n < 60; n++) {
      const fields = { key: 'k'.repeat(n + 1), owner: owner(`owner ${n % 7}`) }
      all.push(`${fields.owner} ${fields.key}`)
      await servers[n % 3]?.schedule(request(fields))
    }
    // A blocked server polls again.
    for (let round = 0; done.length < all.length && round < 100; round++) {
      await Promise.all(servers.map((jobs) => jobs.runDue()))
    }
    expect(done.sort()).toEqual(all.sort())
    expect(atOnce).toBeLessThanOrEqual(6)
  })

  it('[JB7] respects the concurrency limit', async () => {
    const { serve, request, settle } = await openServers(open)
    const { handle, runs, end } = held()
    const { jobs } = serve({ work: handle })
    for (const name of ['a', 'b', 'c', 'd']) await jobs.schedule(request({ owner: owner(name) }))
    jobs.start()
    await settle()
    expect(runs).toHaveLength(2)
    expect(jobs.report().running).toHaveLength(2)
    end()
    await settle()
    expect(runs).toHaveLength(3)
  })

  it('[JB7] a job that waits for its lock does not block others', async () => {
    const { serve, request, settle } = await openServers(open)
    const { handle, runs, end } = held()
    const { jobs } = serve({ work: handle })
    for (let n = 0; n < 30; n++) await jobs.schedule(request({ key: `ada ${n}` }))
    await jobs.schedule(request({ key: 'bob', owner: owner('bob') }))
    jobs.start()
    await settle()
    expect(runs.map(({ job }) => job.owner).sort()).toEqual(['ada', 'bob'])
    for (let n = 0; n < 31; n++) {
      end()
      await settle()
    }
    expect(new Set(runs.map(({ job }) => job.key)).size).toBe(31)
  })

  it('[JB8] another process runs a job whose process died after its lease expired', async () => {
    const { serve, request, settle } = await openServers(open)
    const dying = held()
    const first = serve({ work: dying.handle })
    await first.jobs.schedule(request())
    first.jobs.start()
    await settle()
    expect(dying.runs).toHaveLength(1)
    const { handle, runs } = quick()
    const second = serve({ work: handle })
    second.jobs.start()
    await second.pass(LEASE_MS - POLL_MS)
    expect(runs).toEqual([])
    await second.pass(LEASE_MS)
    expect(runs).toHaveLength(1)
    expect(runs[0]).toMatchObject({ lostLeases: 1, lastError: 'lease_lost' })
    // The first one wakes up and can't say anything any more.
    dying.end(new Error('late'))
    await settle()
    expect(await second.jobs.get(buildJobId(request()))).toMatchObject({
      status: 'done',
      lastError: null,
    })
  })

  it('[JB8] the other jobs of its owner wait no longer than that lease', async () => {
    const { clock, serve, request, settle } = await openServers(open)
    const first = serve({ work: held().handle })
    await first.jobs.schedule(request())
    first.jobs.start()
    await settle()
    const { handle, runs } = quick()
    const { jobs } = serve({ work: handle })
    await jobs.schedule(request({ key: 'two' }))
    expect(await jobs.runDue()).toBe(0)
    clock.advance(LEASE_MS)
    expect(await jobs.runDue()).toBe(2)
    expect(runs.map(({ key }) => key).sort()).toEqual(['one', 'two'])
  })

  it('[JB8] a job that crashes its process repeatedly is eventually dead', async () => {
    const { clock, serve, request, settle } = await openServers(open)
    await serve({}).jobs.schedule(request())
    for (let n = 0; n < 3; n++) {
      const { handle, runs } = held()
      const { jobs } = serve({ work: handle }, { lostLeasesMax: 3 })
      void jobs.runDue()
      await settle()
      expect(runs).toHaveLength(1)
      clock.advance(LEASE_MS)
    }
    const { handle, runs } = quick()
    const { jobs } = serve({ work: handle }, { lostLeasesMax: 3 })
    await jobs.runDue()
    await jobs.runDue()
    expect(await jobs.get(buildJobId(request()))).toMatchObject({
      status: 'dead',
      lastError: 'lease_lost',
    })
    expect(runs).toEqual([])
    await jobs.retry(buildJobId(request()))
    expect(await jobs.runDue()).toBe(1)
  })

  it('[JB9] keeps a run that takes longer than a lease', async () => {
    const { serve, request, settle } = await openServers(open)
    const long = held()
    const first = serve({ work: long.handle })
    await first.jobs.schedule(request())
    first.jobs.start()
    await settle()
    const { handle, runs } = quick()
    const second = serve({ work: handle })
    for (let n = 0; n < 10; n++) {
      await first.pass(LEASE_MS / 2)
      await second.jobs.runDue()
    }
    expect(runs).toEqual([])
    expect(long.runs[0]?.context.signal.aborted).toBe(false)
    await long.runs[0]?.context.renew()
    long.end()
    await settle()
    expect(await first.jobs.get(buildJobId(request()))).toMatchObject({ status: 'done' })
    expect(first.timers.count).toBe(1)
  })

  it('[JB10] a worker that lost its lease is stopped, and its fenced commits fail', async () => {
    const { clock, store, serve, request, settle } = await openServers(open)
    const slow = held()
    const first = serve({ work: slow.handle })
    await first.jobs.schedule(request())
    first.jobs.start()
    await settle()
    const context = slow.runs[0]?.context
    const fence = (await context?.fence()) as Change // there is a run
    const put: Change = { op: 'put', table: 'memory', row: memory(), expect: 'absent' }
    expect(await store.commit([fence, put])).toEqual({ kind: 'committed' })
    clock.advance(LEASE_MS)
    const other = held()
    const second = serve({ work: other.handle })
    void second.jobs.runDue()
    await settle()
    expect(other.runs).toHaveLength(1)
    expect(await store.commit([fence])).toMatchObject({ kind: 'conflict' })
    await expect(context?.fence()).rejects.toMatchObject({ code: 'cancelled' })
    await expect(context?.renew()).rejects.toMatchObject({ code: 'cancelled' })
    expect(context?.signal.aborted).toBe(true)
    other.end()
    await settle()
    expect(await second.jobs.get(buildJobId(request()))).toMatchObject({ status: 'done' })
  })

  it('[JB11] a running job keeps its lease when the clock is set forward', async () => {
    const { clock, serve, request, settle } = await openServers(open)
    const slow = held()
    const first = serve({ work: slow.handle })
    await first.jobs.schedule(request())
    first.jobs.start()
    await settle()
    const { handle, runs } = quick()
    const second = serve({ work: handle })
    second.jobs.start()
    await settle()
    clock.advance(86_400_000)
    await second.pass(2 * POLL_MS)
    await first.pass(LEASE_MS / 3)
    await second.pass(LEASE_MS - POLL_MS)
    expect(runs).toEqual([])
    expect(slow.runs[0]?.context.signal.aborted).toBe(false)
  })

  it('[JB11] a clock set back keeps no job waiting', async () => {
    const { clock, serve, request, settle } = await openServers(open)
    const first = serve({ work: held().handle })
    await first.jobs.schedule(request({ key: 'lost' }))
    first.jobs.start()
    await settle()
    await first.jobs.schedule(
      request({ key: 'armed', owner: owner('bob'), at: later(clock.now(), 60_000) }),
    )
    const { handle, runs } = quick()
    const second = serve({ work: handle })
    second.jobs.start()
    await settle()
    clock.advance(-86_400_000)
    await second.pass(POLL_MS)
    expect(runs.map(({ key }) => key)).toEqual(['armed'])
    await second.pass(LEASE_MS)
    expect(runs.map(({ key }) => key)).toEqual(['armed', 'lost'])
  })

  it('[JB11] a clock set back takes no job from its worker', async () => {
    const { clock, serve, request, settle } = await openServers(open)
    const slow = held()
    const first = serve({ work: slow.handle })
    await first.jobs.schedule(request())
    first.jobs.start()
    const { handle, runs } = quick()
    const second = serve({ work: handle })
    second.jobs.start()
    await settle()
    clock.advance(-86_400_000)
    await second.pass(2 * POLL_MS)
    await first.pass(LEASE_MS / 3)
    await second.pass(LEASE_MS / 3)
    expect(runs).toEqual([])
    expect(slow.runs).toHaveLength(1)
  })

  it.each([5 * 60_000, 3 * HOUR_MS])(
    '[JB19] servers whose clocks are %d ms apart do each job once, and lose none',
    async (apartMs) => {
      const { store, clock, serve, request, settle } = await openServers(open)
      const ahead = new FakeClock(clock.now() + apartMs)
      const { runs, handle } = quick()
      const long = held()
      const recurring: string[] = []
      const kinds = (server: string) => ({
        work: handle,
        long: long.handle,
        again: async () => {
          recurring.push(server)
          return { kind: 'done', outcome: {} } as const
        },
      })
      const servers = [
        { ...serve(kinds('here')), clock },
        { ...serve(kinds('ahead'), {}, store, ahead), clock: ahead },
      ]
      const everyMs = 2 * LEASE_MS
      for (const [n, { jobs, clock: own }] of servers.entries()) {
        for (let key = 0; key < 4; key++) {
          const at = later(own.now(), key * POLL_MS)
          const name = `${n} ${key}`
          await jobs.schedule(request({ key: name, at, owner: owner(name) }))
        }
        const at = own.now()
        await jobs.schedule(request({ kind: 'long', key: `${n}`, at, owner: owner(`long ${n}`) }))
        await jobs.schedule(request({ kind: 'again', key: `${n}`, at, owner: null, everyMs }))
        jobs.start()
      }
      for (let passed = 0; passed < 4 * LEASE_MS; passed += POLL_MS) {
        for (const { pass } of servers) await pass(POLL_MS)
        await settle()
      }
      expect(runs.map(({ key }) => key).sort()).toEqual(
        [0, 1].flatMap((n) => [0, 1, 2, 3].map((key) => `${n} ${key}`)),
      )
      // They take several leases, and whoever does one keeps it.
      expect(long.runs.map(({ job }) => job.key).sort()).toEqual(['0', '1'])
      // Two of them, now and after each two minutes; one that begins with the clock of the other is done once more.
      expect(recurring.length).toBeGreaterThanOrEqual(4)
      expect(recurring.length).toBeLessThanOrEqual(8)
      for (const _ of servers) long.end()
      await settle()
      expect((await servers[0]?.jobs.list({ statuses: ['running'] }))?.rows).toEqual([])
      await expectSound(store)
    },
  )
}
