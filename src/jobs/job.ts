/**
 * Background work, the pure part: what a job is, when it is due, and what becomes of it.
 *
 * A job is a row, so that it survives a crash. Who does it is told by its lane, another row, which all jobs of an owner
 * share: whoever holds the lane may work, so an owner's jobs are done one at a time. Arming a job never touches the lane;
 * one that is armed while it runs is armed for the next time, and no wake-up is lost.
 */
import type { Entry } from '../domain/entry.ts'
import {
  createInvalidInputError,
  parseInstant,
  parseInteger,
  parseText,
} from '../domain/field-parsers.ts'
import type { EntryId, JobId, OwnerId } from '../domain/ids.ts'
import { type AppError, ERRORS, type ErrorCode } from '../lib/errors.ts'
import { hashParts } from '../lib/hash.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { exponentialBackoffMs } from '../lib/retry.ts'
import { addMs, HOUR_MS, INSTANT_MAX, type Instant } from '../lib/time.ts'

/** `dead`: it failed too often and waits for a person; `done` and `cancelled` ones are kept for a while to be looked at. */
export const JOB_STATUSES = ['waiting', 'running', 'done', 'dead', 'cancelled'] as const

export type JobStatus = (typeof JOB_STATUSES)[number]

/** `lease_lost`: the worker stopped renewing its lease; `bad_answer`: a model answered with what can't be used. */
const FAULTS = ['lease_lost', 'bad_answer'] as const

export type JobErrorCode = ErrorCode | (typeof FAULTS)[number]

export type Job = {
  readonly id: JobId
  readonly kind: string
  readonly key: string
  /** Whose it is; null: nobody's in particular. */
  readonly owner: OwnerId | null
  readonly input: JsonObject
  readonly status: JobStatus
  /** Null when it will not run by itself. */
  readonly dueAt: Instant | null
  /** When it got into this state. */
  readonly statusChangedAt: Instant
  /** How often it failed since it was armed. */
  readonly attempts: number
  /** How often it was lost since it was armed. */
  readonly lostLeases: number
  /** Null for what is done once. */
  readonly everyMs: number | null
  readonly lastError: JobErrorCode | null
  /** What came of it the last time. */
  readonly outcome: JsonObject | null
  /** Names the run that may say what became of it; null when none may. */
  readonly claim: string | null
  /** Names a run that is to stop. */
  readonly cancelledRun: string | null
}

export type JobRequest = {
  readonly kind: string
  /** Jobs of one kind, owner and key are the same job. */
  readonly key: string
  readonly owner: OwnerId | null
  readonly input?: JsonObject
  readonly at: Instant
  /** From the end of one run to the beginning of the next. */
  readonly everyMs?: number
  /** Leaves one alone that waits or runs already: a start of the server must not put off what recurs. */
  readonly onlyIfNew?: boolean
}

export type JobLimits = {
  readonly leaseMs: number
  /** Failures after which a job is dead. */
  readonly attemptsMax: number
  /** Losses after which a job is dead: most likely it is to blame for them. */
  readonly lostLeasesMax: number
}

/**
 * How a run ended. `abandoned`: whoever waited for it was told of the error, so it is not tried again by itself.
 * `released`: it was stopped and is to be done another time.
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

/** Databases of earlier versions hold jobs under these kinds, and so does the id of a job. */
const STORED_KINDS: ReadonlyMap<string, string> = new Map([['maintenance', 'upkeep']])
const KINDS = new Map([...STORED_KINDS].map(([kind, stored]) => [stored, kind]))

const KEY_CHARACTERS_MAX = 1_000
const EVERY_MS_MIN = 1_000
const FIRST_PAUSE_MS = 30_000
const PAUSE_MS_MAX = HOUR_MS

/** How long something that is over can still be looked at. */
const OVER_KEPT_MS = HOUR_MS

/** When nothing is due: no search for what is due meets it. */
const NEVER = INSTANT_MAX as Instant // the last instant there is

export function buildJobId({
  kind,
  owner,
  key,
}: Pick<JobRequest, 'kind' | 'owner' | 'key'>): JobId {
  return `job_${STORED_KINDS.get(kind) ?? kind}_${hashParts(owner, key)}` as JobId // made from what it stands for
}

/** Of an owner; a job that is nobody's has one to itself. */
export function buildJobLockId({ id, owner }: Pick<Job, 'id' | 'owner'>): EntryId {
  return owner === null ? (`lane_${hashParts(null, id)}` as EntryId) : buildOwnerLockId(owner) // as above
}

export function buildOwnerLockId(owner: OwnerId): EntryId {
  return `lane_${hashParts(owner)}` as EntryId // as above
}

/** The job as it will be; null when nothing is to be changed. */
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
  if (!KIND.test(kind)) {
    throw createInvalidInputError('kind', '`kind` must be a camelCase word of at most 19 letters.')
  }
  parseText('key', key, KEY_CHARACTERS_MAX)
  parseInstant('at', at)
  if (everyMs !== undefined) parseInteger('everyMs', everyMs, EVERY_MS_MIN, Number.MAX_SAFE_INTEGER)
}

/**
 * What got into its state in the future was put there by a clock that has been set back since. Nobody knows how long it
 * has waited, so it is due.
 */
export function isDue(
  { status, dueAt, statusChangedAt: since }: Job,
  now: Instant,
  leaseMs: number,
): boolean {
  if (status !== 'waiting' && status !== 'running') return false
  return dueAt !== null && (dueAt <= now || since > now + 2 * leaseMs)
}

/** By a run, or dead where too many runs were lost with it. */
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

/** An error that says until when it lasts is waited out; it is no failure of the job's. */
function failJob(job: Job, error: AppError, now: Instant, { attemptsMax }: JobLimits): Job {
  const { until } = error.facts
  const told = { ...job, lastError: toErrorCode(error) }
  if (typeof until === 'number' && Number.isSafeInteger(until) && until < INSTANT_MAX) {
    return toWaiting(told, Math.max(until, now + FIRST_PAUSE_MS) as Instant, now)
  }
  const attempts = job.attempts + 1
  if (attempts < attemptsMax) {
    const pause = exponentialBackoffMs(job.attempts, {
      firstMs: FIRST_PAUSE_MS,
      maxMs: PAUSE_MS_MAX,
    })
    return toWaiting({ ...told, attempts }, addMs(now, pause), now)
  }
  // What recurs has another chance by itself.
  if (job.everyMs !== null) return toNextRun(told, job.everyMs, now)
  return toEnded({ ...told, attempts }, 'dead', now)
}

/** An error may name a fault that has no code of its own. */
function toErrorCode({ code, facts }: AppError): JobErrorCode {
  return FAULTS.find((fault) => fault === facts.fault) ?? code
}

/** Takes it back; of what recurs, this one time. `running` names the run that is to stop. */
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

/** As it is stored. Dead ones are kept until somebody decides about them. */
export function toJobEntry(job: Job): Omit<Entry, 'place' | 'version'> {
  const { id, owner, dueAt, kind, statusChangedAt, lostLeases, lastError, cancelledRun, ...rest } =
    job
  const isForgettable = job.status === 'done' || job.status === 'cancelled'
  return {
    id,
    kind: 'job',
    about: owner,
    at: dueAt ?? NEVER,
    expiresAt: isForgettable ? addMs(job.statusChangedAt, OVER_KEPT_MS) : null,
    body: {
      ...rest,
      kind: STORED_KINDS.get(kind) ?? kind,
      since: statusChangedAt,
      losses: lostLeases,
      lastError: lastError === 'lease_lost' ? 'lost' : lastError,
      stopped: cancelledRun,
    },
  }
}

/** Null when it is none that this version knows how to read. */
export function parseJob({ id, kind, about, at, body }: Entry): Job | null {
  const status = JOB_STATUSES.find((known) => known === body.status)
  const { kind: work, key, input, outcome } = body
  if (kind !== 'job' || status === undefined) return null
  if (typeof work !== 'string' || typeof key !== 'string' || !isObject(input)) return null
  return {
    id: id as JobId, // of an entry of this kind
    kind: KINDS.get(work) ?? work,
    key,
    owner: about,
    input,
    status,
    dueAt: at === NEVER ? null : at,
    statusChangedAt: parseCount(body.since) as Instant,
    attempts: parseCount(body.attempts),
    lostLeases: parseCount(body.losses),
    everyMs: typeof body.everyMs === 'number' ? body.everyMs : null,
    lastError: parseErrorCode(body.lastError),
    outcome: isObject(outcome) ? outcome : null,
    claim: typeof body.claim === 'string' ? body.claim : null,
    cancelledRun: typeof body.stopped === 'string' ? body.stopped : null,
  }
}

/** Who works on jobs that may not be worked on at once. */
export type OwnerLock = {
  readonly holder: string
  readonly claim: string
  readonly leasedUntil: Instant
}

/** Null when nobody does. */
export function parseOwnerLock({ body }: Entry): OwnerLock | null {
  const { holder, claim, leasedUntil } = body
  if (typeof holder !== 'string' || typeof claim !== 'string') return null
  return { holder, claim, leasedUntil: parseCount(leasedUntil) as Instant }
}

/** One that is far ahead was made by a clock that has been set back since. */
export function isLeaseExpired({ leasedUntil }: OwnerLock, now: Instant, leaseMs: number): boolean {
  return leasedUntil <= now || leasedUntil > now + 2 * leaseMs
}

function parseCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
}

function parseErrorCode(value: unknown): JobErrorCode | null {
  if (value === 'lost') return 'lease_lost'
  const fault = FAULTS.find((known) => known === value)
  if (fault !== undefined) return fault
  return typeof value === 'string' && Object.hasOwn(ERRORS, value) ? (value as ErrorCode) : null // a key of that table
}
