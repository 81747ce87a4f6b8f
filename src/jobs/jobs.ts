/**
 * Background jobs: scheduled in the commit that makes them necessary (a transactional outbox), run by any process on
 * the store, and run again when that process dies.
 */
import type { OwnerId } from '../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../domain/limits.ts'
import { NEVER_ABORTED } from '../lib/abort.ts'
import { type IntervalTimers, systemIntervalTimers } from '../lib/clock.ts'
import { AppError, type ErrorCode } from '../lib/errors.ts'
import type { JsonObject } from '../lib/json.ts'
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
import { createProcessRegistry, type ProcessRegistry } from './process-identity.ts'

export type { Job, JobRequest, JobStatus } from './job.ts'

export type { EndedJob, JobContext, JobHandler, JobOutcome } from './job-runner.ts'

export type JobHandlers = Readonly<Record<string, JobHandler>>

export type JobsOptions = {
  /** Handlers by kind; `register` adds more. Jobs of other kinds are left to processes that handle them. */
  readonly kinds?: JobHandlers
  readonly timers?: IntervalTimers
  /** How many jobs run at once. */
  readonly concurrency?: number
  readonly pollMs?: number
  readonly leaseMs?: number
  /** Which processes of this machine are gone. Default: as the system says. */
  readonly processes?: ProcessRegistry
  readonly attemptsMax?: number
  readonly lostLeasesMax?: number
  /** Called after every run. Must not throw. */
  readonly onEnded?: (ended: EndedJob) => void
}

export type JobQuery = {
  /** Null selects the jobs of the whole system. */
  readonly owner?: OwnerId | null
  readonly kind?: string
  readonly statuses?: readonly JobStatus[]
  readonly limit?: number
  readonly after?: string
}

/** A job whose caller waits for its result. */
export type ForegroundJob<Result> = {
  readonly request: Omit<JobRequest, 'owner' | 'at' | 'everyMs' | 'onlyIfNew'> & {
    readonly owner: OwnerId
  }
  /** The outcome that is stored with the job. */
  readonly outcome: (result: Result) => JsonObject
}

export interface Jobs {
  /** Adds handlers. Call it before `start` and `runDue`. */
  register(handlers: JobHandlers): void
  /**
   * Builds the changes that schedule a job, for the commit of the caller; none when the job stays as it is. Scheduling
   * an existing job replaces its time and input; a running job runs again afterwards. The commit fails when the job
   * changed in between: build the changes again. `store` is where the job is read from.
   */
  buildScheduleChanges(request: JobRequest, store?: Store): Promise<readonly Change[]>
  /** Schedules a job in a commit of its own. */
  schedule(request: JobRequest): Promise<void>
  /** Must be called with every commit of this process, so that jobs due immediately start immediately. */
  onCommit(changes: readonly Change[]): void
  list(query?: JobQuery): Promise<Page<Job>>
  get(id: string, store?: Store): Promise<Job | null>
  /** Makes the job due now, with all attempts left. */
  retry(id: string): Promise<Job>
  /** Cancels the job and stops its run; of a recurring job, one run. */
  cancel(id: string): Promise<Job>
  /** Stops and removes all jobs of an owner. */
  cancelOwnerJobs(owner: OwnerId): Promise<void>
  /** Runs work while no job of the owner runs anywhere. */
  withOwnerLock<Result>(
    owner: OwnerId,
    work: (hold: LockHold) => Promise<Result>,
    options: LockOptions,
  ): Promise<LockedResult<Result>>
  /**
   * Runs work as a visible job that can be cancelled and that runs in the background when this process dies. The caller
   * receives failures, so they are not retried.
   */
  runForeground<Result>(
    task: ForegroundJob<Result>,
    work: (hold: LockHold) => Promise<Result>,
    options: LockOptions,
  ): Promise<LockedResult<Result>>
  /** Starts running jobs in the background. */
  start(): void
  /** Runs everything that is due to completion and resolves to the number of runs. */
  runDue(): Promise<number>
  report(): {
    readonly running: readonly string[]
    /** Why the last scan for due jobs failed. */
    readonly lastError: ErrorCode | null
  }
  /** Starts no more jobs and lets running ones finish within the grace period; the rest runs again later. */
  stop(graceMs?: number): Promise<void>
  /** Does the same, and aborts foreground work immediately. */
  close(graceMs?: number): Promise<void>
}

const CLOSE_MS = 5_000

/** Another machine takes the lease of a dead process over after this time. */
const LEASE_MS = 60_000
const LIST_ROWS = 50

export function createJobs(ports: StoreDependencies, options: JobsOptions): Jobs {
  const { leaseMs = LEASE_MS, attemptsMax = 3, lostLeasesMax = 10 } = options
  const { processes = createProcessRegistry() } = options
  const limits = { leaseMs, attemptsMax, lostLeasesMax, processes }
  const queue = new JobQueue(ports, limits)
  const timers = options.timers ?? systemIntervalTimers
  const kinds = new Map(Object.entries(options.kinds ?? {}))
  const runner = new JobRunner({
    ports,
    queue,
    limits,
    kinds,
    timers,
    concurrency: options.concurrency ?? 2,
    pollMs: options.pollMs ?? 5_000,
    onEnded: options.onEnded ?? (() => {}),
  })
  const isAbandoned = (lockId: string, version: number) => runner.isAbandoned(lockId, version)
  const locks = new OwnerLocks({ ports, limits, timers, isAbandoned })
  const onCommit = (changes: readonly Change[]) => {
    const jobs = changes.flatMap((change) => {
      return change.op === 'put' && change.table === 'job' ? [change.row] : []
    })
    if (jobs.length > 0) runner.wake(jobs)
  }
  const buildTryAcquire =
    <Result>({ request, outcome }: ForegroundJob<Result>): TryAcquire<Result> =>
    async () => {
      const at = ports.clock.now()
      const claim = await queue.scheduleAndClaim({ ...request, at }, isAbandoned)
      if (claim.kind !== 'claimed') return null
      const { run } = claim
      return {
        claim: run.claim,
        renew: async () => (await queue.renew(run)) === 'renewed',
        fence: () => queue.fence(run),
        release: async (result) => {
          const isDone = result.kind === 'done'
          await queue.settle(
            run,
            isDone ? { kind: 'done', outcome: outcome(result.result) } : result,
          )
          options.onEnded?.({
            kind: request.kind,
            outcome: result.kind,
            ms: Math.max(0, ports.clock.now() - at),
            ...(isDone ? {} : { error: result.error }),
          })
        },
      }
    }
  return {
    register: (handlers) => {
      for (const [kind, handle] of Object.entries(handlers)) kinds.set(kind, handle)
    },
    buildScheduleChanges: (request, store) => queue.buildScheduleChanges(request, store),
    schedule: async (request) => {
      const committed = await commitWithRetry(ports, async () => {
        const changes = await queue.buildScheduleChanges(request)
        return { changes, result: changes }
      })
      onCommit(committed)
    },
    onCommit,
    list: (query = {}) => listJobs(ports, query),
    get: (id, store) => queue.get(id, store),
    retry: async (id) => {
      const job = await queue.retry(id)
      runner.wake([job])
      return job
    },
    cancel: async (id) => {
      const { job, running } = await queue.cancel(id)
      if (running !== null) {
        runner.stop(id, running)
        locks.stop(running)
      }
      return job
    },
    cancelOwnerJobs: async (owner) => {
      await queue.removeAll(owner)
      await Promise.all([runner.stopAll(owner), locks.stopAll(owner)])
    },
    withOwnerLock: (owner, work, lockOptions) => locks.hold(owner, work, lockOptions),
    runForeground: (task, work, lockOptions) =>
      locks.hold(task.request.owner, work, lockOptions, buildTryAcquire(task)),
    start: () => runner.start(),
    runDue: () => runner.runDue(),
    report: () => ({ running: runner.running, lastError: runner.lastError }),
    stop: (graceMs = CLOSE_MS) => runner.close(graceMs),
    close: async (graceMs = CLOSE_MS) => {
      await Promise.all([runner.close(graceMs), locks.close(graceMs)])
    },
  }
}

/** Ordered by id, which means nothing but is stable from page to page. */
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

type ExclusiveRunDependencies = { readonly ports: StoreDependencies; readonly jobs: Jobs }

const WAIT_MS = 30_000

export type WaitOptions = {
  readonly signal?: AbortSignal
  /** How long to wait for the owner's lock. Default: 30 seconds. */
  readonly waitMs?: number
}

/**
 * Runs work that a caller waits for while no job and no other call works for the owner, in any process. Fails with
 * `busy` after `waitMs`. Given a job instead of an owner, the work shows up as that job.
 */
export async function runExclusive<Result>(
  { jobs }: ExclusiveRunDependencies,
  target: OwnerId | ForegroundJob<Result>,
  { signal = NEVER_ABORTED, waitMs = WAIT_MS }: WaitOptions,
  work: (hold: LockHold) => Promise<Result>,
): Promise<Result> {
  const options = { signal, waitMs }
  const isOwner = typeof target === 'string'
  const run = isOwner
    ? await jobs.withOwnerLock(target, work, options)
    : await jobs.runForeground(target, work, options)
  if (run.kind === 'done') return run.result
  const owner = isOwner ? target : target.request.owner
  const message = `Another job holds the lock of owner "${owner}" (waited ${waitMs} ms). Retry shortly.`
  throw new AppError('busy', message, { waitedMs: waitMs })
}
