/** Background jobs as they are stored. Jobs of one kind, owner and key are the same job. */
import type { ErrorCode } from '../lib/errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import type { JobId, OwnerId } from './ids.ts'
import type { Place } from './scope.ts'

/** `dead`: it failed too often and waits for a person; `done` and `cancelled` jobs expire after a while. */
export const JOB_STATUSES = ['waiting', 'running', 'done', 'dead', 'cancelled'] as const

export type JobStatus = (typeof JOB_STATUSES)[number]

/** `lease_lost`: the worker stopped renewing its lease; `bad_answer`: a model's answer could not be used. */
export const JOB_FAULTS = ['lease_lost', 'bad_answer'] as const

export type JobErrorCode = ErrorCode | (typeof JOB_FAULTS)[number]

export type Job = {
  readonly id: JobId
  /** Jobs of all owners stand in the place of the system, so that one query finds those that are due. */
  readonly place: Place
  readonly version: number
  readonly kind: string
  readonly key: string
  /** The owner the job works for; null: nobody in particular. */
  readonly owner: OwnerId | null
  readonly input: JsonObject
  readonly status: JobStatus
  /** Null when it will not run by itself. */
  readonly dueAt: Instant | null
  readonly statusChangedAt: Instant
  /** How often it failed since it was scheduled. */
  readonly attempts: number
  /** How often its lease was lost since it was scheduled. */
  readonly lostLeases: number
  /** From the end of one run to the beginning of the next; null for a job that runs once. */
  readonly everyMs: number | null
  readonly lastError: JobErrorCode | null
  /** The outcome of the last run. */
  readonly outcome: JsonObject | null
  /** The run that may settle the job; null when none may. */
  readonly claim: string | null
  /** A run that is to stop. */
  readonly cancelledRun: string | null
  readonly expiresAt: Instant | null
}
