/** Jobs and lanes in the store: arming, claiming, renewing, and telling what became of a run. */
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

/** One run of a job: who may say what becomes of it. */
export type JobRun = { readonly job: Job; readonly claim: string; readonly lane: string }

/** `blocked`: others work in its lane. `gone`: it isn't due any more, or others were faster. */
export type JobClaim =
  | { readonly kind: 'claimed'; readonly run: JobRun }
  | { readonly kind: 'blocked' | 'gone' }

/** `stopped`: somebody cancelled it; `lost`: somebody else works in its lane. */
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

  /** None when it is left alone. */
  async arming(request: JobRequest, store = this.#ports.store): Promise<readonly Change[]> {
    const before = await this.get(buildJobId(request), store)
    const job = scheduleJob(before, request, this.#now())
    return job === null ? [] : [buildJobChange(job, before)]
  }

  /** All that is due, page by page; `ahead` is what only a clock that was set back could make wait. */
  async *due(now: Instant, reach: 'due' | 'ahead'): AsyncGenerator<readonly Job[]> {
    const { leaseMs } = this.#limits
    const where =
      reach === 'due' ? { dueBefore: addMs(now, 1) } : { dueFrom: addMs(now, 2 * leaseMs) }
    for await (const jobs of pages(this.#ports.store, 'job', SYSTEM_SCOPE, { where })) {
      yield jobs.filter((job) => isDue(job, now, leaseMs))
    }
  }

  /** The job and its lane in one commit, each as it was read: only one of many can have them. */
  async claim(id: string, isAbandoned: IsLeaseAbandoned): Promise<JobClaim> {
    for (let tried = 0; tried < CLAIM_TRIES; tried++) {
      const job = await this.get(id)
      const now = this.#now()
      if (job === null || !isDue(job, now, this.#limits.leaseMs)) return { kind: 'gone' }
      const row = await this.#lane(job)
      if (!isLockFree(row, now, this.#limits.leaseMs, isAbandoned)) return { kind: 'blocked' }
      const claim: string = this.#ports.ids.next('job', now)
      const next = claimJob(job, claim, now, this.#limits)
      const isRunning = next.status === 'running'
      const { kind } = await this.#ports.store.commit([
        buildJobChange(next, job),
        ...(isRunning ? [buildLockChange(row, this.#leased(id, claim), job.owner, now)] : []),
      ])
      if (kind === 'conflict') continue
      return isRunning
        ? { kind: 'claimed', run: { job: next, claim, lane: row.id } }
        : { kind: 'gone' }
    }
    return { kind: 'gone' }
  }

  /** Arms a job and claims it in one commit, for somebody who waits for it. `blocked`: others work in its lane. */
  async begin(request: JobRequest, isAbandoned: IsLeaseAbandoned): Promise<JobClaim> {
    const now = this.#now()
    const before = await this.get(buildJobId(request))
    const job = scheduleJob(before, request, now)
    if (job === null) return { kind: 'gone' }
    const row = await this.#lane(job)
    if (!isLockFree(row, now, this.#limits.leaseMs, isAbandoned)) return { kind: 'blocked' }
    const claim: string = this.#ports.ids.next('job', now)
    const running = claimJob(job, claim, now, this.#limits)
    const { kind } = await this.#ports.store.commit([
      buildJobChange(running, before),
      buildLockChange(row, this.#leased(job.id, claim), job.owner, now),
    ])
    if (kind === 'conflict') return { kind: 'blocked' }
    return { kind: 'claimed', run: { job: running, claim, lane: row.id } }
  }

  async renew(run: JobRun): Promise<LeaseRenewal> {
    return commitWithRetry<LeaseRenewal>(this.#ports, async () => {
      const row = await this.#lane(run.job)
      if (row.lane?.claim !== run.claim) return { changes: [], result: 'lost' }
      const job = await this.get(run.job.id)
      if (job === null || job.cancelledRun === run.claim) return { changes: [], result: 'stopped' }
      const lease = this.#leased(run.job.id, run.claim)
      return {
        changes: [buildLockChange(row, lease, run.job.owner, this.#now())],
        result: 'renewed',
      }
    })
  }

  /** For a commit that only whoever holds the lane may make. */
  async fence(run: JobRun): Promise<Change> {
    return buildLockFence(await this.#lane(run.job), run.claim)
  }

  /**
   * Leaves the lane, and says what became of the job, each unless that is somebody else's by now. Gives the job as it is
   * afterwards.
   */
  async settle(run: JobRun, ending: JobResult): Promise<Job | null> {
    return commitWithRetry<Job | null>(this.#ports, async () => {
      const row = await this.#lane(run.job)
      const job = await this.get(run.job.id)
      const now = this.#now()
      const isOurs = job?.claim === run.claim
      const next = isOurs ? finishJob(job, ending, now, this.#limits) : job
      const changes = [
        ...(row.lane?.claim === run.claim ? [buildLockChange(row, null, run.job.owner, now)] : []),
        ...(isOurs && next !== null ? [buildJobChange(next, job)] : []),
      ]
      return { changes, result: next }
    })
  }

  /** Says which run of it has to stop, if one is under way. */
  async cancel(id: string): Promise<{ readonly job: Job; readonly running: string | null }> {
    return this.#change(id, async (job) => {
      const { lane } = await this.#lane(job)
      const running = lane?.holder === id ? lane.claim : null
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
      if (job === null) throw new AppError('not_found', 'There is no such job.', { id })
      const result = await decide(job)
      return { changes: [buildJobChange(result.job, job)], result }
    })
  }

  /** Some of what is over and has been kept long enough, all at once: each removal costs a store much the same. */
  async sweep(): Promise<number> {
    const { store } = this.#ports
    for (let tried = 0; tried < SWEEP_TRIES; tried++) {
      const where = { expiredBy: this.#now() }
      const { rows } = await store.find('job', SYSTEM_SCOPE, { where, limit: SWEEP_ROWS })
      if (rows.length === 0) return 0
      // By version: one that was armed in between must stay.
      const { kind } = await store.commit(
        rows.map((job) => buildJobRemoval(job, { version: job.version })),
      )
      if (kind === 'committed') return rows.length
    }
    return 0
  }

  /** Of an owner, whatever their state. */
  async removeAll(owner: OwnerId): Promise<void> {
    for await (const jobs of pages(this.#ports.store, 'job', SYSTEM_SCOPE, { where: { owner } })) {
      await this.#ports.store.commit(jobs.map((job) => buildJobRemoval(job, 'any')))
    }
  }

  #lane(job: Job): Promise<LockRow> {
    return loadLock(this.#ports, buildJobLockId(job))
  }

  #leased(holder: string, claim: string) {
    return buildLease(holder, claim, this.#now(), this.#limits.leaseMs)
  }

  #now(): Instant {
    return this.#ports.clock.now()
  }
}

function buildJobRemoval({ id }: Job, expect: 'any' | { readonly version: number }): Change {
  return { op: 'remove', table: 'job', scope: SYSTEM_SCOPE, id, expect }
}
