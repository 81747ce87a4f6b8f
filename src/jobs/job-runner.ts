/**
 * Does jobs that are due, a few at a time. It looks for them every few seconds, because other processes arm some too,
 * and at once where this process did.
 */

import type { OwnerId } from '../domain/ids.ts'
import type { IntervalTimers } from '../lib/clock.ts'
import { AppError, type ErrorCode, toAppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import { retryBriefly } from '../lib/retry.ts'
import type { Instant } from '../lib/time.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Change } from '../storage/store.ts'
import { buildJobLockId, type Job, type JobLimits, type JobResult } from './job.ts'
import type { JobClaim, JobQueue, JobRun } from './job-queue.ts'
import { LeaseWatchdog } from './lease-watchdog.ts'

/** What is done for a job, and what became of it. It may be done again after a crash, so twice must be as good as once. */
export type JobHandler = (job: Job, context: JobContext) => Promise<JobOutcome>

export type JobOutcome = Extract<JobResult, { readonly kind: 'done' | 'later' }>

export type JobContext = {
  /** Fires when the job is cancelled, when others took it over, and when the process is about to end. */
  readonly signal: AbortSignal
  /** Whether a failure now makes it dead. */
  readonly isLastAttempt: boolean
  /** Says that it is still being done. That is said in the background as well. Fails when it is to stop. */
  renew(): Promise<void>
  /** Put into a commit, it refuses the commit to all but the one who still does the job. */
  fence(): Promise<Change>
}

export type EndedJob = {
  readonly kind: string
  /** `unsettled`: it ended, and that could not be written down. */
  readonly outcome: JobResult['kind'] | 'unsettled'
  readonly ms: number
}

export type JobRunnerDependencies = {
  readonly ports: StoreDependencies
  readonly rows: JobQueue
  readonly limits: JobLimits
  readonly kinds: ReadonlyMap<string, JobHandler>
  readonly timers: IntervalTimers
  readonly concurrency: number
  readonly pollMs: number
  /** Must not fail. */
  readonly onEnded: (ended: EndedJob) => void
}

type DueJob = { readonly id: string; readonly lane: string; readonly dueAt: number }

type RunningJob = JobRun & { readonly controller: AbortController; ended: Promise<void> }

const CANDIDATES_MAX = 10_000
const CANDIDATES_PER_LANE = 20

/** In ticks: how often to look for what a clock that was set back makes wait, and for what can be removed. */
const AHEAD_EVERY = 12
const SWEEP_EVERY = 60

/** How often a renewal falls into a lease. */
const RENEWALS = 3
const FORGET_WAIT_MS = 5_000

/** How long stopping may take, once the time to end is over. */
const STOP_WAIT_MS = 1_000

export class JobRunner {
  readonly #parts: JobRunnerDependencies
  readonly #watch: LeaseWatchdog
  readonly #running = new Map<string, RunningJob>()
  #candidates: DueJob[] = []
  #isMore = false
  #filling: Promise<void> | null = null
  #isFillWanted = false
  #scanning: Promise<void> | null = null
  #stopTicking: (() => void) | null = null
  #tick = 0
  #lastScanAt: Instant | null = null
  #isClosed = false
  #lastError: ErrorCode | null = null

  constructor(parts: JobRunnerDependencies) {
    this.#parts = parts
    const { limits, pollMs } = parts
    this.#watch = new LeaseWatchdog(Math.ceil(limits.leaseMs / RENEWALS / pollMs) + 1)
  }

  get running(): readonly string[] {
    return [...this.#running.values()].map(({ job }) => job.id)
  }

  /** Why it could not look for jobs the last time. */
  get lastError(): ErrorCode | null {
    return this.#lastError
  }

  start(): void {
    if (this.#isClosed || this.#stopTicking !== null) return
    const { timers, pollMs } = this.#parts
    this.#stopTicking = timers.every(pollMs, () => {
      this.#tick++
      void this.poll()
      if (this.#tick % SWEEP_EVERY === 0) void this.#sweep()
    })
    void this.poll()
  }

  /** Looks for what is due, and begins with it. */
  async poll(): Promise<void> {
    if (this.#isClosed) return
    await this.#scan()
    await this.#fill()
  }

  /** Everything that is due, to the end, with what becomes due by it. Says how many runs that were. */
  async runDue(): Promise<number> {
    const before = this.#runs
    while (!this.#isClosed) {
      const runs = this.#runs
      await this.poll()
      while (this.#running.size > 0) {
        await Promise.all([...this.#running.values()].map(({ ended }) => ended))
        await this.#filling
      }
      if (this.#runs === runs && !this.#isMore) break
    }
    if (this.#lastError !== null) {
      throw new AppError(this.#lastError, 'Due jobs could not be looked for.')
    }
    return this.#runs - before
  }
  #runs = 0

  /** Hears of jobs that were armed in this process. */
  wake(jobs: readonly Job[]): void {
    if (this.#stopTicking === null || this.#isClosed) return
    const now = this.#parts.ports.clock.now()
    const due = jobs.filter(
      ({ status, dueAt }) => status === 'waiting' && (dueAt ?? now + 1) <= now,
    )
    if (due.length === 0) return
    this.#candidates.push(...due.filter((job) => this.#isKnown(job)).map(toDueJob))
    void this.#fill()
  }

  /** Whether a lease that has run out by the clock may be taken over. */
  isAbandoned(lane: string, version: number): boolean {
    // Who doesn't tick can't watch, and has to believe the clock.
    return this.#stopTicking === null || this.#watch.isAbandoned(lane, version, this.#tick)
  }

  stop(id: string, claim: string): void {
    for (const run of this.#running.values()) {
      if (run.job.id === id && run.claim === claim) run.controller.abort()
    }
  }

  /** Stops what is done for an owner, and waits for that, but not for ever. */
  async stopAll(owner: OwnerId): Promise<void> {
    const meant = [...this.#running.values()].filter(({ job }) => job.owner === owner)
    for (const { controller } of meant) controller.abort()
    await withTimeout(FORGET_WAIT_MS, () => Promise.all(meant.map(({ ended }) => ended)))
  }

  /**
   * What runs may come to its end: it may have been paid for. What takes longer is stopped. What does not stop either keeps
   * its lease, which runs out by itself: it may still be at work.
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
    await this.#scanning
    await this.#filling
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  async #sweep(): Promise<void> {
    try {
      while (!this.#isClosed && (await this.#parts.rows.sweep()) > 0) await yieldToEventLoop()
    } catch {
      /* there is a next time */
    }
  }

  /** A scan that fails is one that found nothing; what is wrong with the store is told elsewhere. */
  #scan(): Promise<void> {
    this.#scanning ??= this.#find()
      .then(
        () => {
          this.#lastError = null
        },
        (thrown: unknown) => {
          this.#lastError = toAppError(thrown).code
        },
      )
      .finally(() => {
        this.#scanning = null
      })
    return this.#scanning
  }

  async #find(): Promise<void> {
    const { rows, ports } = this.#parts
    const now = ports.clock.now()
    const isSetBack = this.#lastScanAt === null || now < this.#lastScanAt
    this.#lastScanAt = now
    const looksAhead = isSetBack || (this.#tick > 0 && this.#tick % AHEAD_EVERY === 0)
    const found = new DueJobs()
    for (const reach of looksAhead ? (['due', 'ahead'] as const) : (['due'] as const)) {
      for await (const jobs of rows.due(now, reach)) {
        if (this.#isClosed) return
        const meant = isSetBack || reach === 'due' ? jobs : jobs.filter((job) => this.#isLeft(job))
        for (const job of meant) if (this.#isKnown(job)) found.add(toDueJob(job))
      }
    }
    this.#candidates = found.inOrder()
    this.#isMore = found.isMore
  }

  /**
   * Whether nobody has done it for as long as it recurs, whatever the clocks say: one that comes from the future may be
   * done by a server whose clock is ahead, and two that took turns would do it all the time.
   */
  #isLeft({ id, everyMs, statusChangedAt: since }: Job): boolean {
    if (everyMs === null) return true
    const ticks = Math.ceil(everyMs / this.#parts.pollMs)
    return this.#watch.isUnchangedFor(ticks, id, since, this.#tick)
  }

  /** Of a kind that can be done here; others may be those of a newer version. */
  #isKnown({ kind }: Job): boolean {
    return this.#parts.kinds.has(kind)
  }

  /** Begins as much as there is room for. Called while that goes on, it goes round once more. */
  #fill(): Promise<void> {
    this.#isFillWanted = true
    this.#filling ??= this.#begin().finally(() => {
      this.#filling = null
    })
    return this.#filling
  }

  async #begin(): Promise<void> {
    while (this.#isFillWanted) {
      this.#isFillWanted = false
      const waiting = this.#candidates
      this.#candidates = []
      const kept: DueJob[] = []
      const blocked = new Set<string>()
      for (const candidate of waiting) {
        if (this.#isClosed) return
        if (this.#isBusy(candidate)) kept.push(candidate)
        else if (!blocked.has(candidate.lane)) {
          if ((await this.#tryOne(candidate)) === 'blocked') blocked.add(candidate.lane)
        }
      }
      this.#candidates.unshift(...kept)
    }
  }

  #isBusy({ lane }: DueJob): boolean {
    return this.#running.size >= this.#parts.concurrency || this.#running.has(lane)
  }

  async #tryOne({ id }: DueJob): Promise<JobClaim['kind']> {
    try {
      const claim = await this.#parts.rows.claim(id, (...lane) => this.isAbandoned(...lane))
      if (claim.kind === 'claimed') this.#run(claim.run)
      return claim.kind
    } catch {
      // It is found again. If the claim was made and only its answer lost, when the lease runs out.
      return 'gone'
    }
  }

  #run(run: JobRun): void {
    this.#runs++
    const running: RunningJob = {
      ...run,
      controller: new AbortController(),
      ended: Promise.resolve(),
    }
    this.#running.set(run.lane, running)
    if (this.#isClosed) running.controller.abort()
    running.ended = this.#perform(running).finally(() => {
      this.#running.delete(run.lane)
      void (this.#isMore && this.#candidates.length === 0 ? this.poll() : this.#fill())
    })
  }

  async #perform(run: RunningJob): Promise<void> {
    const { ports, rows, limits, timers, onEnded } = this.#parts
    const began = ports.clock.now()
    const stopRenewing = timers.every(limits.leaseMs / RENEWALS, () => {
      this.#renew(run).catch(() => {}) // there are more to come before the lease runs out
    })
    const ending = await this.#work(run)
    stopRenewing()
    let outcome: EndedJob['outcome'] = ending.kind
    try {
      const job = await retryBriefly(ports.clock, () => rows.settle(run, ending))
      if (job !== null) this.wake([job])
    } catch {
      outcome = 'unsettled' // it is done again when the lease has run out
    }
    const ms = Math.max(0, ports.clock.now() - began)
    onEnded({ kind: run.job.kind, outcome, ms })
  }

  async #work(run: RunningJob): Promise<JobResult> {
    const { kinds, limits, rows } = this.#parts
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
          if (signal.aborted) throw new AppError('cancelled', 'The job is to stop.', { id: job.id })
        },
        fence: () => rows.fence(run),
      })
    } catch (thrown) {
      return signal.aborted ? { kind: 'released' } : { kind: 'failed', error: toAppError(thrown) }
    }
  }

  async #renew(run: RunningJob): Promise<void> {
    if ((await this.#parts.rows.renew(run)) !== 'renewed') run.controller.abort()
  }
}

/** What a scan found. A few of each lane are enough: they are done one after the other, and the rest is found again. */
class DueJobs {
  readonly #found: DueJob[] = []
  readonly #ofLane = new Map<string, number>()
  isMore = false

  add(candidate: DueJob): void {
    const count = this.#ofLane.get(candidate.lane) ?? 0
    if (count >= CANDIDATES_PER_LANE || this.#found.length >= CANDIDATES_MAX) {
      this.isMore = true
      return
    }
    this.#ofLane.set(candidate.lane, count + 1)
    this.#found.push(candidate)
  }

  inOrder(): DueJob[] {
    return this.#found.sort((a, b) => a.dueAt - b.dueAt)
  }
}

function toDueJob(job: Job): DueJob {
  return { id: job.id, lane: buildJobLockId(job), dueAt: job.dueAt ?? 0 }
}
