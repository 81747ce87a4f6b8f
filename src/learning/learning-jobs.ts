/** What is done in the background: sessions are distilled, memories consolidated, and what was missed is found. */

import type { StoredSettings } from '../admin/stored-settings.ts'
import type { OwnerId, SessionId, UserId } from '../domain/ids.ts'
import { type Scope, type SessionPlace, SYSTEM_OWNER } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Signal } from '../domain/signal.ts'
import type { JobRequest } from '../jobs/job.ts'
import type { ForegroundJob, Job, JobContext, JobHandler, JobOutcome, Jobs } from '../jobs/jobs.ts'
import { throwIfAborted } from '../lib/abort.ts'
import { AppError, ERRORS, type ErrorCode } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { JsonObject } from '../lib/json.ts'
import { addMs, DAY_MS, HOUR_MS, type Instant } from '../lib/time.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { ConsolidateOptions, ConsolidationReport } from './consolidation/consolidator.ts'
import { buildDistillationJob, DISTILL_JOB } from './distillation/distillation-job.ts'
import type { Distillation } from './distillation/outcome.ts'
import { loadSignals } from './signals.ts'

export const CONSOLIDATE_JOB = 'consolidate'

export const MAINTENANCE_JOB = 'maintenance'

/** Without a model nothing is tried; what waits is woken when there is one. */
const NO_MODEL_MS = 30 * DAY_MS
const NO_MODEL = 'skipped:no_model'

export type LearningJobDependencies = {
  readonly ports: MemoryDependencies
  readonly settings: StoredSettings
  readonly jobs: () => Jobs
  readonly distil: (place: SessionPlace, context: JobContext) => Promise<Distillation>
  readonly consolidate: (scope: Scope, options: ConsolidateOptions) => Promise<ConsolidationReport>
  /** The model that distils for an owner with these settings; null where there is none. */
  readonly modelIn: (settings: Settings) => string | null
}

export function createJobHandlers(
  parts: LearningJobDependencies,
): Readonly<Record<string, JobHandler>> {
  return {
    [DISTILL_JOB]: (job, context) => distilSession(parts, job, context),
    [CONSOLIDATE_JOB]: (job, context) => consolidateOwner(parts, job, context),
    [MAINTENANCE_JOB]: (job, context) => runMaintenance(parts, job, context),
  }
}

async function distilSession(
  { ports: { clock }, distil }: LearningJobDependencies,
  { owner, input }: Job,
  context: JobContext,
): Promise<JobOutcome> {
  if (owner === null || typeof input.session !== 'string') {
    throw new AppError('internal', 'A job to distil names an owner and a session.')
  }
  const user = typeof input.user === 'string' ? (input.user as UserId) : null // as it was armed
  const session = input.session as SessionId // as above
  const told = await distil({ owner, user, session }, context)
  const { outcome, pending, retryAt, signals, tokens } = told
  throwIfFailed(told)
  const done = { outcome, signals, tokens: tokens.input + tokens.output }
  const now = clock.now()
  const later = (at: number): JobOutcome => ({ kind: 'later', at: at as Instant, outcome: done })
  if (retryAt !== null) return later(Math.max(retryAt, now))
  if (outcome === NO_MODEL) return later(now + NO_MODEL_MS)
  if (pending > 0 || outcome === 'skipped:changed') return later(now)
  return { kind: 'done', outcome: done }
}

/** Signals keep their own count of failures; the job waits a while before it is done again. */
function throwIfFailed({ outcome }: Distillation): void {
  if (outcome === 'skipped:cancelled') throw new AppError('cancelled', 'Distilling was stopped.')
  if (!outcome.startsWith('error:')) return
  const told = outcome.slice('error:'.length)
  // What is no error of ours is an answer that could not be used, which the job tells by its own name.
  const code = Object.hasOwn(ERRORS, told) ? (told as ErrorCode) : 'bad_gateway'
  throw new AppError(code, 'A session could not be distilled.', { fault: told })
}

async function consolidateOwner(
  { consolidate }: LearningJobDependencies,
  { owner, input }: Job,
  { signal }: JobContext,
): Promise<JobOutcome> {
  if (owner === null) throw new AppError('internal', 'A job to consolidate names an owner.')
  const user = typeof input.user === 'string' ? { user: input.user as UserId } : {} // as it was asked for
  return {
    kind: 'done',
    outcome: buildReportOutcome(await consolidate({ owner, ...user }, { signal })),
  }
}

function buildReportOutcome({ id, memories, actionsTotal }: ConsolidationReport): JsonObject {
  return { report: id, memories, actions: actionsTotal }
}

/** Because somebody asks for it, and waits. */
export function buildForegroundConsolidation({
  owner,
  user,
}: Scope): ForegroundJob<ConsolidationReport> {
  const input = { asked: true, ...(typeof user === 'string' ? { user } : {}) }
  return {
    request: { kind: CONSOLIDATE_JOB, key: 'asked', owner, input },
    outcome: buildReportOutcome,
  }
}

export function buildConsolidationJob(
  owner: OwnerId,
  { 'learning.consolidationIntervalHours': consolidationIntervalHours }: Settings,
  now: Instant,
): JobRequest {
  const everyMs = consolidationIntervalHours * HOUR_MS
  const at = addMs(now, everyMs)
  return { kind: CONSOLIDATE_JOB, key: 'all', owner, at, everyMs, onlyIfNew: true }
}

/** At a start it also looks for sessions that wait and have no job, whatever became of it. */
export function buildMaintenanceJob(at: Instant): JobRequest {
  const input = { looksForSessions: true }
  return { kind: MAINTENANCE_JOB, key: 'all', owner: null, at, everyMs: HOUR_MS, input }
}

/** Every owner is to be consolidated from time to time, and what waited for a model that is there now waits no longer. */
async function runMaintenance(
  parts: LearningJobDependencies,
  job: Job,
  context: JobContext,
): Promise<JobOutcome> {
  const { store, clock } = parts.ports
  const owners = new Set((await store.listPlaces()).map(({ owner }) => owner))
  owners.delete(SYSTEM_OWNER)
  for (const name of owners) {
    throwIfAborted(context.signal, 'Upkeep was stopped.')
    const owner = name as OwnerId // as the store holds it
    const settings = await parts.settings.resolve(owner)
    await parts.jobs().schedule(buildConsolidationJob(owner, settings, clock.now()))
    if (job.input.looksForSessions === true) await schedulePendingSessions(parts, owner, settings)
    await retryModelJobs(parts, owner)
    await yieldToEventLoop()
  }
  const at = addMs(clock.now(), HOUR_MS)
  return { kind: 'later', at, input: {}, outcome: { owners: owners.size } }
}

/** Of sessions with something to learn from, those that have no job get one. */
async function schedulePendingSessions(
  { ports, jobs }: LearningJobDependencies,
  owner: OwnerId,
  settings: Settings,
): Promise<void> {
  if (settings['learning.extractionMode'] === 'manual') return
  const signals = await loadSignals(ports, { owner })
  for (const place of listSessionPlaces(signals.filter(({ status }) => status === 'pending'))) {
    const request = buildDistillationJob(place, settings, ports.clock.now())
    await jobs().schedule({ ...request, onlyIfNew: true })
  }
}

/** Each once. */
export function listSessionPlaces(signals: readonly Signal[]): readonly SessionPlace[] {
  const places = new Map<string, SessionPlace>()
  for (const { place } of signals) {
    const { owner, user, session } = place
    if (session !== null) places.set(JSON.stringify([user, session]), { owner, user, session })
  }
  return [...places.values()]
}

/** What waits because no model could be asked is due, if one can be asked by now. */
export async function retryModelJobs(
  { ports: { clock }, settings, modelIn, jobs }: LearningJobDependencies,
  owner: OwnerId,
): Promise<void> {
  if (modelIn(await settings.resolve(owner)) === null) return
  const soon = clock.now() + HOUR_MS // a session is quiet before that
  const isMeant = ({ outcome, dueAt }: Job) =>
    String(outcome?.outcome).startsWith('skipped:') && (dueAt ?? 0) > soon
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<Jobs['list']>> = await jobs().list({
      owner,
      kind: DISTILL_JOB,
      statuses: ['waiting'],
      ...(after === null ? {} : { after }),
    })
    for (const { id } of page.rows.filter(isMeant)) await jobs().retry(id)
    after = page.next
  } while (after !== null)
}
