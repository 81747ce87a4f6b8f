/** When a session is distilled: as a scheduled job, or in the foreground while a caller waits. */

import type { SessionId, UserId } from '../../domain/ids.ts'
import type { SessionPlace } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import {
  type Job,
  type JobOutcome,
  type JobRequest,
  type Jobs,
  runExclusive,
  type WaitOptions,
} from '../../jobs/jobs.ts'
import { NEVER_ABORTED } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, ERRORS, type ErrorCode, toAppError } from '../../lib/errors.ts'
import { HOUR_MS, type Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { Change } from '../../storage/store.ts'
import { countPendingSignals } from '../signals.ts'
import { findEpisode } from './episode-writer.ts'
import { createDistillation, createFailedDistillation, type Distillation } from './outcome.ts'

export const DISTILL_JOB = 'distill'

/** Without a model a retry is pointless; `retryModelJobs` wakes the job when there is one. */
const NO_MODEL_RETRY_MS = 30 * 24 * HOUR_MS
const NO_MODEL = 'skipped:no_model'

/** Distills after a pause without new turns, or right after every turn. */
export function buildDistillationJob(
  place: SessionPlace,
  {
    'learning.extractionMode': extractionMode,
    'learning.debounceSeconds': debounceSeconds,
  }: Settings,
  now: Instant,
): JobRequest {
  const waitMs = extractionMode === 'everyTurn' ? 0 : debounceSeconds * 1000
  return buildDistillationJobAt(place, (now + waitMs) as Instant) // whole milliseconds
}

export function buildDistillationJobAt(
  { owner, user, session }: SessionPlace,
  at: Instant,
): JobRequest {
  const key = JSON.stringify([user, session])
  return { kind: DISTILL_JOB, key, owner, input: { user, session }, at }
}

/** Runs the job of a session and decides when it runs again. */
export async function runDistillationJob(
  clock: Clock,
  { owner, input }: Job,
  distill: (place: SessionPlace) => Promise<Distillation>,
): Promise<JobOutcome> {
  if (owner === null || typeof input.session !== 'string') {
    throw new AppError('internal', 'A distillation job must name an owner and a session.')
  }
  const user = typeof input.user === 'string' ? (input.user as UserId) : null // written by `buildDistillationJobAt`
  const session = input.session as SessionId // written by `buildDistillationJobAt`
  const distillation = await distill({ owner, user, session })
  throwIfFailed(distillation)
  const { outcome: result, pending, retryAt, signals, tokens } = distillation
  const outcome = { outcome: result, signals, tokens: tokens.input + tokens.output }
  const runAgain = (at: number): JobOutcome => ({ kind: 'later', at: at as Instant, outcome })
  if (retryAt !== null) return runAgain(Math.max(retryAt, clock.now()))
  if (result === NO_MODEL) return runAgain(clock.now() + NO_MODEL_RETRY_MS)
  if (pending > 0 || result === 'skipped:changed') return runAgain(clock.now())
  return { kind: 'done', outcome }
}

/** Signals count their own failures; the job only backs off. */
function throwIfFailed({ outcome, error }: Distillation): void {
  if (outcome === 'skipped:cancelled') {
    throw new AppError('cancelled', 'The distillation was cancelled.')
  }
  if (!outcome.startsWith('error:')) return
  const fault = outcome.slice('error:'.length)
  // `bad_answer` is no error code: the model answered in an unusable form.
  const code = Object.hasOwn(ERRORS, fault) ? (fault as ErrorCode) : 'bad_gateway'
  const reason = error === null ? fault : error.message
  throw new AppError(
    code,
    `Distilling the session failed: ${reason}`,
    { fault },
    error ?? undefined,
  )
}

/**
 * Distills in the foreground under the owner's lock and never fails. When the lock stays taken for too long, a job takes
 * over and the outcome is `skipped:busy`.
 */
export async function distillExclusive(
  dependencies: { readonly ports: MemoryDependencies; readonly jobs: Jobs },
  place: SessionPlace,
  options: WaitOptions,
  distill: (signal: AbortSignal, fence?: () => Promise<Change>) => Promise<Distillation>,
): Promise<Distillation> {
  const { ports, jobs } = dependencies
  let pending = 0
  try {
    pending = await countPendingSignals(ports, place)
    // Without signals there is nothing that another worker could distill at the same time.
    if (pending === 0) return await distill(options.signal ?? NEVER_ABORTED)
    return await runExclusive(dependencies, place.owner, options, (hold) =>
      distill(hold.signal, () => hold.fence()),
    )
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error.code === 'cancelled') return createDistillation('skipped:cancelled', { pending })
    if (error.code !== 'busy') return createFailedDistillation(error, { pending })
    await jobs.schedule(buildDistillationJobAt(place, ports.clock.now())).catch(() => {}) // an existing job suffices
    const episode = await findEpisode(ports, place).catch(() => null)
    return createDistillation('skipped:busy', { pending, episode: episode?.id ?? null })
  }
}
