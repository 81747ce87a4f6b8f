/**
 * The life of a memory: what is said becomes memories, and memories are looked after, in the background and when asked to.
 * The parts are elsewhere; here they are put together.
 */

import type { StoredSettings } from '../admin/stored-settings.ts'
import { type ConversationAdmin, createConversationAdmin } from '../conversations/admin.ts'
import {
  type CaptureResult,
  captureMessages,
  type HookMessage,
  type PromptContext,
  type PromptHookDependencies,
  recallForPrompt,
} from '../conversations/prompt-hooks.ts'
import { type OwnerId, parseId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { parseScope, type Scope, type ScopeInput, type SessionPlace } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Signal, SignalStatus } from '../domain/signal.ts'
import { createJobs, type EndedJob, type Job, type JobQuery, type Jobs } from '../jobs/jobs.ts'
import { runExclusive, type WaitOptions } from '../jobs/run-exclusive.ts'
import { AppError, type ErrorCode } from '../lib/errors.ts'
import { KeyedMutex } from '../lib/mutex.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { Serialize } from '../memory/write-serialization.ts'
import { guardModel, type ModelCallReport, type Spent } from '../models/guarded-models.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { findSessionByName } from '../storage/access/session-lookup.ts'
import type { Change, Page } from '../storage/store.ts'
import { addAdjudicator, createModelTasks, selectModel } from './completions/model-tasks.ts'
import {
  type ConsolidateOptions,
  type ConsolidationReport,
  consolidate,
  listReports,
} from './consolidation/consolidator.ts'
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
  buildForegroundConsolidation,
  buildMaintenanceJob,
  createJobHandlers,
  type LearningJobDependencies,
  listSessionPlaces,
  retryModelJobs,
} from './learning-jobs.ts'
import {
  type Conflict,
  keepBoth,
  listConflicts,
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

export type { EndedJob } from '../jobs/jobs.ts'

export type { ModelCallReport as AskedModel } from '../models/guarded-models.ts'

/** Hears what happens in the background. Must not fail. */
export type BackgroundListeners = {
  readonly onJobEnded?: (ended: EndedJob) => void
  readonly onModelCall?: (asked: ModelCallReport) => void
}

export type LearningStatus = {
  /** The model that distils; null when none is configured, and what was said waits. */
  readonly model: string | null
  /** Why the model is not asked at the moment: until when it rests. */
  readonly pausedUntil: number | null
  /** What models used today; null where there are none. */
  readonly usageToday: Spent | null
}

export type LearningReport = LearningStatus & {
  readonly signals: Readonly<Record<SignalStatus, number>>
}

/** Default: all of the scope. */
export type SignalSelection = { readonly ids?: readonly string[] }

export interface LearningApi extends ConversationAdmin {
  /**
   * Looks after an owner's memories now; with `dryRun`, only tells what it would do. Waits while others do something of
   * the kind, and fails with `busy` when that takes too long.
   */
  consolidate(
    scope: ScopeInput,
    options?: ConsolidateOptions & WaitOptions,
  ): Promise<ConsolidationReport>
  /** Reports of it, newest first, with what can still be undone. */
  consolidations(scope: ScopeInput): Promise<readonly StoredConsolidationReport[]>
  /**
   * Distils a session now, without waiting until it is quiet. Never fails for the model's sake: the outcome tells. Where
   * others work for the owner for too long it is `skipped:busy`, and a job does it after them.
   */
  distill(scope: ScopeInput, options?: WaitOptions): Promise<Distillation>
  /** Keeps a whole conversation and distils it. */
  ingest(input: IngestInput, options?: WaitOptions): Promise<IngestResult>
  /** What models should know before they read this prompt; `skipped` says so where the setting `autoRecall` is off. */
  recallForPrompt(scope: ScopeInput, prompt: string): Promise<PromptContext>
  /** Keeps what of these messages is meant to be kept; `skipped` says so where the setting `autoCapture` is off. */
  captureMessages(scope: ScopeInput, messages: readonly HookMessage[]): Promise<CaptureResult>
  /** With what is learned from an owner's conversations, and what that cost today. */
  learning(scope: ScopeInput): Promise<LearningStatus>
  /** What was said and is to be learned from. */
  readonly signals: {
    list(scope: ScopeInput, query?: SignalQuery): Promise<Page<Signal>>
    get(scope: ScopeInput, id: string): Promise<Signal>
    /** Those that failed too often wait again, and are tried at once; so do those that are named and were forgotten. */
    retry(scope: ScopeInput, options?: SignalSelection): Promise<readonly Signal[]>
    /** Nothing is learned from them any more, also when the same is sent again. What was said stays. */
    forget(scope: ScopeInput, options?: SignalSelection): Promise<readonly Signal[]>
    /** The same, and how much waits, was learned from, and failed too often. */
    report(scope: ScopeInput): Promise<LearningReport>
  }
  /** Memories that wait for a person, because they look like instructions. */
  readonly review: {
    list(scope: ScopeInput, query?: ReviewQuery): Promise<Page<Memory>>
    approve(scope: ScopeInput, id: string): Promise<Memory>
    reject(scope: ScopeInput, id: string): Promise<Memory>
    /** Memories in use that say otherwise than others in use. */
    conflicts(scope: ScopeInput, query?: ReviewQuery): Promise<Page<Conflict>>
    /** One takes the place of the other, in its own words or in those given. */
    settle(
      scope: ScopeInput,
      ids: { readonly keep: string; readonly drop: string },
      content?: string,
    ): Promise<ResolvedConflict>
    /** A memory and the one that it is in conflict with both hold. */
    reconcile(scope: ScopeInput, id: string): Promise<Memory>
  }
  /** Background work. Only a process that calls `start` or `runDue` does any. */
  readonly jobs: {
    list(query?: Omit<JobQuery, 'owner'> & { readonly owner?: string | null }): Promise<Page<Job>>
    get(id: string): Promise<Job | null>
    retry(id: string): Promise<Job>
    cancel(id: string): Promise<Job>
    runDue(): Promise<number>
    /** From now on jobs are done in the background, and what was left by others is picked up. */
    start(hearing?: BackgroundListeners): Promise<void>
    /** Begins no more, and gives what runs this time to come to its end; then it is done another time. */
    stop(graceMs?: number): Promise<void>
  }
}

export type BackgroundStatus = {
  /** The model that distils for whoever has set no other; null when there is none. */
  readonly extractionModel: string | null
  /** Ids of the jobs that this process does at the moment. */
  readonly running: readonly string[]
  /** Why due jobs could not be looked for the last time. */
  readonly lastError: ErrorCode | null
}

export type LearningDependencies = PromptHookDependencies & {
  readonly ports: MemoryDependencies & { readonly languageModel?: LanguageModel }
  readonly settings: StoredSettings
  readonly serialize: Serialize
  /** Whatever else may hold something of what was erased lets it go. */
  readonly purgeCaches: () => Promise<void>
}

/** With what the engine needs of it besides. */
export type LearningService = {
  readonly life: LearningApi
  /** What decides at once, while somebody waits for it; null where there is no model. */
  modelFor(owner: OwnerId): LanguageModel | null
  /** Like the settings, but what they keep waiting is woken by a change of them. */
  readonly settings: StoredSettings
  readonly buildSignalChanges: BuildSignalChanges
  /** Is to hear every commit. */
  changed(changes: readonly Change[]): void
  forget(owner: OwnerId): Promise<void>
  status(): Promise<BackgroundStatus>
  close(): Promise<void>
}

export function createLearning(parts: LearningDependencies): LearningService {
  const { ports, settings, serialize: inTurn, purgeCaches: letGo } = parts
  let hearing: BackgroundListeners = {}
  const models =
    ports.languageModel === undefined
      ? null
      : guardModel(ports.languageModel, ports, {
          budgetOf: async (owner) => (await settings.resolve(owner))['learning.modelTokensPerDay'],
          onAsked: (asked) => hearing.onModelCall?.(asked),
        })
  const modelIn = (inForce: Settings) => (models === null ? null : selectModelName(inForce) || null)
  const consolidations = new KeyedMutex()

  const partsFor = async (
    owner: OwnerId,
    name: 'learning.extractionModel' | 'gateway.gateModel',
  ): Promise<DistillerDependencies> => {
    const inForce = await settings.resolve(owner)
    const model = selectModel(
      inForce[name] || inForce['learning.extractionModel'],
      models?.for(owner) ?? null,
    )
    return {
      ports: addAdjudicator({ ...ports, settings: inForce }, model && createModelTasks(model)),
      model,
      serialize: (scope, work) => inTurn(scope, work),
    }
  }
  const distilNow = async (
    place: SessionPlace,
    signal: AbortSignal,
    fence?: () => Promise<Change>,
  ) => {
    const isEach = isTurnExtraction(await settings.resolve(place.owner))
    const given = await partsFor(
      place.owner,
      isEach ? 'gateway.gateModel' : 'learning.extractionModel',
    )
    const fenced = fence === undefined ? given : { ...given, fence }
    return distillSession(fenced, place, signal, isEach ? 'turns' : 'session')
  }
  const consolidateIn = (scope: Scope, options: ConsolidateOptions) =>
    consolidations.run(scope.owner, async () => {
      const { ports: judged, model } = await partsFor(scope.owner, 'learning.extractionModel')
      const word = model === null ? undefined : createModelTasks(model).narrative
      const report = await consolidate(judged, scope, { word, ...options })
      if (report.trashPurged > 0) await letGo()
      return report
    })

  const work: LearningJobDependencies = {
    ports,
    settings,
    modelIn,
    jobs: () => jobs,
    distil: (place, context) => distilNow(place, context.signal, () => context.fence()),
    consolidate: consolidateIn,
  }
  const jobs: Jobs = createJobs(ports, {
    kinds: createJobHandlers(work),
    onEnded: (ended) => hearing.onJobEnded?.(ended),
  })
  const asked = { ports, jobs }
  /** Due after what is done at once: it is for the case that this process dies before that. */
  const arming = async (place: SessionPlace) => {
    const inForce = await settings.resolve(place.owner)
    return jobs.buildScheduleChanges(
      buildDistillationJob(
        place,
        { ...inForce, 'learning.extractionMode': 'sessionEnd' },
        ports.clock.now(),
      ),
    )
  }

  const learningOf = async (owner: OwnerId): Promise<LearningStatus> => {
    const model = modelIn(await settings.resolve(owner))
    return {
      model,
      pausedUntil: model === null ? null : (models?.openUntil(model) ?? null),
      usageToday: (await models?.spent(owner)) ?? null,
    }
  }

  const life: LearningApi = {
    ...createConversationAdmin({
      ...asked,
      remember: parts.remember,
      letGo,
      settingsOf: (owner) => settings.resolve(owner),
    }),
    consolidate: async (scope, options = {}) => {
      const parsed = parseScope(scope)
      if (options.dryRun === true) return consolidateIn(parsed, options)
      return runExclusive(asked, buildForegroundConsolidation(parsed), options, ({ signal }) =>
        consolidateIn(parsed, { ...options, signal }),
      )
    },
    consolidations: async (scope) => listReports(ports, parseScope(scope)),
    distill: async (scope, options = {}) => {
      const place = await resolveSessionPlace(ports, scope)
      return distillExclusive(asked, place, options, (...given) => distilNow(place, ...given))
    },
    ingest: async (input, options = {}) => {
      const given = await partsFor(
        parseScope({ owner: input.owner }).owner,
        'learning.extractionModel',
      )
      const inLane = (place: SessionPlace) =>
        distillExclusive(asked, place, options, (signal, fence) =>
          distillSession(fence === undefined ? given : { ...given, fence }, place, signal),
        )
      const whole = { ...given, buildJobChanges: arming, distil: inLane }
      return ingestConversation(input.skipExtraction === true ? given : whole, input)
    },
    recallForPrompt: async (scope, prompt) => {
      const inForce = await settings.resolve(parseScope(scope).owner)
      return inForce['hooks.recallEnabled']
        ? recallForPrompt(parts, scope, prompt, inForce)
        : { block: '', memories: [], skipped: 'off' }
    },
    captureMessages: async (scope, messages) => {
      const { 'hooks.captureEnabled': autoCapture, 'hooks.captureCharactersMax': captureMaxChars } =
        await settings.resolve(parseScope(scope).owner)
      if (!autoCapture) return { captured: [], ignored: 0, skipped: 'off' }
      return captureMessages(parts, scope, messages, { captureMaxChars })
    },
    learning: async (scope) => learningOf(parseScope(scope).owner),
    signals: {
      list: async (scope, query) => listSignals(ports, parseScope(scope), query),
      get: async (scope, id) => getSignal(ports, parseScope(scope), id),
      forget: async (scope, options) => forgetSignals(ports, parseScope(scope), options),
      retry: async (scope, options) => {
        const revived = await retrySignals(ports, parseScope(scope), options)
        for (const place of listSessionPlaces(revived))
          await jobs.schedule(buildDistillationJobAt(place, ports.clock.now()))
        return revived
      },
      report: async (scope) => {
        const parsed = parseScope(scope)
        const signals = { pending: 0, processed: 0, dead: 0, forgotten: 0 }
        for (const { status } of await loadSignals(ports, parsed)) signals[status]++
        return { ...(await learningOf(parsed.owner)), signals }
      },
    },
    review: {
      list: async (scope, query) => listSuspectMemories(ports, parseScope(scope), query),
      approve: async (scope, id) => approveMemory(ports, parseScope(scope), parseId('mem', id)),
      reject: async (scope, id) => rejectMemory(ports, parseScope(scope), parseId('mem', id)),
      conflicts: async (scope, query) => listConflicts(ports, parseScope(scope), query),
      settle: async (scope, { keep, drop }, content) => {
        const ids = { keep: parseId('mem', keep), drop: parseId('mem', drop) }
        return resolveMemoryConflict(ports, parseScope(scope), ids, content)
      },
      reconcile: async (scope, id) => keepBoth(ports, parseScope(scope), parseId('mem', id)),
    },
    jobs: {
      list: async ({ owner, ...query } = {}) =>
        jobs.list({ ...query, ...(owner === undefined ? {} : { owner: parseOwner(owner) }) }),
      get: (id) => jobs.get(id),
      retry: (id) => jobs.retry(id),
      cancel: (id) => jobs.cancel(id),
      runDue: () => jobs.runDue(),
      start: async (heard = {}) => {
        hearing = heard
        jobs.start()
        await jobs.schedule(buildMaintenanceJob(ports.clock.now()))
      },
      stop: (graceMs) => jobs.stop(graceMs),
    },
  }
  return {
    life,
    modelFor: (owner) => models?.for(owner, 'waited-for') ?? null,
    settings: { ...settings, change: (...change) => changeSettings(work, change) },
    buildSignalChanges: createSignalWriter(ports, () => jobs),
    changed: (changes) => jobs.onCommit(changes),
    forget: (owner) => jobs.cancelOwnerJobs(owner),
    status: async () => {
      const inForce = await settings.resolve(null)
      return { extractionModel: modelIn(inForce), ...jobs.report() }
    },
    close: () => jobs.close(),
  }
}

/** By these it is decided whether a model can be asked. */
const WAKING = [
  'learning.extractionModel',
  'gateway.gateModel',
  'learning.modelTokensPerDay',
  'learning.extractionMode',
] as const

async function changeSettings(
  work: LearningJobDependencies,
  change: Parameters<StoredSettings['change']>,
): Promise<Settings> {
  const { settings, ports, jobs } = work
  const [owner] = change
  const before = await settings.resolve(owner)
  const changed = await settings.change(...change)
  if (WAKING.every((name) => changed[name] === before[name])) return changed
  if (owner === null) await jobs().schedule(buildMaintenanceJob(ports.clock.now()))
  else await retryModelJobs(work, owner)
  return changed
}

function parseOwner(owner: string | null): OwnerId | null {
  return owner === null ? null : parseScope({ owner }).owner
}

function isTurnExtraction({ 'learning.extractionMode': extractionMode }: Settings): boolean {
  return extractionMode === 'everyTurn'
}

/** Empty where none is named. */
function selectModelName(inForce: Settings): string {
  const { 'learning.extractionModel': coreModel, 'gateway.gateModel': fastModel } = inForce
  return isTurnExtraction(inForce) ? fastModel || coreModel : coreModel
}

/** Where no user is named, the one who has a session of this name is meant. */
async function resolveSessionPlace(
  ports: MemoryDependencies,
  scope: ScopeInput,
): Promise<SessionPlace> {
  const { owner, user, session } = parseScope(scope)
  if (session === undefined || session === null) {
    throw new AppError('invalid_input', 'Which session? Name it.', { field: 'sessionId' })
  }
  if (user !== undefined) return { owner, user, session }
  const known = await findSessionByName(ports, { owner, session })
  return known ?? { owner, user: null, session }
}
