/**
 * The engine: everything one can do with memories, behind one object. Scopes and ids come in as plain text and
 * are checked here, so that nothing unchecked reaches the code behind it.
 */

import { type ApiKeys, createApiKeys } from '../admin/api-keys.ts'
import { type AuditLog, createAuditLog } from '../admin/audit-log.ts'
import { createIdempotencyKeys, type IdempotencyKeys } from '../admin/idempotency.ts'
import { type ErasedOwner, eraseOwner } from '../admin/owner-erasure.ts'
import { createReplicaAdmin, type ReplicaAdmin } from '../admin/replica-admin.ts'
import { createStoredSettings, type StoredSettings } from '../admin/stored-settings.ts'
import { createContextBuilder } from '../conversations/context/context-builder.ts'
import {
  type ContextPreview,
  type PreviewSettings,
  previewContext,
} from '../conversations/context/context-preview.ts'
import { createConversations } from '../conversations/conversation-service.ts'
import type { Conversations } from '../conversations/conversations.ts'
import { parseId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import { parseScope, type Scope, type ScopeInput, SYSTEM_OWNER } from '../domain/scope.ts'
import { isTurnDocument } from '../domain/search-document.ts'
import { resolveSettings } from '../domain/settings/settings.ts'
import { createEngineFiles } from '../files/engine-access.ts'
import { type EngineFiles, parseOwnerNames } from '../files/engine-files.ts'
import {
  type SourceSearchQuery,
  type SourceSearchResult,
  searchSources,
} from '../files/search/source-search.ts'
import { createModelTasks, selectModel } from '../learning/completions/model-tasks.ts'
import { type BackgroundStatus, createLearning, type LearningApi } from '../learning/learning.ts'
import { patternRules } from '../learning/patterns/extractor.ts'
import type { PatternLearningOptions } from '../learning/patterns/pattern-drafts.ts'
import { type LearnResult, learnPatterns } from '../learning/patterns/pattern-learning.ts'
import {
  type SummarizeOptions,
  type SummarizeResult,
  summarize,
  summarizeMemories,
} from '../learning/summaries/summarizer.ts'
import { NEVER_ABORTED } from '../lib/abort.ts'
import type { YieldTurn } from '../lib/backpressure.ts'
import { createModelBreaker } from '../lib/circuit-breaker.ts'
import { AppError } from '../lib/errors.ts'
import type { Instant } from '../lib/time.ts'
import {
  type BulkDeleteOptions,
  type BulkDeleteResult,
  deleteMatching,
} from '../memory/bulk-deletion.ts'
import {
  listContradictionPatterns,
  warmUpPatternsInSlices,
} from '../memory/contradiction/pattern-warmup.ts'
import type { DraftInput, EditInput } from '../memory/draft.ts'
import * as correct from '../memory/memory-editor.ts'
import * as read from '../memory/memory-reader.ts'
import { type RememberResult, remember } from '../memory/memory-writer.ts'
import { createRedactingStore } from '../memory/receipt-redaction.ts'
import { type UndoResult, undoChange } from '../memory/undo.ts'
import { UsageCounter } from '../memory/usage-counter.ts'
import { probeWrite, type WriteProbeResult } from '../memory/write-probe.ts'
import { createWriteSerializer } from '../memory/write-serialization.ts'
import { createModelService, type ModelService } from '../models/model-service.ts'
import { exportLines, type Imported, importLines } from '../portability/export-import.ts'
import type { ImportRecord } from '../portability/importers/foreign-record.ts'
import { importRecords, type RecordImportOptions } from '../portability/record-import.ts'
import { listDocumentsToEmbed } from '../recall/indexing/embedding-queue.ts'
import { Indexer, type IndexStatus, type ReindexOptions } from '../recall/indexing/indexer.ts'
import { createMemoryOverview, type MemoryOverview } from '../recall/memory-overview.ts'
import { recall } from '../recall/recall.ts'
import type { RecallQuery } from '../recall/recall-query.ts'
import type { RecallResult } from '../recall/recall-result.ts'
import { mergeRecallResults, type RecallScope, resolveRecallScopes } from '../recall/scope-merge.ts'
import { type ChangeFeed, createChangeFeed } from '../storage/access/change-feed.ts'
import { withCommitHook } from '../storage/access/commit-hook.ts'
import { CountCache } from '../storage/access/count-cache.ts'
import { yieldingStore } from '../storage/access/yielding-store.ts'
import type { Change, IntegrityProblem, MemoryCounts, Page, StoreReport } from '../storage/store.ts'
import type { VectorReplicaStatus } from '../storage/vector-replication.ts'
import { explainMissingVectors } from '../storage/vector-index.ts'
import { estimateTokens } from '../text/tokens.ts'
import {
  buildEmbedderReport,
  describeReranker,
  describeVectorSource,
  type EngineComponents,
  type IndexReport,
} from './engine-components.ts'
import type { EngineDependencies } from './engine-dependencies.ts'

export type EngineStatus = StoreReport & {
  /** How memories are found by meaning; null when they are found by their words alone. */
  readonly index: IndexReport | null
  /** Why there are no vectors, although there is a model to make them with. */
  readonly vectorsUnavailableReason: string | null
  /** Where vectors are looked for; a mirror beside the memories may be in any state. */
  readonly replication: VectorReplicaStatus
  /** Why the reranker is not asked at the moment; null when it is, or there is none. */
  readonly rerankerProblem: string | null
  /** What distils, and what is done in the background. */
  readonly learning: BackgroundStatus
}

export interface Engine extends LearningApi {
  /** Stores a statement, or updates, reinforces or supersedes what it is about. */
  remember(scope: ScopeInput, draft: DraftInput): Promise<RememberResult>
  /** Finds what a person says about themselves in a text, without a model, and remembers it. */
  learn(
    scope: ScopeInput,
    text: string,
    options?: { readonly observedAt?: number; readonly source?: string },
  ): Promise<LearnResult>
  /**
   * The memories that answer a question, best first, each with its reasons; none when nothing fits. `reach` says where
   * to look: in the session of the scope, in everything of the owner, or in shared memory as well.
   */
  recall(
    scope: ScopeInput,
    query: RecallQuery & { readonly reach?: RecallScope },
  ): Promise<RecallResult>
  /** What answers a question in several sources together, best first. Files and what was said are among them. */
  searchSources(scope: ScopeInput, query: SourceSearchQuery): Promise<SourceSearchResult>
  /** What the gateway would give a model for a message, with the settings that are tried. Changes nothing. */
  previewContext(
    scope: ScopeInput,
    message: string,
    options?: { readonly trial?: PreviewSettings; readonly signal?: AbortSignal },
  ): Promise<ContextPreview>
  get(scope: ScopeInput, id: string): Promise<Memory | null>
  list(scope: ScopeInput, query?: read.ListQuery): Promise<Page<Memory>>
  countMemories(scope: ScopeInput, query?: read.ReadFilter): Promise<MemoryCounts>
  /** What was known and held at an earlier time. */
  asOf(
    scope: ScopeInput,
    at: Date | number,
    query?: { readonly limit?: number; readonly after?: string },
  ): Promise<Page<Memory>>
  history(scope: ScopeInput, id: string): Promise<readonly read.HistoryEntry[]>
  edit(
    scope: ScopeInput,
    id: string,
    edit: EditInput,
    options?: { readonly version?: number },
  ): Promise<Memory>
  disable(scope: ScopeInput, id: string): Promise<Memory>
  /** Also disables the turns that state it, until it is restored. */
  forget(scope: ScopeInput, id: string): Promise<correct.Forgotten>
  restore(
    scope: ScopeInput,
    id: string,
    options?: { readonly version?: number },
  ): Promise<correct.Restored>
  /** Removes a memory with its history for good, disables the turns that state it, and says how much that was. */
  erase(scope: ScopeInput, id: string): Promise<correct.ErasureCounts>
  /** Erases what has been forgotten for longer than the setting `binDays`, or than `days`. */
  emptyTrash(
    scope: ScopeInput,
    options?: { readonly days?: number },
  ): Promise<correct.ErasureCounts>
  undo(scope: ScopeInput, change: string): Promise<UndoResult>
  /** Forgets, or erases, everything that matches; one change, which can be undone as long as nothing is erased. */
  clear(
    scope: ScopeInput,
    query: read.ReadFilter,
    options?: BulkDeleteOptions,
  ): Promise<BulkDeleteResult>
  /** Puts one memory in the place of many old ones, which it supersedes, in the words of a model where there is one. */
  summarize(scope: ScopeInput, options?: SummarizeOptions): Promise<SummarizeResult>
  /** The same by size: of each user, or of a session, the newest that fit into `maxTokens` (4,000) stay as they are. */
  summarizeMemories(
    scope: ScopeInput,
    options?: Omit<SummarizeOptions, 'olderThanDays'>,
  ): Promise<SummarizeResult>
  /** Removes everything of an owner for good: memories, history, conversations, settings, keys. */
  eraseOwner(owner: string, options?: { readonly dryRun?: boolean }): Promise<ErasedOwner>
  /** Counts that these memories were of use. */
  recordUse(scope: ScopeInput, ids: readonly string[]): Promise<void>
  /** With a passphrase, only whoever knows it can read the lines. */
  export(
    scope: ScopeInput | null,
    options?: { readonly passphrase?: string },
  ): AsyncIterable<string>
  import(
    lines: AsyncIterable<string>,
    options?: {
      /** Where everything goes; without it, to the owners that it came from. */
      readonly owner?: string
      readonly passphrase?: string
      readonly signal?: AbortSignal
      readonly onProgress?: (lines: number) => void
    },
  ): Promise<Imported>
  /** Takes in what another system kept. */
  importRecords(
    scope: ScopeInput,
    records: AsyncIterable<ImportRecord>,
    options?: RecordImportOptions,
  ): Promise<Imported>
  /** Hears every commit that goes through this engine, until the function it gets back is called. Must not fail. */
  onChanged(listener: (changes: readonly Change[]) => void): () => void
  /** Who has memories here, and how many. */
  listPlaces(): Promise<
    readonly {
      readonly owner: string
      readonly user: string | null
      readonly memories: number
      readonly turns: number
    }[]
  >
  status(): Promise<EngineStatus>
  /** What it is made of, without asking any of it. */
  getComponents(): EngineComponents
  /** For whoever writes to the store beside the engine, as the index of files does: vectors and counts follow. */
  applyExternalCommit(changes: readonly Change[]): void
  /** Writes, finds and removes something, to see whether that works. */
  testWrite(): Promise<WriteProbeResult>
  /**
   * Makes ready what the first requests would otherwise wait for, the embedding model above all, and begins to give
   * memories that lack one their vector. Fails when the model can't be loaded.
   */
  warmUp(): Promise<void>
  /** Gives every memory its vector, to the end; `force` makes all of them anew. Can be stopped and called again. */
  reindex(options?: ReindexOptions): Promise<IndexStatus>
  checkIntegrity(options?: { readonly repair?: boolean }): Promise<readonly IntegrityProblem[]>
  /** What lets programs in, for doors that are open to others. */
  readonly keys: ApiKeys
  /** Settings that are kept with the data. */
  readonly settings: StoredSettings
  readonly audit: AuditLog
  readonly idempotency: IdempotencyKeys
  /** Other processes on the same data. */
  readonly changeFeed: ChangeFeed
  /** Where vectors are kept besides the memories. */
  readonly replication: ReplicaAdmin
  /** What memory does around requests to models. */
  readonly conversations: Conversations
  /** Memory in files; null where there is no place for its index. */
  readonly files: EngineFiles | null
  /** Memories seen from afar. */
  readonly overview: MemoryOverview
  /** What it embeds and reranks with. */
  readonly models: ModelService
  close(): Promise<void>
}

export function createEngineWith(given: EngineDependencies): Engine {
  const { embedder, vectors } = given
  const indexer =
    embedder === undefined || vectors === undefined
      ? null
      : new Indexer({ ...given, embedder, vectors })
  const guards = {
    meaning: createModelBreaker(given.clock),
    rerank: createModelBreaker(given.clock),
  }
  const tallies = new CountCache(given.store, given.clock)
  const listeners = new Set<(changes: readonly Change[]) => void>()
  const noteCommitted = (changes: readonly Change[]) => {
    tallies.onCommit(changes)
    indexer?.changed(listDocumentsToEmbed(changes))
    keeper.changed(changes)
    reader.onCommit(changes)
    for (const listener of listeners) listener(changes)
  }
  const store = withCommitHook(createRedactingStore(given.store), noteCommitted)
  const ports = { ...given, store }
  const uses = new UsageCounter(store, ports.clock)
  const inTurn = createWriteSerializer()
  const stored = createStoredSettings(ports)
  const answers = createIdempotencyKeys(ports)
  /** Whatever else may hold something of what was erased lets it go. */
  const letGo = async () => {
    conversations.purgeCaches()
    reader.purgeCaches()
    await answers.clear()
    await ports.onErased?.()
  }
  const rememberInTurn: Engine['remember'] = async (scope, draft) =>
    inTurn(scope, async () => {
      const parsed = parseScope(scope)
      return remember(await portsOf(parsed), parsed, draft)
    })
  const reader = createContextBuilder({
    ports,
    recall: (scope, query) => recallIn(scope, query),
    countUse: (scope, ids) => uses.note(scope, ids),
    modelFor: (owner) => keeper.modelFor(owner),
  })
  const keeper = createLearning({
    ports,
    settings: stored,
    serialize: inTurn,
    purgeCaches: letGo,
    read: reader.buildContext,
    remember: rememberInTurn,
  })
  const { life, settings, buildSignalChanges: noteSaid } = keeper
  /** With the settings of whoever the call is about. */
  const portsOf = async ({ owner }: Scope): Promise<EngineDependencies> => ({
    ...ports,
    settings: await settings.resolve(owner),
  })
  const wordingOf = async ({ owner }: Scope) => {
    const { 'learning.extractionModel': coreModel } = await settings.resolve(owner)
    const model = selectModel(coreModel, keeper.modelFor(owner))
    return model === null ? {} : { writeSummary: createModelTasks(model).summary }
  }
  const learnInTurn = (
    scope: ScopeInput,
    text: string,
    options?: PatternLearningOptions,
    giveWay?: YieldTurn,
  ) =>
    inTurn(scope, async () => {
      const parsed = parseScope(scope)
      const own = await portsOf(parsed)
      const unhurried =
        giveWay === undefined ? own : { ...own, store: yieldingStore(own.store, giveWay) }
      return learnPatterns(unhurried, parsed, text, options)
    })
  const recallIn: Engine['recall'] = async (scope, { reach, ...query }) => {
    const parsed = parseScope(scope)
    const inForce = await settings.resolve(parsed.owner)
    const scopes = resolveRecallScopes(parsed, reach, inForce)
    const tuned = inForce['recall.rerankEnabled'] ? ports : withoutReranker(ports)
    const found = mergeRecallResults(
      await Promise.all(
        scopes.map((each) =>
          recall(
            { ...tuned, settings: inForce },
            { indexer, circuitBreakers: guards },
            each,
            query,
          ),
        ),
      ),
      query.limit ?? inForce['recall.limit'],
      query,
    )
    if (query.purpose === 'prompt') {
      for (const each of scopes) {
        const ids = found.memories.filter(
          ({ memory }) => memory.place.owner === each.owner && !isTurnDocument(memory),
        )
        uses.note(
          each,
          ids.map(({ memory }) => memory.id),
        )
      }
    }
    return found
  }
  const conversations = createConversations({
    ports,
    settings,
    read: reader.buildContext,
    learn: learnInTurn,
    noteSaid,
  })
  const tiers = createReplicaAdmin(ports, settings)
  const ending = new AbortController()
  const elsewhere = createChangeFeed(given.store, {
    onSettingsChanged: () => stored.invalidate(),
    caches: [tallies, reader],
  })
  const files = createEngineFiles({ ports, settings, listeners, remember: rememberInTurn })
  return {
    ...life,
    conversations,
    files: files === null ? null : parseOwnerNames(files),
    keys: createApiKeys(ports),
    settings,
    audit: createAuditLog(ports, async () => (await settings.resolve(null))['retention.auditDays']),
    idempotency: answers,
    changeFeed: elsewhere,
    replication: tiers,
    models: createModelService(ports, (owner) => keeper.modelFor(owner)),
    overview: createMemoryOverview(ports, indexer),
    remember: rememberInTurn,
    learn: async (scope, text, options) => learnInTurn(scope, text, options),
    recall: recallIn,
    searchSources: async (scope, query) =>
      searchSources(
        {
          ...{ recall: recallIn, files },
          settings: await settings.resolve(parseScope(scope).owner),
          countTokens: given.countTokens ?? estimateTokens,
        },
        scope,
        query,
      ),
    previewContext: async (scope, message, { trial = {}, signal = NEVER_ABORTED } = {}) => {
      const inForce = resolveSettings(await settings.resolve(parseScope(scope).owner), trial)
      return previewContext({ ports, read: reader.buildContext }, scope, message, inForce, signal)
    },
    get: async (scope, id) => store.get('memory', parseScope(scope), parseId('mem', id)),
    list: async (scope, query = {}) => read.listMemories(ports, parseScope(scope), query),
    countMemories: async (scope, query = {}) => {
      const where = read.toMemoryFilter(query, ports.clock.now())
      return tallies.count(parseScope(scope), where)
    },
    asOf: async (scope, at, query = {}) =>
      read.listMemoriesAsOf(ports, parseScope(scope), toInstant(at), query),
    history: async (scope, id) => read.listVersions(ports, parseScope(scope), parseId('mem', id)),
    edit: async (scope, id, edit, options) =>
      correct.edit(ports, parseScope(scope), parseId('mem', id), edit, options?.version),
    disable: async (scope, id) => correct.disable(ports, parseScope(scope), parseId('mem', id)),
    forget: async (scope, id) => correct.forget(ports, parseScope(scope), parseId('mem', id)),
    restore: async (scope, id, options) =>
      correct.restore(ports, parseScope(scope), parseId('mem', id), options?.version),
    erase: async (scope, id) => {
      const erased = await correct.erase(ports, parseScope(scope), parseId('mem', id))
      await letGo()
      return erased
    },
    emptyTrash: async (scope, options) => {
      const parsed = parseScope(scope)
      const erased = await correct.emptyTrash(await portsOf(parsed), parsed, options?.days)
      if (erased.memories > 0) await letGo()
      return erased
    },
    clear: async (scope, query, options = {}) => {
      const cleared = await deleteMatching(ports, parseScope(scope), query, options)
      if (cleared.erased > 0) await letGo()
      return cleared
    },
    summarize: async (scope, options = {}) => {
      const parsed = parseScope(scope)
      return summarize(ports, parsed, { ...(await wordingOf(parsed)), ...options })
    },
    summarizeMemories: async (scope, options = {}) => {
      const parsed = parseScope(scope)
      return summarizeMemories(ports, parsed, { ...(await wordingOf(parsed)), ...options })
    },
    eraseOwner: async (owner, options = {}) => {
      const { owner: named } = parseScope({ owner })
      if (options.dryRun !== true) {
        await conversations.dropPending(named)
        await keeper.forget(named)
      }
      const erased = await eraseOwner(ports, named, options)
      if (options.dryRun === true) return erased
      // Roots are gone by now, so that nothing is indexed again.
      await files?.forget(named)
      await letGo()
      return erased
    },
    onChanged: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    getComponents: () => ({
      embedder: embedder === undefined ? null : buildEmbedderReport(embedder, guards.meaning),
      vectors: vectors === undefined ? 'none' : describeVectorSource(tiers.status()),
      reranker: describeReranker(given.reranker),
    }),
    applyExternalCommit: noteCommitted,
    testWrite: () => probeWrite(ports),
    undo: async (scope, change) => undoChange(ports, parseScope(scope), parseId('chg', change)),
    recordUse: async (scope, ids) => {
      uses.note(
        parseScope(scope),
        ids.map((id) => parseId('mem', id)),
      )
      await uses.flush()
    },
    export: (scope, options = {}) =>
      exportLines(ports, scope === null ? null : parseScope(scope), options),
    import: async (lines, { owner, ...options } = {}) =>
      importLines(ports, lines, {
        ...options,
        ...(owner === undefined ? {} : { owner: parseScope({ owner }).owner }),
      }),
    importRecords: async (scope, records, options) =>
      importRecords(ports, parseScope(scope), records, options),
    // What the system keeps for itself has a place, but nobody lives there.
    listPlaces: async () =>
      (await store.listPlaces()).filter(({ owner }) => owner !== SYSTEM_OWNER),
    status: async () => ({
      ...(await store.getReport()),
      index:
        indexer === null || embedder === undefined || vectors === undefined
          ? null
          : {
              ...(await indexer.status()),
              embedder: buildEmbedderReport(embedder, guards.meaning),
              facts: vectors.report(),
            },
      vectorsUnavailableReason:
        indexer === null && embedder !== undefined ? explainMissingVectors(given) : null,
      replication: await tiers.current(),
      rerankerProblem: given.reranker?.unavailableReason ?? guards.rerank.openReason,
      learning: await keeper.status(),
    }),
    warmUp: async () => {
      const rules = [...patternRules(), ...listContradictionPatterns()]
      await Promise.all([indexer?.catchUp(), warmUpPatternsInSlices(rules, ending.signal)])
    },
    reindex: async (options = {}) => {
      if (indexer === null) {
        throw new AppError('missing_part', explainMissingVectors(given))
      }
      return indexer.reindex(options)
    },
    checkIntegrity: (options) => store.checkIntegrity({ repair: options?.repair ?? false }),
    close: async () => {
      ending.abort()
      elsewhere.close()
      await files?.close() // before the embedder, which it shares
      await conversations.close()
      await keeper.close()
      await reader.close()
      await uses.flush().catch(() => {}) // counting is not worth failing for
      await Promise.all([guards.meaning.close(), guards.rerank.close()])
      await indexer?.close()
      try {
        const { reranker, languageModel } = given
        await Promise.all([embedder?.close(), reranker?.close(), languageModel?.close?.()])
      } finally {
        await vectors?.close()
        await store.close()
      }
    },
  }
}

function withoutReranker({ reranker: _, ...ports }: EngineDependencies): EngineDependencies {
  return ports
}

function toInstant(at: Date | number): Instant {
  const ms = Number(at)
  if (!Number.isInteger(ms)) throw new AppError('invalid_input', 'That is not a time.')
  return ms as Instant // a whole number of milliseconds
}
