/**
 * Background jobs: work that is written down in the commit that makes it necessary, done once in a while by whichever
 * process is there, and done again when that one dies.
 */

import type { OwnerId } from '../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../domain/limits.ts'
import { type IntervalTimers, systemIntervalTimers } from '../lib/clock.ts'
import type { ErrorCode } from '../lib/errors.ts'
import type { JsonObject } from '../lib/json.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { commitWithRetry } from '../storage/access/optimistic-commit.ts'
import { SYSTEM_SCOPE } from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Change, Page, Store } from '../storage/store.ts'
import type { Job, JobRequest, JobStatus } from './job.ts'
import { JobQueue } from './job-queue.ts'
import { type EndedJob, type JobHandler, JobRunner } from './job-runner.ts'
import {
  type LockedResult,
  type LockHold,
  type LockOptions,
  OwnerLocks,
  type TryAcquire,
} from './owner-locks.ts'

export type { IntervalTimers as Timers } from '../lib/clock.ts'

export type { Job, JobRequest, JobStatus } from './job.ts'

export type { EndedJob, JobContext, JobHandler, JobOutcome } from './job-runner.ts'

export type { LockHold as Hold } from './owner-locks.ts'

export type JobsOptions = {
  /** What is done for each kind. Jobs of other kinds are left to those who know them. */
  readonly kinds: Readonly<Record<string, JobHandler>>
  readonly timers?: IntervalTimers
  /** How many are done at once. */
  readonly concurrency?: number
  readonly pollMs?: number
  readonly leaseMs?: number
  readonly attemptsMax?: number
  readonly lostLeasesMax?: number
  /** Hears of every run when it has ended. Must not fail. */
  readonly onEnded?: (ended: EndedJob) => void
}

export type JobQuery = {
  /** Null for those of nobody. */
  readonly owner?: OwnerId | null
  readonly kind?: string
  readonly statuses?: readonly JobStatus[]
  readonly limit?: number
  readonly after?: string
}

/** A job that somebody waits for. */
export type ForegroundJob<Result> = {
  readonly request: Omit<JobRequest, 'owner' | 'at' | 'everyMs' | 'onlyIfNew'> & {
    readonly owner: OwnerId
  }
  /** What its row says of it. */
  readonly outcome: (result: Result) => JsonObject
}

export interface Jobs {
  /**
   * The changes that arm a job, for somebody's own commit: none when it is left alone. The same key again moves the time
   * and replaces the input; a job that runs is done again afterwards. The commit is refused when the job changed in
   * between: ask again, as for everything else that is decided by what was read. `store`: what the job is read from.
   */
  buildScheduleChanges(request: JobRequest, store?: Store): Promise<readonly Change[]>
  /** The same, in a commit of its own. */
  schedule(request: JobRequest): Promise<void>
  /** Is to hear every commit of this process, so that what is due at once begins at once. */
  onCommit(changes: readonly Change[]): void
  list(query?: JobQuery): Promise<Page<Job>>
  get(id: string, store?: Store): Promise<Job | null>
  /** Due now, with all attempts before it. */
  retry(id: string): Promise<Job>
  /** Stops it if it runs; of what recurs, this one time. */
  cancel(id: string): Promise<Job>
  /** Stops and removes what an owner has. */
  cancelOwnerJobs(owner: OwnerId): Promise<void>
  /** Does something that somebody waits for, while no job of the owner runs anywhere. */
  withOwnerLock<Result>(
    owner: OwnerId,
    work: (hold: LockHold) => Promise<Result>,
    options: LockOptions,
  ): Promise<LockedResult<Result>>
  /**
   * The same as a job: it can be looked at and cancelled like any other, and is done in the background when this process
   * dies before its end. Whoever waits hears of failures, so it is not tried again for those.
   */
  runForeground<Result>(
    task: ForegroundJob<Result>,
    work: (hold: LockHold) => Promise<Result>,
    options: LockOptions,
  ): Promise<LockedResult<Result>>
  /** Begins to do jobs in the background. */
  start(): void
  /** Does everything that is due, now. */
  runDue(): Promise<number>
  report(): {
    readonly running: readonly string[]
    /** Why due jobs could not be looked for the last time. */
    readonly lastError: ErrorCode | null
  }
  /** Begins no more jobs, and gives those that run this time to come to their end; then they are done another time. */
  stop(graceMs?: number): Promise<void>
  /** The same, and stops what was asked for at once. */
  close(graceMs?: number): Promise<void>
}

const CLOSE_MS = 5_000
const LIST_ROWS = 50

export function createJobs(ports: StoreDependencies, options: JobsOptions): Jobs {
  const { leaseMs = MINUTE_MS, attemptsMax = 3, lostLeasesMax = 10 } = options
  const limits = { leaseMs, attemptsMax, lostLeasesMax }
  const rows = new JobQueue(ports, limits)
  const timers = options.timers ?? systemIntervalTimers
  const runner = new JobRunner({
    ports,
    rows,
    limits,
    kinds: new Map(Object.entries(options.kinds)),
    timers,
    concurrency: options.concurrency ?? 2,
    pollMs: options.pollMs ?? 5_000,
    onEnded: options.onEnded ?? (() => {}),
  })
  const isAbandoned = (lane: string, version: number) => runner.isAbandoned(lane, version)
  const holders = new OwnerLocks({ ports, limits, timers, isAbandoned })
  const changed = (changes: readonly Change[]) => {
    const jobs = changes.flatMap((change) => {
      return change.op === 'put' && change.table === 'job' ? [change.row] : []
    })
    if (jobs.length > 0) runner.wake(jobs)
  }
  const entering =
    <Result>({ request, outcome }: ForegroundJob<Result>): TryAcquire<Result> =>
    async () => {
      const at = ports.clock.now()
      const claim = await rows.begin({ ...request, at }, isAbandoned)
      if (claim.kind !== 'claimed') return null
      const { run } = claim
      return {
        claim: run.claim,
        renew: async () => (await rows.renew(run)) === 'renewed',
        fence: () => rows.fence(run),
        release: async (ended) => {
          const { kind } = ended
          await rows.settle(run, kind === 'done' ? { kind, outcome: outcome(ended.result) } : ended)
          options.onEnded?.({ kind: request.kind, outcome: kind, ms: measureElapsed(ports, at) })
        },
      }
    }
  return {
    buildScheduleChanges: (request, store) => rows.arming(request, store),
    schedule: async (request) => {
      const changes = await commitWithRetry(ports, async () => {
        const arming = await rows.arming(request)
        return { changes: arming, result: arming }
      })
      changed(changes)
    },
    onCommit: changed,
    list: (query = {}) => listJobs(ports, query),
    get: (id, store) => rows.get(id, store),
    retry: async (id) => {
      const job = await rows.retry(id)
      runner.wake([job])
      return job
    },
    cancel: async (id) => {
      const { job, running } = await rows.cancel(id)
      if (running !== null) {
        runner.stop(id, running)
        holders.stop(running)
      }
      return job
    },
    cancelOwnerJobs: async (owner) => {
      await rows.removeAll(owner)
      await Promise.all([runner.stopAll(owner), holders.stopAll(owner)])
    },
    withOwnerLock: (owner, work, given) => holders.hold(owner, work, given),
    runForeground: (task, work, given) =>
      holders.hold(task.request.owner, work, given, entering(task)),
    start: () => runner.start(),
    runDue: () => runner.runDue(),
    report: () => ({ running: runner.running, lastError: runner.lastError }),
    stop: (graceMs = CLOSE_MS) => runner.close(graceMs),
    close: async (graceMs = CLOSE_MS) => {
      await Promise.all([runner.close(graceMs), holders.close(graceMs)])
    },
  }
}

/** A clock that was set back meanwhile took no time. */
function measureElapsed({ clock }: StoreDependencies, at: number): number {
  return Math.max(0, clock.now() - at)
}

/** In the order of ids, which means nothing, but stays the same from page to page. */
function listJobs({ store }: StoreDependencies, query: JobQuery): Promise<Page<Job>> {
  const { owner, kind, statuses, limit = LIST_ROWS, after } = query
  return store.find('job', SYSTEM_SCOPE, {
    where: {
      ...(owner === undefined ? {} : { owner }),
      ...(kind === undefined ? {} : { kinds: [kind] }),
      ...(statuses === undefined ? {} : { statuses }),
    },
    order: 'oldest',
    limit: Math.min(Math.max(1, limit), PAGE_ROWS_MAX),
    ...(after === undefined ? {} : { after }),
  })
}
