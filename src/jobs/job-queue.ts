/** The job queue in the store: scheduling, claiming, lease renewal and settling of runs. */
import type { JobId, OwnerId } from '../domain/ids.ts'
import { AppError } from '../lib/errors.ts'
import { addMs, type Instant } from '../lib/time.ts'
import { commitWithRetry } from '../storage/access/optimistic-commit.ts'
import { pages } from '../storage/access/row-pages.ts'
import { SYSTEM_SCOPE } from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Change } from '../storage/store.ts'
import {
  buildJobChange,
  buildJobId,
  buildJobLockId,
  cancelJob,
  claimJob,
  finishJob,
  isDue,
  type Job,
  type JobLimits,
  type JobRequest,
  type JobResult,
  scheduleJob,
} from './job.ts'
import {
  buildLease,
  buildLockChange,
  buildLockFence,
  type IsLeaseAbandoned,
  isLockFree,
  type LockRow,
  loadLock,
} from './owner-locks.ts'

/** One run of a job; only the holder of the claim may settle it. */
export type JobRun = { readonly job: Job; readonly claim: string; readonly lockId: string }

/** `blocked`: another worker holds the lock. `gone`: the job is no longer due, or another worker was faster. */
export type JobClaim =
  | { readonly kind: 'claimed'; readonly run: JobRun }
  | { readonly kind: 'blocked' | 'gone' }

/** `stopped`: the run was cancelled; `lost`: another worker holds the lock. */
export type LeaseRenewal = 'renewed' | 'stopped' | 'lost'

const CLAIM_TRIES = 3
const SWEEP_TRIES = 3
const SWEEP_ROWS = 500

export class JobQueue {
  readonly #ports: StoreDependencies
  readonly #limits: JobLimits

  constructor(ports: StoreDependencies, limits: JobLimits) {
    this.#ports = ports
    this.#limits = limits
  }

  get(id: string, store = this.#ports.store): Promise<Job | null> {
    return store.get('job', SYSTEM_SCOPE, id as JobId) // an unknown id finds nothing
  }

  /** Builds no changes when the scheduled job stays as it is. */
  async buildScheduleChanges(
    request: JobRequest,
    store = this.#ports.store,
  ): Promise<readonly Change[]> {
    const before = await this.get(buildJobId(request), store)
    const job = scheduleJob(before, request, this.#now())
    return job === null ? [] : [buildJobChange(job, before)]
  }

  /** Due jobs, page by page; `ahead`: jobs in the future that only wait because a clock was set back. */
  async *due(now: Instant, range: 'due' | 'ahead'): AsyncGenerator<readonly Job[]> {
    const { leaseMs } = this.#limits
    const where =
      range === 'due' ? { dueBefore: addMs(now, 1) } : { dueFrom: addMs(now, 2 * leaseMs) }
    for await (const jobs of pages(this.#ports.store, 'job', SYSTEM_SCOPE, { where })) {
      yield jobs.filter((job) => isDue(job, now, leaseMs))
    }
  }

  /** Commits the job and its lock together, each by its version, so that only one of many workers wins. */
  async claim(id: string, isAbandoned: IsLeaseAbandoned): Promise<JobClaim> {
    for (let attempt = 0; attempt < CLAIM_TRIES; attempt++) {
      const job = await this.get(id)
      const now = this.#now()
      if (job === null || !isDue(job, now, this.#limits.leaseMs)) return { kind: 'gone' }
      const row = await this.#lock(job)
      if (!isLockFree(row, now, this.#limits, isAbandoned)) return { kind: 'blocked' }
      const claim: string = this.#ports.ids.next('job', now)
      const next = claimJob(job, claim, now, this.#limits)
      const isRunning = next.status === 'running'
      const { kind } = await this.#ports.store.commit([
        buildJobChange(next, job),
        ...(isRunning ? [buildLockChange(row, this.#lease(id, claim), job.owner, now)] : []),
      ])
      if (kind === 'conflict') continue
      return isRunning
        ? { kind: 'claimed', run: { job: next, claim, lockId: row.id } }
        : { kind: 'gone' }
    }
    return { kind: 'gone' }
  }

  /** Schedules and claims a job in one commit, for a caller that waits for it. */
  async scheduleAndClaim(request: JobRequest, isAbandoned: IsLeaseAbandoned): Promise<JobClaim> {
    const now = this.#now()
    const before = await this.get(buildJobId(request))
    const job = scheduleJob(before, request, now)
    if (job === null) return { kind: 'gone' }
    const row = await this.#lock(job)
    if (!isLockFree(row, now, this.#limits, isAbandoned)) return { kind: 'blocked' }
    const claim: string = this.#ports.ids.next('job', now)
    const running = claimJob(job, claim, now, this.#limits)
    const { kind } = await this.#ports.store.commit([
      buildJobChange(running, before),
      buildLockChange(row, this.#lease(job.id, claim), job.owner, now),
    ])
    if (kind === 'conflict') return { kind: 'blocked' }
    return { kind: 'claimed', run: { job: running, claim, lockId: row.id } }
  }

  async renew(run: JobRun): Promise<LeaseRenewal> {
    return commitWithRetry<LeaseRenewal>(this.#ports, async () => {
      const row = await this.#lock(run.job)
      if (row.lock?.claim !== run.claim) return { changes: [], result: 'lost' }
      const job = await this.get(run.job.id)
      if (job === null || job.cancelledRun === run.claim) return { changes: [], result: 'stopped' }
      const lease = this.#lease(run.job.id, run.claim)
      return {
        changes: [buildLockChange(row, lease, run.job.owner, this.#now())],
        result: 'renewed',
      }
    })
  }

  /** A check that fails a commit unless this run still holds the lock. */
  async fence(run: JobRun): Promise<Change> {
    return buildLockFence(await this.#lock(run.job), run.claim)
  }

  /** Releases the lock and stores the result, each unless another worker took it over. Resolves to the stored job. */
  async settle(run: JobRun, result: JobResult): Promise<Job | null> {
    return commitWithRetry<Job | null>(this.#ports, async () => {
      const row = await this.#lock(run.job)
      const job = await this.get(run.job.id)
      const now = this.#now()
      const isOwnRun = job?.claim === run.claim
      const next = isOwnRun ? finishJob(job, result, now, this.#limits) : job
      const changes = [
        ...(row.lock?.claim === run.claim ? [buildLockChange(row, null, run.job.owner, now)] : []),
        ...(isOwnRun && next !== null ? [buildJobChange(next, job)] : []),
      ]
      return { changes, result: next }
    })
  }

  /** Returns the claim of the run that has to stop, if one is running. */
  async cancel(id: string): Promise<{ readonly job: Job; readonly running: string | null }> {
    return this.#change(id, async (job) => {
      const { lock } = await this.#lock(job)
      const running = lock?.holder === id ? lock.claim : null
      return { job: cancelJob(job, running, this.#now()), running }
    })
  }

  async retry(id: string): Promise<Job> {
    const { job } = await this.#change(id, async (before) => {
      const { kind, key, owner, input, everyMs } = before
      const recurs = everyMs === null ? {} : { everyMs }
      const now = this.#now()
      return {
        job: scheduleJob(before, { kind, key, owner, input, at: now, ...recurs }, now) ?? before,
      }
    })
    return job
  }

  async #change<Result extends { readonly job: Job }>(
    id: string,
    decide: (job: Job) => Promise<Result>,
  ): Promise<Result> {
    return commitWithRetry(this.#ports, async () => {
      const job = await this.get(id)
      if (job === null) throw new AppError('not_found', `Job ${id} not found.`, { id })
      const result = await decide(job)
      return { changes: [buildJobChange(result.job, job)], result }
    })
  }

  /** Removes a batch of expired jobs in one commit, which costs a store about as much as a single removal. */
  async sweep(): Promise<number> {
    const { store } = this.#ports
    for (let attempt = 0; attempt < SWEEP_TRIES; attempt++) {
      const where = { expiredBy: this.#now() }
      const { rows } = await store.find('job', SYSTEM_SCOPE, { where, limit: SWEEP_ROWS })
      if (rows.length === 0) return 0
      // The version protects a job that was scheduled in between.
      const { kind } = await store.commit(
        rows.map((job) => buildJobRemoval(job, { version: job.version })),
      )
      if (kind === 'committed') return rows.length
    }
    return 0
  }

  /** Removes the jobs of an owner in any state. */
  async removeAll(owner: OwnerId): Promise<void> {
    for await (const jobs of pages(this.#ports.store, 'job', SYSTEM_SCOPE, { where: { owner } })) {
      await this.#ports.store.commit(jobs.map((job) => buildJobRemoval(job, 'any')))
    }
  }

  #lock(job: Job): Promise<LockRow> {
    return loadLock(this.#ports, buildJobLockId(job))
  }

  #lease(holder: string, claim: string) {
    return buildLease(holder, claim, this.#now(), this.#limits)
  }

  #now(): Instant {
    return this.#ports.clock.now()
  }
}

function buildJobRemoval({ id }: Job, expect: 'any' | { readonly version: number }): Change {
  return { op: 'remove', table: 'job', scope: SYSTEM_SCOPE, id, expect }
}
