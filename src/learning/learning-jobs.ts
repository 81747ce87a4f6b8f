/** Background jobs of learning: distillation, consolidation, and hourly maintenance. */

import type { StoredSettings } from '../admin/stored-settings.ts'
import type { OwnerId, UserId } from '../domain/ids.ts'
import { type Scope, type SessionPlace, SYSTEM_OWNER } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Signal } from '../domain/signal.ts'
import type { JobRequest } from '../jobs/job.ts'
import type { ForegroundJob, Job, JobContext, JobHandler, JobOutcome, Jobs } from '../jobs/jobs.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { JsonObject } from '../lib/json.ts'
import { addMs, HOUR_MS, type Instant } from '../lib/time.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { ConsolidateOptions, ConsolidationReport } from './consolidation/consolidator.ts'
import {
  buildDistillationJob,
  DISTILL_JOB,
  runDistillationJob,
} from './distillation/distillation-job.ts'
import type { Distillation } from './distillation/outcome.ts'
import { loadSignals } from './signals.ts'

export const CONSOLIDATE_JOB = 'consolidate'

export const MAINTENANCE_JOB = 'maintenance'

export type LearningJobDependencies = {
  readonly ports: MemoryDependencies
  readonly settings: StoredSettings
  readonly jobs: Jobs
  readonly distil: (place: SessionPlace, context: JobContext) => Promise<Distillation>
  readonly consolidate: (scope: Scope, options: ConsolidateOptions) => Promise<ConsolidationReport>
  /** The name of the distillation model under these settings; null without one. */
  readonly modelIn: (settings: Settings) => string | null
}

export function createJobHandlers(
  dependencies: LearningJobDependencies,
): Readonly<Record<string, JobHandler>> {
  return {
    [DISTILL_JOB]: (job, context) =>
      runDistillationJob(dependencies.ports.clock, job, (place) =>
        dependencies.distil(place, context),
      ),
    [CONSOLIDATE_JOB]: (job, context) => consolidateOwner(dependencies, job, context),
    [MAINTENANCE_JOB]: (job, context) => runMaintenance(dependencies, job, context),
  }
}

async function consolidateOwner(
  { consolidate }: LearningJobDependencies,
  { owner, input }: Job,
  { signal }: JobContext,
): Promise<JobOutcome> {
  if (owner === null) throw new AppError('internal', 'A consolidation job must name an owner.')
  const user = typeof input.user === 'string' ? { user: input.user as UserId } : {} // written by `buildForegroundConsolidation`
  return {
    kind: 'done',
    outcome: buildReportOutcome(await consolidate({ owner, ...user }, { signal })),
  }
}

function buildReportOutcome({ id, memories, actionsTotal }: ConsolidationReport): JsonObject {
  return { report: id, memories, actions: actionsTotal }
}

/** A consolidation whose caller waits for it. */
export function buildForegroundConsolidation({
  owner,
  user,
}: Scope): ForegroundJob<ConsolidationReport> {
  const input = { isForeground: true, ...(typeof user === 'string' ? { user } : {}) }
  return {
    request: { kind: CONSOLIDATE_JOB, key: 'foreground', owner, input },
    outcome: buildReportOutcome,
  }
}

export function buildConsolidationJob(
  owner: OwnerId,
  { 'learning.consolidationIntervalHours': intervalHours }: Settings,
  now: Instant,
): JobRequest {
  const everyMs = intervalHours * HOUR_MS
  const at = (now + everyMs) as Instant // whole milliseconds
  return { kind: CONSOLIDATE_JOB, key: 'all', owner, at, everyMs, onlyIfNew: true }
}

/** The first run after a start also schedules sessions that have pending signals but no job. */
export function buildMaintenanceJob(at: Instant): JobRequest {
  const input = { looksForSessions: true }
  return { kind: MAINTENANCE_JOB, key: 'all', owner: null, at, everyMs: HOUR_MS, input }
}

/** Schedules the consolidation of every owner and wakes jobs that waited for a model. */
async function runMaintenance(
  dependencies: LearningJobDependencies,
  job: Job,
  context: JobContext,
): Promise<JobOutcome> {
  const { store, clock } = dependencies.ports
  const owners = new Set((await store.listPlaces()).map(({ owner }) => owner))
  owners.delete(SYSTEM_OWNER)
  for (const name of owners) {
    if (context.signal.aborted)
      throw new AppError('cancelled', 'The maintenance job was cancelled.')
    const owner = name as OwnerId // validated when stored
    const settings = await dependencies.settings.resolve(owner)
    await dependencies.jobs.schedule(buildConsolidationJob(owner, settings, clock.now()))
    if (job.input.looksForSessions === true)
      await schedulePendingSessions(dependencies, owner, settings)
    await retryModelJobs(dependencies, owner)
    await yieldToEventLoop()
  }
  const at = addMs(clock.now(), HOUR_MS)
  return { kind: 'later', at, input: {}, outcome: { owners: owners.size } }
}

/** Schedules jobs for sessions that have pending signals but no job. */
async function schedulePendingSessions(
  { ports, jobs }: LearningJobDependencies,
  owner: OwnerId,
  settings: Settings,
): Promise<void> {
  if (settings['learning.extractionMode'] === 'manual') return
  const signals = await loadSignals(ports, { owner })
  for (const place of listSessionPlaces(signals.filter(({ status }) => status === 'pending'))) {
    const request = buildDistillationJob(place, settings, ports.clock.now())
    await jobs.schedule({ ...request, onlyIfNew: true })
  }
}

/** The distinct sessions of the signals. */
export function listSessionPlaces(signals: readonly Signal[]): readonly SessionPlace[] {
  const places = new Map<string, SessionPlace>()
  for (const { place } of signals) {
    const { owner, user, session } = place
    if (session !== null) places.set(JSON.stringify([user, session]), { owner, user, session })
  }
  return [...places.values()]
}

/** Makes jobs due that were skipped, or never ran, for lack of a model, once there is one. */
export async function retryModelJobs(
  { ports: { clock }, settings, modelIn, jobs }: LearningJobDependencies,
  owner: OwnerId,
): Promise<void> {
  if (modelIn(await settings.resolve(owner)) === null) return
  const soon = clock.now() + HOUR_MS // jobs that only debounce are due sooner
  const waitsForModel = ({ outcome, dueAt }: Job) =>
    (outcome === null || String(outcome.outcome).startsWith('skipped:')) && (dueAt ?? 0) > soon
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<Jobs['list']>> = await jobs.list({
      owner,
      kind: DISTILL_JOB,
      statuses: ['waiting'],
      ...(after === null ? {} : { after }),
    })
    for (const { id } of page.rows.filter(waitsForModel)) await jobs.retry(id)
    after = page.next
  } while (after !== null)
}
