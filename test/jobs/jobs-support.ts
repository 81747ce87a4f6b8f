/** Simulates several processes that run jobs on one store. */
import { onTestFinished } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import {
  createJobs,
  type Job,
  type JobContext,
  type JobHandler,
  type JobHandlers,
  type JobRequest,
  type Jobs,
  type JobsOptions,
} from '../../src/jobs/jobs.ts'
import type { Instant } from '../../src/lib/time.ts'
import type { Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { FakeTimers } from '../fakes/timers.ts'

export type OpenStore = () => Promise<Store>

export const owner = (name: string) => name as OwnerId

export const LEASE_MS = 60_000

export const POLL_MS = 5_000

export type Server = {
  readonly jobs: Jobs
  readonly timers: FakeTimers
  pass(ms: number): Promise<void>
}

export async function openServers(open: OpenStore) {
  const store = await open()
  onTestFinished(() => store.close())
  const clock = new FakeClock()
  const ids = countingIds()
  const busy = { calls: 0, at: 0 }
  const serve = (
    kinds: JobHandlers,
    options: Partial<JobsOptions> = {},
    on = store,
    own = clock,
  ): Server => {
    const timers = new FakeTimers(own)
    const ports = { store: observed(on, busy), clock: own, ids, settings: {} }
    const jobs = createJobs(ports, { kinds, timers, ...options })
    onTestFinished(() => jobs.close(0))
    return { jobs, timers, pass: (ms) => timers.pass(ms, () => quiet(busy)) }
  }
  const request = (fields: Partial<JobRequest> = {}): JobRequest => ({
    kind: 'work',
    key: 'one',
    owner: owner('ada'),
    at: clock.now(),
    ...fields,
  })
  return { store, clock, serve, request, settle: () => quiet(busy) }
}

/** Waits until the store was idle for a few turns of the event loop. */
async function quiet(busy: { readonly calls: number; readonly at: number }): Promise<void> {
  for (let turns = 0, seen = busy.at; turns < 5; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (busy.calls > 0 || busy.at !== seen) {
      turns = 0
      seen = busy.at
    }
  }
}

function observed(store: Store, busy: { calls: number; at: number }): Store {
  const counted = <Call extends (...args: never[]) => Promise<unknown>>(call: Call) =>
    (async (...args: Parameters<Call>) => {
      busy.calls++
      busy.at++
      try {
        return await call(...args)
      } finally {
        busy.calls--
      }
    }) as unknown as Call // the same signature
  return {
    ...store,
    get: counted(store.get) as Store['get'],
    find: counted(store.find) as Store['find'],
    commit: counted(store.commit),
  }
}

/** A handler that records its runs and waits until `end` is called. */
export function held() {
  const runs: { readonly job: Job; readonly context: JobContext }[] = []
  const waiting: ((error?: Error) => void)[] = []
  const handle: JobHandler = async (job, context) => {
    runs.push({ job, context })
    await new Promise<void>((resolve, reject) => {
      waiting.push((error) => (error === undefined ? resolve() : reject(error)))
      context.signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
    })
    return { kind: 'done', outcome: {} }
  }
  return { runs, handle, end: (error?: Error) => waiting.shift()?.(error) }
}

/** A handler that records its runs and succeeds immediately. */
export function quick() {
  const runs: Job[] = []
  const handle: JobHandler = async (job) => {
    runs.push(job)
    return { kind: 'done', outcome: { run: runs.length } }
  }
  return { runs, handle }
}

export function later(now: Instant, ms: number): Instant {
  return (now + ms) as Instant
}
