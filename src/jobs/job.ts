/**
 * The state machine of a job. Pure.
 *
 * A job is a row, so that it survives a crash. All jobs of an owner share one lock row, so they run one at a time.
 * Scheduling never touches the lock; a job that is scheduled while it runs becomes due again afterwards.
 */
import type { OwnerLease } from '../domain/entries/learning-entries.ts'
import {
  createInvalidInputError,
  parseInstant,
  parseInteger,
  parseText,
} from '../domain/field-parsers.ts'
import type { EntryId, JobId, OwnerId } from '../domain/ids.ts'
import { JOB_FAULTS, type Job, type JobErrorCode } from '../domain/job-row.ts'
import type { AppError } from '../lib/errors.ts'
import { hashParts } from '../lib/hash.ts'
import type { JsonObject } from '../lib/json.ts'
import { exponentialBackoffMs } from '../lib/retry.ts'
import { addMs, HOUR_MS, INSTANT_MAX, type Instant } from '../lib/time.ts'
import { SYSTEM_SCOPE } from '../storage/access/system-entries.ts'
import type { Change } from '../storage/store.ts'
import type { ProcessRegistry } from './process-identity.ts'

export type { Job, JobStatus } from '../domain/job-row.ts'

export { JOB_STATUSES } from '../domain/job-row.ts'

export type JobRequest = {
  readonly kind: string
  /** Jobs of one kind, owner and key are the same job. */
  readonly key: string
  readonly owner: OwnerId | null
  readonly input?: JsonObject
  readonly at: Instant
  /** The pause from the end of one run to the start of the next. */
  readonly everyMs?: number
  /** Leaves a waiting or running job unchanged, so that a server start does not postpone recurring jobs. */
  readonly onlyIfNew?: boolean
}

export type JobLimits = {
  readonly leaseMs: number
  readonly processes: ProcessRegistry
  /** Failures after which a job is dead. */
  readonly attemptsMax: number
  /** Lost leases after which a job is dead, because it probably caused them. */
  readonly lostLeasesMax: number
}

/** How a run ended. `abandoned`: a waiting caller received the error, so it is not retried. `released`: stopped, runs again. */
export type JobResult =
  | { readonly kind: 'done'; readonly outcome: JsonObject }
  | {
      readonly kind: 'later'
      readonly at: Instant
      readonly outcome?: JsonObject
      readonly input?: JsonObject
    }
  | { readonly kind: 'failed'; readonly error: AppError }
  | { readonly kind: 'abandoned'; readonly error: AppError }
  | { readonly kind: 'released' }

const KIND = /^[a-z][A-Za-z0-9]{0,18}$/

const KEY_CHARACTERS_MAX = 1_000
const EVERY_MS_MIN = 1_000
const FIRST_PAUSE_MS = 30_000
const PAUSE_MS_MAX = HOUR_MS

/** How long a done or cancelled job can still be inspected. */
const SETTLED_TTL_MS = HOUR_MS

export function buildJobId({
  kind,
  owner,
  key,
}: Pick<JobRequest, 'kind' | 'owner' | 'key'>): JobId {
  return `job_${kind}_${hashParts(owner, key)}` as JobId // derived from its identity
}

/** Jobs of an owner share a lock; a job without an owner has its own. */
export function buildJobLockId({ id, owner }: Pick<Job, 'id' | 'owner'>): EntryId {
  return owner === null ? (`lane_${hashParts(null, id)}` as EntryId) : buildOwnerLockId(owner) // as above
}

export function buildOwnerLockId(owner: OwnerId): EntryId {
  return `lane_${hashParts(owner)}` as EntryId // as above
}

/** Null when the job stays as it is. */
export function scheduleJob(before: Job | null, request: JobRequest, now: Instant): Job | null {
  assertValidRequest(request)
  const isOpen = before?.status === 'waiting' || before?.status === 'running'
  if (request.onlyIfNew === true && isOpen && before.everyMs === (request.everyMs ?? null)) {
    return null
  }
  const { kind, key, owner, input = {}, at, everyMs = null } = request
  return {
    ...(before ?? NEW),
    ...{ id: buildJobId(request), kind, key, owner, input, everyMs },
    ...{
      status: 'waiting',
      dueAt: at,
      statusChangedAt: now,
      attempts: 0,
      lostLeases: 0,
      claim: null,
    },
  }
}

const NEW = {
  ...{ place: SYSTEM_SCOPE, version: 0, expiresAt: null },
  ...{ lastError: null, outcome: null, cancelledRun: null },
}

function assertValidRequest({ kind, key, at, everyMs }: JobRequest): void {
  if (!KIND.test(kind)) {
    throw createInvalidInputError('kind', '`kind` must be a camelCase word of at most 19 letters.')
  }
  parseText('key', key, KEY_CHARACTERS_MAX)
  parseInstant('at', at)
  if (everyMs !== undefined) parseInteger('everyMs', everyMs, EVERY_MS_MIN, Number.MAX_SAFE_INTEGER)
}

/** A status change in the future comes from a clock that was set back since; such a job is due. */
export function isDue(
  { status, dueAt, statusChangedAt: since }: Job,
  now: Instant,
  leaseMs: number,
): boolean {
  if (status !== 'waiting' && status !== 'running') return false
  return dueAt !== null && (dueAt <= now || since > now + 2 * leaseMs)
}

/** Assigns the job to a run; after too many lost leases the job is dead. */
export function claimJob(
  job: Job,
  claim: string,
  now: Instant,
  { lostLeasesMax: lossesMax }: JobLimits,
): Job {
  const losses = job.lostLeases + (job.status === 'running' ? 1 : 0)
  const lastError = losses > job.lostLeases ? 'lease_lost' : job.lastError
  if (losses >= lossesMax) return toEnded({ ...job, lostLeases: losses, lastError }, 'dead', now)
  return { ...job, lostLeases: losses, lastError, status: 'running', statusChangedAt: now, claim }
}

export function finishJob(job: Job, ending: JobResult, now: Instant, limits: JobLimits): Job {
  switch (ending.kind) {
    case 'done': {
      const done = { ...job, outcome: ending.outcome, lastError: null }
      return job.everyMs === null ? toEnded(done, 'done', now) : toNextRun(done, job.everyMs, now)
    }
    case 'later': {
      const { at, outcome = job.outcome, input = job.input } = ending
      return toWaiting(
        { ...job, outcome, input, attempts: 0, lostLeases: 0, lastError: null },
        at,
        now,
      )
    }
    case 'failed':
      return failJob(job, ending.error, now, limits)
    case 'abandoned': {
      const { code } = ending.error
      const status = code === 'cancelled' ? 'cancelled' : 'dead'
      return toEnded({ ...job, lastError: toErrorCode(ending.error) }, status, now)
    }
    case 'released':
      return toWaiting(job, job.dueAt ?? now, now)
  }
}

/** An error with an end time delays the job and does not count as a failed attempt. */
function failJob(job: Job, error: AppError, now: Instant, { attemptsMax }: JobLimits): Job {
  const { until } = error.facts
  const failed = { ...job, lastError: toErrorCode(error) }
  if (typeof until === 'number' && Number.isSafeInteger(until) && until < INSTANT_MAX) {
    return toWaiting(failed, Math.max(until, now + FIRST_PAUSE_MS) as Instant, now)
  }
  const attempts = job.attempts + 1
  if (attempts < attemptsMax) {
    const pause = exponentialBackoffMs(job.attempts, {
      firstMs: FIRST_PAUSE_MS,
      maxMs: PAUSE_MS_MAX,
    })
    return toWaiting({ ...failed, attempts }, addMs(now, pause), now)
  }
  // Recurring jobs run again anyway.
  if (job.everyMs !== null) return toNextRun(failed, job.everyMs, now)
  return toEnded({ ...failed, attempts }, 'dead', now)
}

/** Faults of an error may be more specific than its code. */
function toErrorCode({ code, facts }: AppError): JobErrorCode {
  return JOB_FAULTS.find((fault) => fault === facts.fault) ?? code
}

/** Cancels the job, of a recurring one only the next run. `running`: the claim of the run to stop. */
export function cancelJob(job: Job, running: string | null, now: Instant): Job {
  const stopped = { ...job, cancelledRun: running ?? job.cancelledRun }
  if (job.status === 'done') return stopped
  return job.everyMs === null
    ? toEnded(stopped, 'cancelled', now)
    : toNextRun(stopped, job.everyMs, now)
}

function toWaiting(job: Job, dueAt: Instant, now: Instant): Job {
  return { ...job, status: 'waiting', dueAt, statusChangedAt: now, claim: null }
}

function toNextRun(job: Job, everyMs: number, now: Instant): Job {
  return toWaiting({ ...job, attempts: 0, lostLeases: 0 }, addMs(now, everyMs), now)
}

function toEnded(job: Job, status: 'done' | 'dead' | 'cancelled', now: Instant): Job {
  return { ...job, status, dueAt: null, statusChangedAt: now, claim: null }
}

/** Writes the next version of a job. Dead jobs do not expire: a person decides about them. */
export function buildJobChange(job: Job, before: Job | null): Change {
  const isSettled = job.status === 'done' || job.status === 'cancelled'
  const row: Job = {
    ...job,
    version: (before?.version ?? 0) + 1,
    expiresAt: isSettled ? addMs(job.statusChangedAt, SETTLED_TTL_MS) : null,
  }
  const expect = before === null ? 'absent' : { version: before.version }
  return { op: 'put', table: 'job', row, expect }
}

/** A lease far in the future comes from a clock that was set back since. */
export function isLeaseExpired(
  { leasedUntil }: OwnerLease,
  now: Instant,
  leaseMs: number,
): boolean {
  return leasedUntil <= now || leasedUntil > now + 2 * leaseMs
}
