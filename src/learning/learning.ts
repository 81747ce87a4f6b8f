/**
 * The life of a memory: what is said becomes memories, and memories are looked after, in the background and when asked to.
 * The parts are elsewhere; here they are put together.
 */

import type { StoredSettings } from '../admin/stored-settings.ts'
import { createKeeping, type Keeping } from '../conversations/admin.ts'
import {
  type Captured,
  captureFrom,
  type HookParts,
  type RecalledFor,
  recallFor,
  type SaidMessage,
} from '../conversations/prompt-hooks.ts'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import { type OwnerId, parseId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { parseScope, type Scope, type ScopeInput, type SessionPlace } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { Signal, SignalStatus } from '../domain/signal.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import { createJobs, type EndedJob, type Job, type JobQuery, type Jobs } from '../jobs/jobs.ts'
import { type AskedOptions, alone } from '../jobs/run-exclusive.ts'
import { createQueue, type InTurn } from '../lib/keyed-mutex.ts'
import { type AskedModel, guarded, type Spent } from '../models/guarded-models.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { findSession } from '../storage/access/session-lookup.ts'
import type { Change, Page } from '../storage/store.ts'
import { judgedBy, namedModel, wordingBy } from './completions/model-tasks.ts'
import {
  type ConsolidateOptions,
  type ConsolidationReport,
  consolidate,
  listReports,
} from './consolidation/consolidator.ts'
import type { KeptReport } from './consolidation/report.ts'
import { type Ingested, type IngestInput, ingest } from './distillation/conversation-ingest.ts'
import { distillation, dueAt } from './distillation/distillation-job.ts'
import { type DistilParts, distil } from './distillation/distiller.ts'
import { distilAlone } from './distillation/exclusive-distillation.ts'
import type { Distillation } from './distillation/outcome.ts'
import {
  askedConsolidation,
  kindsOf,
  sessionsOf,
  upkeep,
  type WorkParts,
  wakeWaiting,
} from './learning-jobs.ts'
import {
  type Conflict,
  listConflicts,
  reconcile,
  type Settled,
  settle,
} from './review/conflict-review.ts'
import { approve, listSuspects, type ReviewQuery, reject } from './review/suspect-review.ts'
import { createNoting, type NoteSaid } from './signal-writer.ts'
import {
  allSignals,
  forgetSignals,
  getSignal,
  listSignals,
  retrySignals,
  type SignalQuery,
} from './signals.ts'

export type { EndedJob } from '../jobs/jobs.ts'

export type { AskedModel } from '../models/guarded-models.ts'

/** Hears what happens in the background. Must not fail. */
export type Hearing = {
  readonly onEnded?: (ended: EndedJob) => void
  readonly onAsked?: (asked: AskedModel) => void
}

export type Learning = {
  /** The model that distils; null when none is configured, and what was said waits. */
  readonly model: string | null
  /** Why the model is not asked at the moment: until when it rests. */
  readonly restsUntil: number | null
  /** What models used today; null where there are none. */
  readonly spent: Spent | null
}

export type LearningReport = Learning & {
  readonly signals: Readonly<Record<SignalStatus, number>>
}

/** Default: all of the scope. */
export type SignalChoice = { readonly ids?: readonly string[] }

export interface Life extends Keeping {
  /**
   * Looks after an owner's memories now; with `dryRun`, only tells what it would do. Waits while others do something of
   * the kind, and fails with `busy` when that takes too long.
   */
  consolidate(
    scope: ScopeInput,
    options?: ConsolidateOptions & AskedOptions,
  ): Promise<ConsolidationReport>
  /** Reports of it, newest first, with what can still be undone. */
  consolidations(scope: ScopeInput): Promise<readonly KeptReport[]>
  /**
   * Distils a session now, without waiting until it is quiet. Never fails for the model's sake: the outcome tells. Where
   * others work for the owner for too long it is `skipped:busy`, and a job does it after them.
   */
  distil(scope: ScopeInput, options?: AskedOptions): Promise<Distillation>
  /** Keeps a whole conversation and distils it. */
  ingest(input: IngestInput, options?: AskedOptions): Promise<Ingested>
  /** What models should know before they read this prompt; `skipped` says so where the setting `autoRecall` is off. */
  recallFor(scope: ScopeInput, prompt: string): Promise<RecalledFor>
  /** Keeps what of these messages is meant to be kept; `skipped` says so where the setting `autoCapture` is off. */
  captureFrom(scope: ScopeInput, messages: readonly SaidMessage[]): Promise<Captured>
  /** With what is learned from an owner's conversations, and what that cost today. */
  learning(scope: ScopeInput): Promise<Learning>
  /** What was said and is to be learned from. */
  readonly signals: {
    list(scope: ScopeInput, query?: SignalQuery): Promise<Page<Signal>>
    get(scope: ScopeInput, id: string): Promise<Signal>
    /** Those that failed too often wait again, and are tried at once; so do those that are named and were forgotten. */
    retry(scope: ScopeInput, options?: SignalChoice): Promise<readonly Signal[]>
    /** Nothing is learned from them any more, also when the same is sent again. What was said stays. */
    forget(scope: ScopeInput, options?: SignalChoice): Promise<readonly Signal[]>
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
    ): Promise<Settled>
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
    start(hearing?: Hearing): Promise<void>
    /** Begins no more, and gives what runs this time to come to its end; then it is done another time. */
    stop(graceMs?: number): Promise<void>
  }
}

export type LifeStatus = {
  /** The model that distils for whoever has set no other; null when there is none. */
  readonly coreModel: string | null
  /** Ids of the jobs that this process does at the moment. */
  readonly running: readonly string[]
  /** Why due jobs could not be looked for the last time. */
  readonly fault: ErrorCode | null
}

export type LifeParts = HookParts & {
  readonly ports: EnginePorts
  readonly settings: StoredSettings
  readonly inTurn: InTurn
  /** Whatever else may hold something of what was erased lets it go. */
  readonly letGo: () => Promise<void>
}

/** With what the engine needs of it besides. */
export type LifeKeeper = {
  readonly life: Life
  /** What decides at once, while somebody waits for it; null where there is no model. */
  modelFor(owner: OwnerId): LanguageModel | null
  /** Like the settings, but what they keep waiting is woken by a change of them. */
  readonly settings: StoredSettings
  readonly noteSaid: NoteSaid
  /** Is to hear every commit. */
  changed(changes: readonly Change[]): void
  forget(owner: OwnerId): Promise<void>
  status(): Promise<LifeStatus>
  close(): Promise<void>
}

export function createLife(parts: LifeParts): LifeKeeper {
  const { ports, settings, inTurn, letGo } = parts
  let hearing: Hearing = {}
  const models =
    ports.languageModel === undefined
      ? null
      : guarded(ports.languageModel, ports, {
          budgetOf: async (owner) => (await settings.effective(owner)).modelTokensPerDay,
          onAsked: (asked) => hearing.onAsked?.(asked),
        })
  const modelIn = (inForce: Settings) => (models === null ? null : modelNamed(inForce) || null)
  const oneAtATime = createQueue()

  const partsFor = async (
    owner: OwnerId,
    name: 'coreModel' | 'fastModel',
  ): Promise<DistilParts> => {
    const inForce = await settings.effective(owner)
    const model = namedModel(inForce[name] || inForce.coreModel, models?.for(owner) ?? null)
    return {
      ports: judgedBy({ ...ports, settings: inForce }, model && wordingBy(model)),
      model,
      inTurn: (scope, work) => inTurn(scope, work),
    }
  }
  const distilNow = async (
    place: SessionPlace,
    signal: AbortSignal,
    fence?: () => Promise<Change>,
  ) => {
    const isEach = isEveryTurnRead(await settings.effective(place.owner))
    const given = await partsFor(place.owner, isEach ? 'fastModel' : 'coreModel')
    const fenced = fence === undefined ? given : { ...given, fence }
    return distil(fenced, place, signal, isEach ? 'turns' : 'session')
  }
  const consolidateIn = (scope: Scope, options: ConsolidateOptions) =>
    oneAtATime({ owner: scope.owner }, async () => {
      const { ports: judged, model } = await partsFor(scope.owner, 'coreModel')
      const word = model === null ? undefined : wordingBy(model).narrative
      const report = await consolidate(judged, scope, { word, ...options })
      if (report.emptied > 0) await letGo()
      return report
    })

  const work: WorkParts = {
    ports,
    settings,
    modelIn,
    jobs: () => jobs,
    distil: (place, context) => distilNow(place, context.signal, () => context.fence()),
    consolidate: consolidateIn,
  }
  const jobs: Jobs = createJobs(ports, {
    kinds: kindsOf(work),
    onEnded: (ended) => hearing.onEnded?.(ended),
  })
  const asked = { ports, jobs }
  /** Due after what is done at once: it is for the case that this process dies before that. */
  const arming = async (place: SessionPlace) => {
    const inForce = await settings.effective(place.owner)
    return jobs.arming(
      distillation(place, { ...inForce, extractionMode: 'sessionEnd' }, ports.clock.now()),
    )
  }

  const learningOf = async (owner: OwnerId): Promise<Learning> => {
    const model = modelIn(await settings.effective(owner))
    return {
      model,
      restsUntil: model === null ? null : (models?.openUntil(model) ?? null),
      spent: (await models?.spent(owner)) ?? null,
    }
  }

  const life: Life = {
    ...createKeeping({
      ...asked,
      remember: parts.remember,
      letGo,
      settingsOf: (owner) => settings.effective(owner),
    }),
    consolidate: async (scope, options = {}) => {
      const parsed = parseScope(scope)
      if (options.dryRun === true) return consolidateIn(parsed, options)
      return alone(asked, askedConsolidation(parsed), options, ({ signal }) =>
        consolidateIn(parsed, { ...options, signal }),
      )
    },
    consolidations: async (scope) => listReports(ports, parseScope(scope)),
    distil: async (scope, options = {}) => {
      const place = await sessionIn(ports, scope)
      return distilAlone(asked, place, options, (...given) => distilNow(place, ...given))
    },
    ingest: async (input, options = {}) => {
      const given = await partsFor(parseScope({ owner: input.owner }).owner, 'coreModel')
      const inLane = (place: SessionPlace) =>
        distilAlone(asked, place, options, (signal, fence) =>
          distil(fence === undefined ? given : { ...given, fence }, place, signal),
        )
      const whole = { ...given, arming, distil: inLane }
      return ingest(input.skipExtraction === true ? given : whole, input)
    },
    recallFor: async (scope, prompt) => {
      const inForce = await settings.effective(parseScope(scope).owner)
      return inForce.autoRecall
        ? recallFor(parts, scope, prompt, inForce)
        : { block: '', memories: [], skipped: 'off' }
    },
    captureFrom: async (scope, messages) => {
      const { autoCapture, captureMaxChars } = await settings.effective(parseScope(scope).owner)
      if (!autoCapture) return { captured: [], passed: 0, skipped: 'off' }
      return captureFrom(parts, scope, messages, { captureMaxChars })
    },
    learning: async (scope) => learningOf(parseScope(scope).owner),
    signals: {
      list: async (scope, query) => listSignals(ports, parseScope(scope), query),
      get: async (scope, id) => getSignal(ports, parseScope(scope), id),
      forget: async (scope, options) => forgetSignals(ports, parseScope(scope), options),
      retry: async (scope, options) => {
        const revived = await retrySignals(ports, parseScope(scope), options)
        for (const place of sessionsOf(revived))
          await jobs.schedule(dueAt(place, ports.clock.now()))
        return revived
      },
      report: async (scope) => {
        const parsed = parseScope(scope)
        const signals = { pending: 0, processed: 0, dead: 0, forgotten: 0 }
        for (const { status } of await allSignals(ports, parsed)) signals[status]++
        return { ...(await learningOf(parsed.owner)), signals }
      },
    },
    review: {
      list: async (scope, query) => listSuspects(ports, parseScope(scope), query),
      approve: async (scope, id) => approve(ports, parseScope(scope), parseId('mem', id)),
      reject: async (scope, id) => reject(ports, parseScope(scope), parseId('mem', id)),
      conflicts: async (scope, query) => listConflicts(ports, parseScope(scope), query),
      settle: async (scope, { keep, drop }, content) => {
        const ids = { keep: parseId('mem', keep), drop: parseId('mem', drop) }
        return settle(ports, parseScope(scope), ids, content)
      },
      reconcile: async (scope, id) => reconcile(ports, parseScope(scope), parseId('mem', id)),
    },
    jobs: {
      list: async ({ owner, ...query } = {}) =>
        jobs.list({ ...query, ...(owner === undefined ? {} : { owner: ownerNamed(owner) }) }),
      get: (id) => jobs.get(id),
      retry: (id) => jobs.retry(id),
      cancel: (id) => jobs.cancel(id),
      runDue: () => jobs.runDue(),
      start: async (heard = {}) => {
        hearing = heard
        jobs.start()
        await jobs.schedule(upkeep(ports.clock.now()))
      },
      stop: (graceMs) => jobs.stop(graceMs),
    },
  }
  return {
    life,
    modelFor: (owner) => models?.for(owner, 'waited-for') ?? null,
    settings: { ...settings, change: (...change) => changeSettings(work, change) },
    noteSaid: createNoting(ports, () => jobs),
    changed: (changes) => jobs.changed(changes),
    forget: (owner) => jobs.forget(owner),
    status: async () => {
      const inForce = await settings.effective(null)
      return { coreModel: modelIn(inForce), ...jobs.report() }
    },
    close: () => jobs.close(),
  }
}

/** By these it is decided whether a model can be asked. */
const WAKING = ['coreModel', 'fastModel', 'modelTokensPerDay', 'extractionMode'] as const

async function changeSettings(
  work: WorkParts,
  change: Parameters<StoredSettings['change']>,
): Promise<Settings> {
  const { settings, ports, jobs } = work
  const [owner] = change
  const before = await settings.effective(owner)
  const changed = await settings.change(...change)
  if (WAKING.every((name) => changed[name] === before[name])) return changed
  if (owner === null) await jobs().schedule(upkeep(ports.clock.now()))
  else await wakeWaiting(work, owner)
  return changed
}

function ownerNamed(owner: string | null): OwnerId | null {
  return owner === null ? null : parseScope({ owner }).owner
}

function isEveryTurnRead({ extractionMode }: Settings): boolean {
  return extractionMode === 'everyTurn'
}

/** Empty where none is named. */
function modelNamed(inForce: Settings): string {
  const { coreModel, fastModel } = inForce
  return isEveryTurnRead(inForce) ? fastModel || coreModel : coreModel
}

/** Where no user is named, the one who has a session of this name is meant. */
async function sessionIn(ports: EnginePorts, scope: ScopeInput): Promise<SessionPlace> {
  const { owner, user, session } = parseScope(scope)
  if (session === undefined || session === null) {
    throw new AppError('invalid_input', 'Which session? Name it.', { field: 'sessionId' })
  }
  if (user !== undefined) return { owner, user, session }
  const known = await findSession(ports, { owner, session })
  return known ?? { owner, user: null, session }
}
