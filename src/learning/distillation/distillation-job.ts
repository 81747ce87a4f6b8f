import type { SessionPlace } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { JobRequest } from '../../jobs/job.ts'
import { addMs, type Instant } from '../../lib/time.ts'

export const DISTILL_JOB = 'distill'

/** The job that learns from a session: after a while without a new turn, or after every turn. */
export function buildDistillationJob(
  place: SessionPlace,
  {
    'learning.extractionMode': extractionMode,
    'learning.debounceSeconds': summaryDebounceSeconds,
  }: Settings,
  now: Instant,
): JobRequest {
  const waitMs = extractionMode === 'everyTurn' ? 0 : summaryDebounceSeconds * 1000
  return buildDistillationJobAt(place, addMs(now, waitMs))
}

export function buildDistillationJobAt(
  { owner, user, session }: SessionPlace,
  at: Instant,
): JobRequest {
  const key = JSON.stringify([user, session])
  return { kind: DISTILL_JOB, key, owner, input: { user, session }, at }
}
