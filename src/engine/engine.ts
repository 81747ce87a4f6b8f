/**
 * The engine: all features behind one object. Scopes and ids come in as plain strings; each feature parses them before
 * anything else.
 */

import { createIdempotencyKeys } from '../admin/idempotency.ts'
import { createReplicaAdmin } from '../admin/replica-admin.ts'
import { createStoredSettings, type StoredSettings } from '../admin/stored-settings.ts'
import { createContextBuilder } from '../conversations/context/context-builder.ts'
import { type Conversations, createConversations } from '../conversations/conversation-service.ts'
import { createFailureChannel } from '../conversations/failures.ts'
import type { Trust } from '../domain/memory.ts'
import type { ScopeInput } from '../domain/scope.ts'
import type { Files } from '../files/files.ts'
import { createJobs, type Jobs } from '../jobs/jobs.ts'
import { createLearning, type Learning, type Summaries } from '../learning/learning.ts'
import { patternRules } from '../learning/patterns/extractor.ts'
import type { LearnResult } from '../learning/patterns/pattern-fact-writer.ts'
import type { ErrorCode } from '../lib/errors.ts'
import {
  listContradictionPatterns,
  warmUpPatternsInSlices,
} from '../memory/contradiction/pattern-warmup.ts'
import { createRedactingStore } from '../memory/deletion/redacting-store.ts'
import { createMemoryService, type MemoryService } from '../memory/memory-service.ts'
import { createWriteSerializer } from '../memory/memory-writer.ts'
import { UsageCounter } from '../memory/usage-counter.ts'
import { type GuardedModels, guardModel, type ModelCallReport } from '../models/guarded-models.ts'
import { createRecallService, type Recall, type RecallStatus } from '../recall/recall-service.ts'
import { createChangeFeed } from '../storage/access/change-feed.ts'
import { WriteMonitor, withCommitHook } from '../storage/access/commit-hook.ts'
import { CountCache } from '../storage/access/count-cache.ts'
import type { Change, Store, StoreReport } from '../storage/store.ts'
import type { VectorReplicaStatus } from '../storage/vector-replication.ts'
import {
  type BackgroundJobs,
  type BackgroundListeners,
  createBackgroundJobs,
} from './background-jobs.ts'
import { type ContextService, createContextService } from './context-service.ts'
import { createEngineAdmin, type EngineAdmin } from './engine-admin.ts'
import type { EngineDependencies } from './engine-dependencies.ts'

export type BackgroundStatus = ReturnType<Jobs['report']> & {
  /** The model that distills for owners without settings of their own; null when there is none. */
  readonly extractionModel: string | null
}

export type EngineStatus = StoreReport &
  RecallStatus & {
    /** Where vectors are searched, and the state of the replica. */
    readonly replication: VectorReplicaStatus
    readonly learning: BackgroundStatus
    /** How the last write failed, while none has succeeded since. */
    readonly writeFailure: ErrorCode | null
  }

/** The everyday verbs stand on the engine itself; everything else is in a namespace named after its feature. */
export interface Engine
  extends Pick<MemoryService, 'remember' | 'get' | 'list' | 'edit' | 'forget' | 'restore' | 'undo'>,
    Recall {
  readonly memories: MemoryService & Summaries
  readonly context: ContextService
  readonly conversations: Conversations
  readonly learning: Learning
  /** Memory in files; null unless the engine was created with a file index. */
  readonly files: Files | null
  readonly jobs: BackgroundJobs
  readonly admin: EngineAdmin
  /**
   * Extracts what a person says about themselves from a text by patterns, without a model, and remembers it.
   *
   * @example
   * const { remembered } = await engine.learn({ owner: 'ada' }, 'My name is Ada. I live in Paris.')
   */
  learn(
    scope: ScopeInput,
    text: string,
    options?: {
      readonly observedAt?: number
      readonly source?: string
      /** Default: `user`. */
      readonly trust?: Trust
      /** Only returns what would be remembered. */
      readonly dryRun?: boolean
    },
  ): Promise<LearnResult>
  /**
   * Calls the listener after every commit through this engine, until the returned function is called. The listener
   * must not throw.
   *
   * @example
   * const unsubscribe = engine.onChanged((changes) => console.log(changes.length))
   * unsubscribe()
   */
  onChanged(listener: (changes: readonly Change[]) => void): () => void
  /**
   * The store, the vector index, the vector replica and background work.
   *
   * @example
   * const { index, learning } = await engine.status()
   */
  status(): Promise<EngineStatus>
  /**
   * Loads what first requests would wait for, the embedding model above all, and queues documents without a vector.
   * Fails when the model cannot be loaded.
   *
   * @example
   * await engine.warmUp()
   */
  warmUp(): Promise<void>
  /**
   * Finishes what is queued, for a few seconds at most, and closes models and store.
   *
   * @example
   * await engine.close()
   */
  close(): Promise<void>
}

export function createEngineWith(options: EngineDependencies): Engine {
  const foundation = createFoundation(options)
  const { ports, commits, caches, stored, usage, counts, purgeCaches } = foundation
  const background: { listeners: BackgroundListeners } = { listeners: {} }
  const models = createModels(ports, stored, (call) => background.listeners.onModelCall?.(call))
  const jobs = createJobs(ports, { onEnded: (job) => background.listeners.onJobEnded?.(job) })
  const recall = createRecallService({ ports, settings: stored, usage })
  const memories = createMemoryService({ ...foundation, settings: stored })
  const { remember, get, list, edit, forget, restore, undo } = memories
  const learning = createLearning({ ...foundation, settings: stored, models, jobs, remember })
  const { settings, summaries, learn } = learning
  const failures = createFailureChannel()
  const contextBuilder = createContextBuilder({
    ...{ ports, recall: recall.recall },
    countUse: (scope, ids) => usage.note(scope, ids),
    modelFor: (owner) => models?.for(owner, 'waited-for') ?? null,
    onFailure: failures.report,
  })
  const { buildContext } = contextBuilder
  const conversations = createConversations({
    ...{ ports, settings, jobs, learn, remember, purgeCaches },
    buildContext,
    buildSignalChanges: learning.buildSignalChanges,
    failures,
  })
  for (const { onCommit } of [recall, jobs, contextBuilder]) commits.add(onCommit)
  for (const cache of [contextBuilder, conversations]) caches.add(cache)
  const changeFeed = createChangeFeed(options.store, {
    onSettingsChanged: () => stored.invalidate(),
    caches: [counts, contextBuilder],
  })
  const resolveSettings = settings.resolve
  const host = { dependencies: ports, resolveSettings, remember, onCommit: commits.add }
  const files = options.files?.(host) ?? null
  const replication = createReplicaAdmin(ports, settings)
  const admin = createEngineAdmin({
    ...{ ...foundation, settings, replication, changeFeed, recall, models, jobs },
    applyExternalCommit: commits.notify,
    stopOwner: async (owner) => {
      await conversations.dropPending(owner)
      await jobs.cancelOwnerJobs(owner)
    },
    eraseFiles: async (owner) => files?.erase(owner),
  })
  const { scheduleMaintenance } = learning
  const setListeners = (listeners: BackgroundListeners) => {
    background.listeners = listeners
  }
  const closing = new AbortController()
  return {
    ...{ remember, get, list, edit, forget, restore, undo, recall: recall.recall },
    learn: (scope, text, learnOptions) => learn(scope, text, learnOptions),
    memories: { ...memories, ...summaries },
    context: createContextService({ ports, settings, buildContext, recall: recall.recall, files }),
    ...{ conversations: conversations.api, learning: learning.api, files, admin },
    jobs: createBackgroundJobs({ jobs, scheduleMaintenance, setListeners }),
    onChanged: commits.add,
    status: async () => ({
      ...(await ports.store.getReport()),
      ...(await recall.status()),
      replication: await replication.current(),
      writeFailure: foundation.writes.failure,
      learning: {
        extractionModel: await learning.getExtractionModel(),
        ...jobs.report(),
      },
    }),
    warmUp: async () => {
      const patterns = [...patternRules(), ...listContradictionPatterns()]
      await Promise.all([recall.warmUp(), warmUpPatternsInSlices(patterns, closing.signal)])
    },
    close: async () => {
      closing.abort()
      changeFeed.close()
      // The file index first: it shares the embedder.
      for (const part of [files, conversations, jobs, contextBuilder]) await part?.close()
      await usage.flush().catch(() => {}) // use counts are not worth a failed close
      await recall.close()
      await closePorts(options, ports.store)
    },
  }
}

/** What every feature builds on: the store with its commit listeners, stored settings and caches. */
function createFoundation(options: EngineDependencies) {
  const commits = new CommitListeners()
  const caches = new Set<{ purgeCaches(): void }>()
  const writes = new WriteMonitor()
  const redacting = createRedactingStore(writes.watch(options.store))
  const store = withCommitHook(redacting, commits.notify)
  const ports: EngineDependencies = { ...options, store }
  const idempotency = createIdempotencyKeys(ports)
  const counts = new CountCache(options.store, options.clock)
  commits.add((changes) => counts.onCommit(changes))
  return {
    ...{ ports, commits, caches, idempotency, counts, writes },
    stored: createStoredSettings(ports),
    serialize: createWriteSerializer(),
    usage: new UsageCounter(store, options.clock),
    /** Purges caches that may hold erased text. */
    purgeCaches: async (): Promise<void> => {
      for (const cache of caches) cache.purgeCaches()
      await idempotency.clear()
      await options.onErased?.()
    },
  }
}

class CommitListeners {
  readonly #listeners = new Set<(changes: readonly Change[]) => void>()

  readonly add = (listener: (changes: readonly Change[]) => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly notify = (changes: readonly Change[]): void => {
    for (const listener of this.#listeners) listener(changes)
  }
}

function createModels(
  { languageModel, ...ports }: EngineDependencies,
  settings: StoredSettings,
  onAsked: (call: ModelCallReport) => void,
): GuardedModels | null {
  if (languageModel === undefined) return null
  return guardModel(languageModel, ports, {
    budgetOf: async (owner) => (await settings.resolve(owner))['learning.modelTokensPerDay'],
    onAsked,
  })
}

async function closePorts(
  { embedder, reranker, languageModel, vectors }: EngineDependencies,
  store: Store,
): Promise<void> {
  try {
    await Promise.all([embedder?.close(), reranker?.close(), languageModel?.close?.()])
  } finally {
    await vectors?.close()
    await store.close()
  }
}
