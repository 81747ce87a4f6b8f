/** Learning: conversations become memories, and memories are consolidated, in the background and on request. */

import type { StoredSettings } from '../admin/stored-settings.ts'
import { type OwnerId, parseId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { parseScope, type Scope, type ScopeInput, type SessionPlace } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Signal, SignalStatus } from '../domain/signal.ts'
import { type Jobs, runExclusive, type WaitOptions } from '../jobs/jobs.ts'
import type { YieldTurn } from '../lib/backpressure.ts'
import { AppError } from '../lib/errors.ts'
import { KeyedMutex } from '../lib/mutex.ts'
import type { DraftInput } from '../memory/draft.ts'
import type { RememberResult, Serialize } from '../memory/memory-writer.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { GuardedModels, Spent } from '../models/guarded-models.ts'
import { findSessionByName } from '../storage/access/session-lookup.ts'
import { yieldingStore } from '../storage/access/yielding-store.ts'
import type { Change, Page } from '../storage/store.ts'
import { addAdjudicator, createModelTasks, selectModel } from './completions/model-tasks.ts'
import {
  type ConsolidateOptions,
  type ConsolidationReport,
  consolidate,
  listReports,
} from './consolidation/consolidator.ts'
import {
  type EvictionForecast,
  forecastEvictions,
} from './consolidation/eviction/eviction-forecast.ts'
import type { StoredConsolidationReport } from './consolidation/report.ts'
import {
  type IngestInput,
  type IngestResult,
  ingestConversation,
} from './distillation/conversation-ingest.ts'
import {
  buildDistillationJob,
  buildDistillationJobAt,
  distillExclusive,
} from './distillation/distillation-job.ts'
import { type DistillerDependencies, distillSession } from './distillation/distiller.ts'
import type { Distillation } from './distillation/outcome.ts'
import {
  type AddIdentityResult,
  addIdentity,
  getIdentity,
  type IdentityInput,
  type IdentityProfile,
  listIdentities,
} from './identity/identities.ts'
import {
  buildForegroundConsolidation,
  buildMaintenanceJob,
  createJobHandlers,
  type LearningJobDependencies,
  listSessionPlaces,
  retryModelJobs,
} from './learning-jobs.ts'
import type { PatternLearningOptions } from './patterns/pattern-drafts.ts'
import { type LearnResult, learnPatterns } from './patterns/pattern-fact-writer.ts'
import {
  type Conflict,
  keepBoth,
  listConflicts,
  mergeMemories,
  type ResolvedConflict,
  resolveMemoryConflict,
} from './review/conflict-review.ts'
import {
  approveMemory,
  listSuspectMemories,
  type ReviewQuery,
  rejectMemory,
} from './review/suspect-review.ts'
import { type BuildSignalChanges, createSignalWriter } from './signal-writer.ts'
import {
  forgetSignals,
  getSignal,
  listSignals,
  loadSignals,
  retrySignals,
  type SignalQuery,
} from './signals.ts'
import {
  type SummarizeOptions,
  type SummarizeResult,
  summarize,
  summarizeMemories,
} from './summaries/summarizer.ts'

export type LearningStatus = {
  /** The model that distills; null when none is configured: signals then stay pending. */
  readonly model: string | null
  /** Until when the circuit breaker of the model is open; null when it is closed. */
  readonly pausedUntil: number | null
  /** Tokens used today; null without models. */
  readonly usageToday: Spent | null
}

export type LearningReport = LearningStatus & {
  readonly signals: Readonly<Record<SignalStatus, number>>
}

/** Default: every signal of the scope. */
export type SignalSelection = { readonly ids?: readonly string[] }

export interface Learning {
  /** Exchanges that wait to be learned from. */
  readonly signals: Signals
  /** Memories that wait for a person. */
  readonly review: Review
  /** Who the users are: identity statements and the narrative written from them. */
  readonly identity: Identities
  /**
   * Distills a session now instead of when it is quiet. Never fails because of the model: `outcome` reports what
   * happened. When another job holds the owner's lock for too long, the outcome is `skipped:busy` and a job follows.
   *
   * @example
   * const { outcome } = await engine.learning.distill({ owner: 'ada', session: 'trip to Oslo' })
   */
  distill(scope: ScopeInput, options?: WaitOptions): Promise<Distillation>
  /**
   * Records a whole conversation and distills it.
   *
   * @example
   * await engine.learning.ingest({
   *   owner: 'ada',
   *   conversation: 'trip to Oslo',
   *   turns: [{ user: 'I land in Oslo on Friday.', assistant: 'Noted.' }],
   * })
   */
  ingest(input: IngestInput, options?: WaitOptions): Promise<IngestResult>
  /**
   * The memories that leave next if nobody uses them, soonest first, and why.
   *
   * @example
   * const [next] = await engine.learning.forecastEvictions({ owner: 'ada' }, { limit: 10 })
   */
  forecastEvictions(
    scope: ScopeInput,
    options?: { readonly limit?: number },
  ): Promise<readonly EvictionForecast[]>
  /**
   * Merges, promotes and evicts the memories of a scope; with `dryRun`, only reports what it would do. Fails with
   * `busy` when another job holds the owner's lock for too long.
   *
   * @example
   * const report = await engine.learning.consolidate({ owner: 'ada' }, { dryRun: true })
   */
  consolidate(
    scope: ScopeInput,
    options?: ConsolidateOptions & WaitOptions,
  ): Promise<ConsolidationReport>
  /**
   * Reports of past consolidations, newest first, with what can still be undone.
   *
   * @example
   * const reports = await engine.learning.listConsolidations({ owner: 'ada' })
   */
  listConsolidations(scope: ScopeInput): Promise<readonly StoredConsolidationReport[]>
  /**
   * The model that learns from an owner's conversations, its circuit breaker and today's token use.
   *
   * @example
   * const { model, usageToday } = await engine.learning.status({ owner: 'ada' })
   */
  status(scope: ScopeInput): Promise<LearningStatus>
}

export interface Signals {
  /**
   * @example
   * const page = await engine.learning.signals.list({ owner: 'ada' }, { limit: 20 })
   */
  list(scope: ScopeInput, query?: SignalQuery): Promise<Page<Signal>>
  /**
   * Fails with `not_found` when there is no such signal.
   *
   * @example
   * const signal = await engine.learning.signals.get({ owner: 'ada' }, 'sig_01jf8t3z9k')
   */
  get(scope: ScopeInput, id: string): Promise<Signal>
  /**
   * Makes dead signals pending and tries them at once; forgotten ones too when `ids` names them.
   *
   * @example
   * const revived = await engine.learning.signals.retry({ owner: 'ada' })
   */
  retry(scope: ScopeInput, options?: SignalSelection): Promise<readonly Signal[]>
  /**
   * Excludes signals from learning, also when the same exchange is sent again. The turns stay.
   *
   * @example
   * await engine.learning.signals.forget({ owner: 'ada' }, { ids: ['sig_01jf8t3z9k'] })
   */
  forget(scope: ScopeInput, options?: SignalSelection): Promise<readonly Signal[]>
  /**
   * The learning status with the number of signals by status.
   *
   * @example
   * const { signals } = await engine.learning.signals.report({ owner: 'ada' })
   */
  report(scope: ScopeInput): Promise<LearningReport>
}

export interface Review {
  /**
   * Memories that look like instructions and are kept out of recall until someone approves them.
   *
   * @example
   * const page = await engine.learning.review.list({ owner: 'ada' })
   */
  list(scope: ScopeInput, query?: ReviewQuery): Promise<Page<Memory>>
  /**
   * @example
   * await engine.learning.review.approve({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  approve(scope: ScopeInput, id: string): Promise<Memory>
  /**
   * @example
   * await engine.learning.review.reject({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  reject(scope: ScopeInput, id: string): Promise<Memory>
  /**
   * Pairs of active memories that contradict each other.
   *
   * @example
   * const page = await engine.learning.review.listConflicts({ owner: 'ada' })
   */
  listConflicts(scope: ScopeInput, query?: ReviewQuery): Promise<Page<Conflict>>
  /**
   * Lets one memory of a conflict supersede the other, with its own text or with `content`.
   *
   * @example
   * await engine.learning.review.resolveConflict(
   *   { owner: 'ada' },
   *   { keep: 'mem_01jf8t3z9k', drop: 'mem_01jf8t40aa' },
   * )
   */
  resolveConflict(
    scope: ScopeInput,
    ids: { readonly keep: string; readonly drop: string },
    content?: string,
  ): Promise<ResolvedConflict>
  /**
   * Merges several memories of one user into the first, with a new text. The others are superseded.
   *
   * @example
   * await engine.learning.review.merge(
   *   { owner: 'ada' },
   *   ['mem_01jf8t3z9k', 'mem_01jf8t40aa'],
   *   'I live in Lisbon, near the river.',
   * )
   */
  merge(
    scope: ScopeInput,
    ids: readonly string[],
    content: string,
  ): Promise<{ readonly kept: Memory; readonly dropped: readonly Memory[] }>
  /**
   * Marks a memory as compatible with the one it conflicts with: both stay active.
   *
   * @example
   * await engine.learning.review.keepBoth({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  keepBoth(scope: ScopeInput, id: string): Promise<Memory>
}

export interface Identities {
  /**
   * One profile per user who has identity statements.
   *
   * @example
   * const profiles = await engine.learning.identity.list({ owner: 'ada' })
   */
  list(scope: ScopeInput): Promise<readonly IdentityProfile[]>
  /**
   * Fails with `not_found` for memories that are no identity statements.
   *
   * @example
   * const statement = await engine.learning.identity.get({ owner: 'ada' }, 'mem_01jf8t3z9k')
   */
  get(scope: ScopeInput, id: string): Promise<Memory>
  /**
   * @example
   * await engine.learning.identity.add({ owner: 'ada' }, { content: 'Ada is a pilot.' })
   */
  add(
    scope: ScopeInput,
    statement: Omit<IdentityInput, 'source'> & { readonly source?: string },
  ): Promise<AddIdentityResult>
}

export interface Summaries {
  /**
   * Replaces old memories by a summary that supersedes them, worded by a model where there is one.
   *
   * @example
   * const { superseded } = await engine.memories.summarize({ owner: 'ada' }, { olderThanDays: 90 })
   */
  summarize(scope: ScopeInput, options?: SummarizeOptions): Promise<SummarizeResult>
  /**
   * The same by size: the newest memories of each user that fit into `maxTokens` (4,000) stay as they are.
   *
   * @example
   * const { tokensSaved } = await engine.memories.summarizeToFit({ owner: 'ada' }, { maxTokens: 8_000 })
   */
  summarizeToFit(
    scope: ScopeInput,
    options?: Omit<SummarizeOptions, 'olderThanDays'>,
  ): Promise<SummarizeResult>
}

export type LearningDependencies = {
  readonly ports: MemoryDependencies
  /** Null without a language model. */
  readonly models: GuardedModels | null
  readonly jobs: Jobs
  readonly settings: StoredSettings
  readonly serialize: Serialize
  readonly remember: (scope: ScopeInput, draft: DraftInput) => Promise<RememberResult>
  /** Purges caches that may hold erased text. */
  readonly purgeCaches: () => Promise<void>
}

/** The feature with what only the engine uses. */
export interface LearningService {
  readonly api: Learning
  readonly summaries: Summaries
  /** Stored settings; a change that makes a model available wakes the jobs that wait for one. */
  readonly settings: StoredSettings
  readonly buildSignalChanges: BuildSignalChanges
  /** Extracts facts by patterns, without a model. `yieldTurn`: lets requests go first. */
  learn(
    scope: ScopeInput,
    text: string,
    options?: PatternLearningOptions,
    yieldTurn?: YieldTurn,
  ): Promise<LearnResult>
  /** The model of owners without settings of their own; null when there is none. */
  getExtractionModel(): Promise<string | null>
  /** Schedules the job that finds sessions and owners without one. */
  scheduleMaintenance(): Promise<void>
}

const FORECASTS_DEFAULT = 50

export function createLearning(dependencies: LearningDependencies): LearningService {
  const { ports, jobs, settings, serialize } = dependencies
  const runConsolidation = createConsolidation(dependencies)
  const jobDependencies: LearningJobDependencies = {
    ...{ ports, settings, jobs },
    modelIn: (resolved) => selectExtractionModel(dependencies, resolved),
    distil: (place, context) => distill(dependencies, place, context.signal, () => context.fence()),
    consolidate: runConsolidation,
  }
  jobs.register(createJobHandlers(jobDependencies))
  return {
    api: {
      signals: createSignals(dependencies),
      review: createReview(ports),
      identity: createIdentities(dependencies),
      distill: async (scope, options = {}) => {
        const place = await resolveSessionPlace(ports, scope)
        return distillExclusive({ ports, jobs }, place, options, (signal, fence) =>
          distill(dependencies, place, signal, fence),
        )
      },
      ingest: async (input, options = {}) => ingest(dependencies, input, options),
      forecastEvictions: async (input, { limit = FORECASTS_DEFAULT } = {}) => {
        const scope = parseScope(input)
        return forecastEvictions(ports, scope, await settings.resolve(scope.owner), limit)
      },
      consolidate: async (input, options = {}) => {
        const scope = parseScope(input)
        if (options.dryRun === true) return runConsolidation(scope, options)
        const task = buildForegroundConsolidation(scope)
        return runExclusive({ ports, jobs }, task, options, ({ signal }) =>
          runConsolidation(scope, { ...options, signal }),
        )
      },
      listConsolidations: async (scope) => listReports(ports, parseScope(scope)),
      status: async (scope) => getStatus(dependencies, parseScope(scope).owner),
    },
    summaries: createSummaries(dependencies),
    settings: {
      ...settings,
      change: (...change) => changeSettings(jobDependencies, change),
    },
    buildSignalChanges: createSignalWriter(ports, jobs),
    learn: async (input, text, options, yieldTurn) =>
      serialize(input, async () => {
        const scope = parseScope(input)
        const store = yieldTurn === undefined ? ports.store : yieldingStore(ports.store, yieldTurn)
        const resolved = await settings.resolve(scope.owner)
        return learnPatterns({ ...ports, store, settings: resolved }, scope, text, options)
      }),
    getExtractionModel: async () =>
      selectExtractionModel(dependencies, await settings.resolve(null)),
    scheduleMaintenance: () => jobs.schedule(buildMaintenanceJob(ports.clock.now())),
  }
}

function createSignals(dependencies: LearningDependencies): Signals {
  const { ports, jobs } = dependencies
  return {
    list: async (scope, query) => listSignals(ports, parseScope(scope), query),
    get: async (scope, id) => getSignal(ports, parseScope(scope), id),
    forget: async (scope, options) => forgetSignals(ports, parseScope(scope), options),
    retry: async (scope, options) => {
      const revived = await retrySignals(ports, parseScope(scope), options)
      for (const place of listSessionPlaces(revived)) {
        await jobs.schedule(buildDistillationJobAt(place, ports.clock.now()))
      }
      return revived
    },
    report: async (input) => {
      const scope = parseScope(input)
      const signals = { pending: 0, processed: 0, dead: 0, forgotten: 0 }
      for (const { status } of await loadSignals(ports, scope)) signals[status]++
      return { ...(await getStatus(dependencies, scope.owner)), signals }
    },
  }
}

function createReview(ports: MemoryDependencies): Review {
  return {
    list: async (scope, query) => listSuspectMemories(ports, parseScope(scope), query),
    approve: async (scope, id) => approveMemory(ports, parseScope(scope), parseId('mem', id)),
    reject: async (scope, id) => rejectMemory(ports, parseScope(scope), parseId('mem', id)),
    listConflicts: async (scope, query) => listConflicts(ports, parseScope(scope), query),
    resolveConflict: async (scope, { keep, drop }, content) => {
      const ids = { keep: parseId('mem', keep), drop: parseId('mem', drop) }
      return resolveMemoryConflict(ports, parseScope(scope), ids, content)
    },
    merge: async (scope, ids, content) =>
      mergeMemories(
        ports,
        parseScope(scope),
        ids.map((id) => parseId('mem', id)),
        content,
      ),
    keepBoth: async (scope, id) => keepBoth(ports, parseScope(scope), parseId('mem', id)),
  }
}

function createIdentities({ ports, remember }: LearningDependencies): Identities {
  return {
    list: async (scope) => listIdentities(ports, parseScope(scope)),
    get: async (scope, id) => getIdentity(ports, parseScope(scope), parseId('mem', id)),
    add: async (scope, { source = 'library', ...statement }) =>
      addIdentity(ports, remember, parseScope(scope), { source, ...statement }),
  }
}

function createSummaries({ ports, settings, models }: LearningDependencies): Summaries {
  const withModel = async ({ owner }: Scope, options: SummarizeOptions) => {
    const { 'learning.extractionModel': name } = await settings.resolve(owner)
    const model = selectModel(name, models?.for(owner, 'waited-for') ?? null)
    return model === null ? options : { writeSummary: createModelTasks(model).summary, ...options }
  }
  return {
    summarize: async (input, options = {}) => {
      const scope = parseScope(input)
      return summarize(ports, scope, await withModel(scope, options))
    },
    summarizeToFit: async (input, options = {}) => {
      const scope = parseScope(input)
      return summarizeMemories(ports, scope, await withModel(scope, options))
    },
  }
}

type ConsolidateScope = (scope: Scope, options: ConsolidateOptions) => Promise<ConsolidationReport>

/** One consolidation of an owner at a time in this process. */
function createConsolidation(dependencies: LearningDependencies): ConsolidateScope {
  const mutex = new KeyedMutex()
  return (scope, options) =>
    mutex.run(scope.owner, async () => {
      const { ports, model } = await resolveDistiller(
        dependencies,
        scope.owner,
        'learning.extractionModel',
      )
      const word = model === null ? undefined : createModelTasks(model).narrative
      const report = await consolidate(ports, scope, { word, ...options })
      if (report.trashPurged > 0) await dependencies.purgeCaches()
      return report
    })
}

async function distill(
  dependencies: LearningDependencies,
  place: SessionPlace,
  signal: AbortSignal,
  fence?: () => Promise<Change>,
): Promise<Distillation> {
  const isEachTurn = isTurnExtraction(await dependencies.settings.resolve(place.owner))
  const distiller = await resolveDistiller(
    dependencies,
    place.owner,
    isEachTurn ? 'gateway.gateModel' : 'learning.extractionModel',
  )
  const fenced = fence === undefined ? distiller : { ...distiller, fence }
  return distillSession(fenced, place, signal, isEachTurn ? 'turns' : 'session')
}

async function ingest(
  dependencies: LearningDependencies,
  input: IngestInput,
  options: WaitOptions,
): Promise<IngestResult> {
  const { ports, jobs, settings } = dependencies
  const { owner } = parseScope({ owner: input.owner })
  const distiller = await resolveDistiller(dependencies, owner, 'learning.extractionModel')
  if (input.skipExtraction === true) return ingestConversation(distiller, input)
  return ingestConversation(
    {
      ...distiller,
      // The job is due after the distillation below, and only runs if this process dies before its end.
      buildJobChanges: async (place) => {
        const resolved = await settings.resolve(place.owner)
        const atSessionEnd = { ...resolved, 'learning.extractionMode': 'sessionEnd' } as const
        return jobs.buildScheduleChanges(
          buildDistillationJob(place, atSessionEnd, ports.clock.now()),
        )
      },
      distil: (place) =>
        distillExclusive({ ports, jobs }, place, options, (signal, fence) =>
          distillSession(fence === undefined ? distiller : { ...distiller, fence }, place, signal),
        ),
    },
    input,
  )
}

async function resolveDistiller(
  { ports, models, settings, serialize }: LearningDependencies,
  owner: OwnerId,
  setting: 'learning.extractionModel' | 'gateway.gateModel',
): Promise<DistillerDependencies> {
  const resolved = await settings.resolve(owner)
  const name = resolved[setting] || resolved['learning.extractionModel']
  const model = selectModel(name, models?.for(owner) ?? null)
  return {
    ports: addAdjudicator({ ...ports, settings: resolved }, model && createModelTasks(model)),
    model,
    serialize,
  }
}

async function getStatus(
  dependencies: LearningDependencies,
  owner: OwnerId,
): Promise<LearningStatus> {
  const { models, settings } = dependencies
  const model = selectExtractionModel(dependencies, await settings.resolve(owner))
  return {
    model,
    pausedUntil: model === null ? null : (models?.openUntil(model) ?? null),
    usageToday: (await models?.spent(owner)) ?? null,
  }
}

/** Settings that decide whether a model can be called. */
const MODEL_SETTINGS = [
  'learning.extractionModel',
  'gateway.gateModel',
  'learning.modelTokensPerDay',
  'learning.extractionMode',
] as const

async function changeSettings(
  dependencies: LearningJobDependencies,
  change: Parameters<StoredSettings['change']>,
): Promise<Settings> {
  const { settings, ports, jobs } = dependencies
  const [owner] = change
  const before = await settings.resolve(owner)
  const changed = await settings.change(...change)
  if (MODEL_SETTINGS.every((name) => changed[name] === before[name])) return changed
  if (owner === null) await jobs.schedule(buildMaintenanceJob(ports.clock.now()))
  else await retryModelJobs(dependencies, owner)
  return changed
}

function isTurnExtraction({ 'learning.extractionMode': extractionMode }: Settings): boolean {
  return extractionMode === 'everyTurn'
}

/** Null without a language model, or where the settings name none. */
function selectExtractionModel(
  { models }: LearningDependencies,
  settings: Settings,
): string | null {
  if (models === null) return null
  const { 'learning.extractionModel': extractionModel, 'gateway.gateModel': gateModel } = settings
  const name = isTurnExtraction(settings) ? gateModel || extractionModel : extractionModel
  return name || null
}

/** A scope without a user means the user who has a session of this name. */
async function resolveSessionPlace(
  ports: MemoryDependencies,
  scope: ScopeInput,
): Promise<SessionPlace> {
  const { owner, user, session } = parseScope(scope)
  if (session === undefined || session === null) {
    throw new AppError('invalid_input', '`session` is required.', { field: 'sessionId' })
  }
  if (user !== undefined) return { owner, user, session }
  const known = await findSessionByName(ports, { owner, session })
  return known ?? { owner, user: null, session }
}
