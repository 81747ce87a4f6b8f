/**
 * Runs due jobs with bounded concurrency. It polls the store every few seconds, because other processes schedule jobs
 * too, and starts immediately with jobs that this process schedules.
 */

import type { OwnerId } from '../domain/ids.ts'
import type { IntervalTimers } from '../lib/clock.ts'
import { AppError, type ErrorCode, toAppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import { retryBriefly } from '../lib/retry.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { Instant } from '../lib/time.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Change } from '../storage/store.ts'
import { buildJobLockId, type Job, type JobLimits, type JobResult } from './job.ts'
import type { JobClaim, JobQueue, JobRun } from './job-queue.ts'

/** Runs a job. It may run again after a crash, so it must be idempotent. */
export type JobHandler = (job: Job, context: JobContext) => Promise<JobOutcome>

export type JobOutcome = Extract<JobResult, { readonly kind: 'done' | 'later' }>

export type JobContext = {
  /** Fires when the job is cancelled, when another worker took it over, and when the process shuts down. */
  readonly signal: AbortSignal
  /** Whether another failure makes the job dead. */
  readonly isLastAttempt: boolean
  /** Renews the lease, which also happens in the background. Fails when the job has to stop. */
  renew(): Promise<void>
  /** Added to a commit, the change fails it unless this worker still holds the lease. */
  fence(): Promise<Change>
}

export type EndedJob = {
  readonly kind: string
  /** `unsettled`: the job ended, but its result could not be stored. */
  readonly outcome: JobResult['kind'] | 'unsettled'
  readonly ms: number
  /** Why the job failed, or why its result could not be stored. */
  readonly error?: AppError
}

export type JobRunnerDependencies = {
  readonly ports: StoreDependencies
  readonly queue: JobQueue
  readonly limits: JobLimits
  readonly kinds: ReadonlyMap<string, JobHandler>
  readonly timers: IntervalTimers
  readonly concurrency: number
  readonly pollMs: number
  /** Must not throw. */
  readonly onEnded: (ended: EndedJob) => void
}

type DueJob = { readonly id: string; readonly lockId: string; readonly dueAt: number }

type RunningJob = JobRun & { readonly controller: AbortController; ended: Promise<void> }

const CANDIDATES_MAX = 10_000
const CANDIDATES_PER_LOCK = 20

/** Ticks between two scans for jobs that a clock set back makes wait, and between two removals of finished jobs. */
const AHEAD_EVERY = 12
const SWEEP_EVERY = 60

const RENEWALS_PER_LEASE = 3
const STOP_OWNER_MS = 5_000

/** How long aborted jobs may take to stop after the grace period. */
const STOP_WAIT_MS = 1_000

export class JobRunner {
  readonly #dependencies: JobRunnerDependencies
  readonly #watchdog: LeaseWatchdog
  readonly #running = new Map<string, RunningJob>()
  #candidates: DueJob[] = []
  #hasMore = false
  #runs = 0
  readonly #filling = new SingleFlight(() => this.#startCandidates())
  #isFillRequested = false
  readonly #scanning = new SingleFlight(() => this.#scan())
  #stopTicking: (() => void) | null = null
  #tick = 0
  #lastScanAt: Instant | null = null
  #isClosed = false
  #scanFailure: AppError | null = null

  constructor(dependencies: JobRunnerDependencies) {
    this.#dependencies = dependencies
    const { limits, pollMs } = dependencies
    this.#watchdog = new LeaseWatchdog(Math.ceil(limits.leaseMs / RENEWALS_PER_LEASE / pollMs) + 1)
  }

  get running(): readonly string[] {
    return [...this.#running.values()].map(({ job }) => job.id)
  }

  /** Why the last scan for due jobs failed. */
  get lastError(): ErrorCode | null {
    return this.#scanFailure?.code ?? null
  }

  start(): void {
    if (this.#isClosed || this.#stopTicking !== null) return
    const { timers, pollMs } = this.#dependencies
    this.#stopTicking = timers.every(pollMs, () => {
      this.#tick++
      void this.poll()
      if (this.#tick % SWEEP_EVERY === 0) void this.#sweep()
    })
    void this.poll()
  }

  /** Scans for due jobs and starts them. */
  async poll(): Promise<void> {
    if (this.#isClosed) return
    await this.#scanning.run()
    await this.#fill()
  }

  /** Runs everything that is due, and what becomes due by it, to completion. Returns the number of runs. */
  async runDue(): Promise<number> {
    const before = this.#runs
    while (!this.#isClosed) {
      const runs = this.#runs
      await this.poll()
      while (this.#running.size > 0) {
        await Promise.all([...this.#running.values()].map(({ ended }) => ended))
        await this.#filling.running
      }
      if (this.#runs === runs && !this.#hasMore) break
    }
    if (this.#scanFailure !== null) {
      const { code, facts, message } = this.#scanFailure
      throw new AppError(code, `Scanning for due jobs failed: ${message}`, facts, this.#scanFailure)
    }
    return this.#runs - before
  }

  /** Starts due jobs that this process has scheduled. */
  wake(jobs: readonly Job[]): void {
    if (this.#stopTicking === null || this.#isClosed) return
    const now = this.#dependencies.ports.clock.now()
    const due = jobs.filter(
      ({ status, dueAt }) => status === 'waiting' && (dueAt ?? now + 1) <= now,
    )
    if (due.length === 0) return
    this.#candidates.push(...due.filter((job) => this.#hasHandler(job)).map(toDueJob))
    void this.#fill()
  }

  /** Whether a lease that has expired by the clock may be taken over. */
  isAbandoned(lockId: string, version: number): boolean {
    // A runner that was not started has no ticks to watch by and must trust the clock.
    return this.#stopTicking === null || this.#watchdog.isAbandoned(lockId, version, this.#tick)
  }

  stop(id: string, claim: string): void {
    for (const run of this.#running.values()) {
      if (run.job.id === id && run.claim === claim) run.controller.abort()
    }
  }

  /** Aborts the jobs of an owner and waits a limited time for them to end. */
  async stopAll(owner: OwnerId): Promise<void> {
    const runs = [...this.#running.values()].filter(({ job }) => job.owner === owner)
    for (const { controller } of runs) controller.abort()
    await withTimeout(STOP_OWNER_MS, () => Promise.all(runs.map(({ ended }) => ended)))
  }

  /**
   * Lets running jobs finish within the grace period, because their model calls may be paid for, then aborts them. A job
   * that ignores the abort keeps its lease until that expires, because it may still be working.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true
    this.#stopTicking?.()
    this.#candidates = []
    await withTimeout(graceMs, () => this.#idle())
    for (const { controller } of this.#running.values()) controller.abort()
    await withTimeout(STOP_WAIT_MS, () => this.#idle())
  }

  async #idle(): Promise<void> {
    await this.#scanning.running
    await this.#filling.running
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  async #sweep(): Promise<void> {
    try {
      while (!this.#isClosed && (await this.#dependencies.queue.sweep()) > 0) {
        await yieldToEventLoop()
      }
    } catch {
      /* the next sweep removes the rest */
    }
  }

  /** Never fails: `lastError` reports a failed scan, and the next one retries. */
  async #scan(): Promise<void> {
    try {
      await this.#collectDueJobs()
      this.#scanFailure = null
    } catch (thrown) {
      this.#scanFailure = toAppError(thrown)
    }
  }

  async #collectDueJobs(): Promise<void> {
    const { queue, ports } = this.#dependencies
    const now = ports.clock.now()
    const isSetBack = this.#lastScanAt === null || now < this.#lastScanAt
    this.#lastScanAt = now
    const scansAhead = isSetBack || (this.#tick > 0 && this.#tick % AHEAD_EVERY === 0)
    const dueJobs = new DueJobs()
    for (const range of scansAhead ? (['due', 'ahead'] as const) : (['due'] as const)) {
      for await (const jobs of queue.due(now, range)) {
        if (this.#isClosed) return
        for (const job of jobs) {
          const isEligible = isSetBack || range === 'due' || this.#isOrphaned(job)
          if (isEligible && this.#hasHandler(job)) dueJobs.add(toDueJob(job))
        }
      }
    }
    this.#candidates = dueJobs.sorted()
    this.#hasMore = dueJobs.hasMore
  }

  /**
   * Whether no worker has run a recurring job for a whole interval, measured in ticks. A job that seems to lie in the
   * future may belong to a server whose clock is ahead, and two servers that took turns would run it all the time.
   */
  #isOrphaned({ id, everyMs, statusChangedAt }: Job): boolean {
    if (everyMs === null) return true
    const ticks = Math.ceil(everyMs / this.#dependencies.pollMs)
    return this.#watchdog.isUnchangedFor(ticks, id, statusChangedAt, this.#tick)
  }

  /** Jobs of a newer version may have kinds that this one cannot run. */
  #hasHandler({ kind }: Job): boolean {
    return this.#dependencies.kinds.has(kind)
  }

  /** Starts as many jobs as the concurrency allows. A call during a pass requests another pass. */
  #fill(): Promise<void> {
    this.#isFillRequested = true
    return this.#filling.run()
  }

  async #startCandidates(): Promise<void> {
    while (this.#isFillRequested) {
      this.#isFillRequested = false
      const candidates = this.#candidates
      this.#candidates = []
      const deferred: DueJob[] = []
      const blocked = new Set<string>()
      for (const candidate of candidates) {
        if (this.#isClosed) return
        if (this.#isBusy(candidate)) deferred.push(candidate)
        else if (!blocked.has(candidate.lockId)) {
          if ((await this.#tryStart(candidate)) === 'blocked') blocked.add(candidate.lockId)
        }
      }
      this.#candidates.unshift(...deferred)
    }
  }

  #isBusy({ lockId }: DueJob): boolean {
    return this.#running.size >= this.#dependencies.concurrency || this.#running.has(lockId)
  }

  async #tryStart({ id }: DueJob): Promise<JobClaim['kind']> {
    try {
      const claim = await this.#dependencies.queue.claim(id, (...lock) => this.isAbandoned(...lock))
      if (claim.kind === 'claimed') this.#start(claim.run)
      return claim.kind
    } catch {
      // The next scan sees the job again; if the commit succeeded and only its reply was lost, after the lease.
      return 'gone'
    }
  }

  #start(run: JobRun): void {
    this.#runs++
    const running: RunningJob = {
      ...run,
      controller: new AbortController(),
      ended: Promise.resolve(),
    }
    this.#running.set(run.lockId, running)
    if (this.#isClosed) running.controller.abort()
    running.ended = this.#runAndSettle(running).finally(() => {
      this.#running.delete(run.lockId)
      void (this.#hasMore && this.#candidates.length === 0 ? this.poll() : this.#fill())
    })
  }

  async #runAndSettle(run: RunningJob): Promise<void> {
    const { ports, queue, limits, timers, onEnded } = this.#dependencies
    const startedAt = ports.clock.now()
    const stopRenewing = timers.every(limits.leaseMs / RENEWALS_PER_LEASE, () => {
      this.#renew(run).catch(() => {}) // the next renewal still comes before the lease expires
    })
    const result = await this.#runHandler(run)
    stopRenewing()
    let outcome: EndedJob['outcome'] = result.kind
    let error = result.kind === 'failed' ? result.error : null
    try {
      const job = await retryBriefly(ports.clock, () => queue.settle(run, result))
      if (job !== null) this.wake([job])
    } catch (thrown) {
      outcome = 'unsettled' // the job runs again when the lease has expired
      error = toAppError(thrown)
    }
    const ms = Math.max(0, ports.clock.now() - startedAt)
    onEnded({ kind: run.job.kind, outcome, ms, ...(error === null ? {} : { error }) })
  }

  async #runHandler(run: RunningJob): Promise<JobResult> {
    const { kinds, limits, queue } = this.#dependencies
    const { job, controller } = run
    const { signal } = controller
    try {
      const handle = kinds.get(job.kind)
      if (handle === undefined) return { kind: 'released' }
      return await handle(job, {
        signal,
        isLastAttempt: job.attempts + 1 >= limits.attemptsMax,
        renew: async () => {
          await this.#renew(run)
          if (!signal.aborted) return
          throw new AppError('cancelled', 'The job was cancelled or lost its lease.', {
            id: job.id,
          })
        },
        fence: () => queue.fence(run),
      })
    } catch (thrown) {
      return signal.aborted ? { kind: 'released' } : { kind: 'failed', error: toAppError(thrown) }
    }
  }

  async #renew(run: RunningJob): Promise<void> {
    if ((await this.#dependencies.queue.renew(run)) !== 'renewed') run.controller.abort()
  }
}

/** The result of a scan. A few jobs per lock are enough, because they run one by one and later scans see the rest. */
class DueJobs {
  readonly #jobs: DueJob[] = []
  readonly #countByLock = new Map<string, number>()
  hasMore = false

  add(job: DueJob): void {
    const count = this.#countByLock.get(job.lockId) ?? 0
    if (count >= CANDIDATES_PER_LOCK || this.#jobs.length >= CANDIDATES_MAX) {
      this.hasMore = true
      return
    }
    this.#countByLock.set(job.lockId, count + 1)
    this.#jobs.push(job)
  }

  sorted(): DueJob[] {
    return this.#jobs.sort((a, b) => a.dueAt - b.dueAt)
  }
}

function toDueJob(job: Job): DueJob {
  return { id: job.id, lockId: buildJobLockId(job), dueAt: job.dueAt ?? 0 }
}

/**
 * Decides when an expired lease is abandoned. A clock can be set forward while the holder is alive and about to renew,
 * so a lease counts as abandoned only after it stayed unchanged for longer than a renewal takes, measured in ticks.
 */
class LeaseWatchdog {
  readonly #ticksMin: number
  readonly #seen = new Map<string, { readonly version: number; readonly since: number }>()

  constructor(ticksMin: number) {
    this.#ticksMin = ticksMin
  }

  isAbandoned(lockId: string, version: number, tick: number): boolean {
    return this.isUnchangedFor(this.#ticksMin, lockId, version, tick)
  }

  isUnchangedFor(ticks: number, id: string, version: number, tick: number): boolean {
    const seen = this.#seen.get(id)
    if (seen?.version === version) return tick - seen.since >= ticks
    if (this.#seen.size >= SEEN_MAX) this.#seen.clear() // rows that matter are seen again
    this.#seen.set(id, { version, since: tick })
    return false
  }
}

const SEEN_MAX = 10_000
