/**
 * The state machine of background jobs, without I/O.
 *
 * A job is a row, so it survives a crash. All jobs of an owner share a lock row, so they run one at a time. Scheduling a
 * job never touches the lock: a job that is scheduled while it runs runs once more, and no wake-up is lost.
 */
import type { Entry } from '../domain/entry.ts'
import { createInvalidInputError } from '../domain/field-parsers.ts'
import type { EntryId, JobId, OwnerId } from '../domain/ids.ts'
import { type AppError, ERRORS, type ErrorCode } from '../lib/errors.ts'
import { sha256 } from '../lib/hash.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { INSTANT_MAX, type Instant } from '../lib/time.ts'

/** A `dead` job failed too often and waits for a manual retry; `done` and `cancelled` jobs stay visible for an hour. */
export const JOB_STATUSES = ['waiting', 'running', 'done', 'dead', 'cancelled'] as const

export type JobStatus = (typeof JOB_STATUSES)[number]

/** `lost`: whoever did it ended without a word; `bad_answer`: a model answered with what can't be used. */
const FAULTS = ['lost', 'bad_answer'] as const

export type JobErrorCode = ErrorCode | (typeof FAULTS)[number]

export type Job = {
  readonly id: JobId
  readonly kind: string
  readonly key: string
  /** Null for jobs of the whole system. */
  readonly owner: OwnerId | null
  readonly input: JsonObject
  readonly status: JobStatus
  /** Null when the job does not run by itself. */
  readonly dueAt: Instant | null
  /** When the job entered its status. */
  readonly statusChangedAt: Instant
  /** Failures since the job was scheduled. */
  readonly attempts: number
  /** Leases lost since the job was scheduled. */
  readonly lostLeases: number
  /** Null for jobs that run once. */
  readonly everyMs: number | null
  readonly lastError: JobErrorCode | null
  /** The outcome of the last run. */
  readonly outcome: JsonObject | null
  /** The claim of the run that may settle the job; null when none may. */
  readonly claim: string | null
  /** The claim of a run that has to stop. */
  readonly cancelledRun: string | null
}

export type JobRequest = {
  readonly kind: string
  /** Kind, owner and key identify a job. */
  readonly key: string
  readonly owner: OwnerId | null
  readonly input?: JsonObject
  readonly at: Instant
  /** From the end of one run to the start of the next. */
  readonly everyMs?: number
  /** Leaves a waiting or running job as it is: a server restart must not postpone recurring jobs. */
  readonly onlyIfNew?: boolean
}

export type JobLimits = {
  readonly leaseMs: number
  /** Failures after which a job is `dead`. */
  readonly attemptsMax: number
  /** Lost leases after which a job is `dead`, because it most likely crashes its worker. */
  readonly lostLeasesMax: number
}

/**
 * How a run ended. `abandoned`: the waiting caller received the error, so the job is not retried automatically.
 * `released`: the run was stopped and the job runs again later.
 */
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
const PAUSE_MS_MAX = 3_600_000

/** How long a finished job stays visible. */
const OVER_KEPT_MS = 3_600_000
const HASH_CHARACTERS = 40

/** The due time of jobs that are not due: no scan reaches it. */
const NEVER = INSTANT_MAX as Instant // the last valid instant

export function buildJobId({
  kind,
  owner,
  key,
}: Pick<JobRequest, 'kind' | 'owner' | 'key'>): JobId {
  return `job_${kind}_${hashParts(owner, key)}` as JobId // made from what it stands for
}

/** The lock of the owner; a job without an owner has a lock of its own. */
export function buildJobLockId({ id, owner }: Pick<Job, 'id' | 'owner'>): EntryId {
  return owner === null ? (`lane_${hashParts(null, id)}` as EntryId) : buildOwnerLockId(owner) // as above
}

export function buildOwnerLockId(owner: OwnerId): EntryId {
  return `lane_${hashParts(owner)}` as EntryId // as above
}

function hashParts(...parts: readonly (string | null)[]): string {
  return sha256(JSON.stringify(parts)).slice(0, HASH_CHARACTERS)
}

/** The job after scheduling; null when nothing changes. */
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

const NEW = { lastError: null, outcome: null, cancelledRun: null }

function assertValidRequest({ kind, key, at, everyMs }: JobRequest): void {
  if (!KIND.test(kind))
    throw createInvalidInputError('kind', `\`kind\` must match ${KIND.source}; got "${kind}".`)
  if (key.length > KEY_CHARACTERS_MAX) {
    throw createInvalidInputError(
      'key',
      `\`key\` must have at most ${KEY_CHARACTERS_MAX} characters; got ${key.length}.`,
    )
  }
  if (!Number.isSafeInteger(at) || Math.abs(at) > INSTANT_MAX) {
    throw createInvalidInputError('at', `\`at\` must be a time in epoch milliseconds; got ${at}.`)
  }
  if (everyMs !== undefined && !(Number.isSafeInteger(everyMs) && everyMs >= EVERY_MS_MIN)) {
    throw createInvalidInputError(
      'everyMs',
      `\`everyMs\` must be at least ${EVERY_MS_MIN}; got ${everyMs}.`,
    )
  }
}

/** A job whose status changed in the future was written before the clock was set back; its wait is unknown, so it is due. */
export function isDue(
  { status, dueAt, statusChangedAt: since }: Job,
  now: Instant,
  leaseMs: number,
): boolean {
  if (status !== 'waiting' && status !== 'running') return false
  return dueAt !== null && (dueAt <= now || since > now + 2 * leaseMs)
}

/** Marks the job as running, or as dead after too many lost leases. */
export function claimJob(job: Job, claim: string, now: Instant, { lostLeasesMax }: JobLimits): Job {
  const losses = job.lostLeases + (job.status === 'running' ? 1 : 0)
  const lastError = losses > job.lostLeases ? 'lost' : job.lastError
  if (losses >= lostLeasesMax)
    return toEnded({ ...job, lostLeases: losses, lastError }, 'dead', now)
  return { ...job, lostLeases: losses, lastError, status: 'running', statusChangedAt: now, claim }
}

export function finishJob(job: Job, result: JobResult, now: Instant, limits: JobLimits): Job {
  switch (result.kind) {
    case 'done': {
      const done = { ...job, outcome: result.outcome, lastError: null }
      return job.everyMs === null ? toEnded(done, 'done', now) : toNextRun(done, job.everyMs, now)
    }
    case 'later': {
      const { at, outcome = job.outcome, input = job.input } = result
      return toWaiting(
        { ...job, outcome, input, attempts: 0, lostLeases: 0, lastError: null },
        at,
        now,
      )
    }
    case 'failed':
      return failJob(job, result.error, now, limits)
    case 'abandoned': {
      const { code } = result.error
      const status = code === 'cancelled' ? 'cancelled' : 'dead'
      return toEnded({ ...job, lastError: toErrorCode(result.error) }, status, now)
    }
    case 'released':
      return toWaiting(job, job.dueAt ?? now, now)
  }
}

/** An error with a known end, such as a spent budget, postpones the job and does not count as a failed attempt. */
function failJob(job: Job, error: AppError, now: Instant, { attemptsMax }: JobLimits): Job {
  const { until } = error.facts
  const failed = { ...job, lastError: toErrorCode(error) }
  if (typeof until === 'number' && Number.isSafeInteger(until) && until < INSTANT_MAX) {
    return toWaiting(failed, Math.max(until, now + FIRST_PAUSE_MS) as Instant, now)
  }
  const attempts = job.attempts + 1
  if (attempts < attemptsMax) {
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** job.attempts, PAUSE_MS_MAX)
    return toWaiting({ ...failed, attempts }, (now + pause) as Instant, now)
  }
  // A recurring job retries with its next run.
  if (job.everyMs !== null) return toNextRun(failed, job.everyMs, now)
  return toEnded({ ...failed, attempts }, 'dead', now)
}

/** An error may name a fault that has no error code. */
function toErrorCode({ code, facts }: AppError): JobErrorCode {
  return FAULTS.find((fault) => fault === facts.fault) ?? code
}

/** Cancels the job; of a recurring job, one run. `running` is the claim of the run that has to stop. */
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
  return toWaiting({ ...job, attempts: 0, lostLeases: 0 }, (now + everyMs) as Instant, now)
}

function toEnded(job: Job, status: 'done' | 'dead' | 'cancelled', now: Instant): Job {
  return { ...job, status, dueAt: null, statusChangedAt: now, claim: null }
}

/** The stored form. Dead jobs stay until they are retried or cancelled. */
export function toJobEntry(job: Job): Omit<Entry, 'place' | 'version'> {
  const { id, owner, dueAt, statusChangedAt, lostLeases, cancelledRun, ...rest } = job
  const isForgettable = job.status === 'done' || job.status === 'cancelled'
  return {
    id,
    kind: 'job',
    about: owner,
    at: dueAt ?? NEVER,
    expiresAt: isForgettable ? ((job.statusChangedAt + OVER_KEPT_MS) as Instant) : null,
    body: { ...rest, since: statusChangedAt, losses: lostLeases, stopped: cancelledRun },
  }
}

/** Null for rows that this version cannot read. */
export function parseJob({ id, kind, about, at, body }: Entry): Job | null {
  const status = JOB_STATUSES.find((known) => known === body.status)
  const { kind: work, key, input, outcome } = body
  if (kind !== 'job' || status === undefined) return null
  if (typeof work !== 'string' || typeof key !== 'string' || !isObject(input)) return null
  return {
    id: id as JobId, // the id of a `job` entry
    kind: work,
    key,
    owner: about,
    input,
    status,
    dueAt: at === NEVER ? null : at,
    statusChangedAt: parseCount(body.since) as Instant,
    attempts: parseCount(body.attempts),
    lostLeases: parseCount(body.losses),
    everyMs: typeof body.everyMs === 'number' ? body.everyMs : null,
    lastError: isErrorCode(body.lastError) ? body.lastError : null,
    outcome: isObject(outcome) ? outcome : null,
    claim: typeof body.claim === 'string' ? body.claim : null,
    cancelledRun: typeof body.stopped === 'string' ? body.stopped : null,
  }
}

/** The lease of the worker that may work for an owner. */
export type OwnerLock = {
  readonly holder: string
  readonly claim: string
  readonly leasedUntil: Instant
}

/** Null when the lock is free. */
export function parseOwnerLock({ body }: Entry): OwnerLock | null {
  const { holder, claim, leasedUntil } = body
  if (typeof holder !== 'string' || typeof claim !== 'string') return null
  return { holder, claim, leasedUntil: parseCount(leasedUntil) as Instant }
}

/** A lease that ends far in the future was written before the clock was set back. */
export function isLeaseExpired({ leasedUntil }: OwnerLock, now: Instant, leaseMs: number): boolean {
  return leasedUntil <= now || leasedUntil > now + 2 * leaseMs
}

function parseCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
}

function isErrorCode(value: unknown): value is JobErrorCode {
  if (typeof value !== 'string') return false
  return FAULTS.some((fault) => fault === value) || Object.hasOwn(ERRORS, value)
}
