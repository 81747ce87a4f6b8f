/** Recall over the memories of a scope, with the vector index and the circuit breakers that outlive one question. */

import { parseScope, type Scope, type ScopeInput } from '../domain/scope.ts'
import { isTurnDocument } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { type CircuitBreaker, createModelBreaker } from '../lib/circuit-breaker.ts'
import { AppError } from '../lib/errors.ts'
import { TimeSlice } from '../lib/event-loop.ts'
import type { UsageCounter } from '../memory/usage-counter.ts'
import type { Embedder, EmbedderReport } from '../models/embedder.ts'
import type { Change } from '../storage/store.ts'
import type { VectorIndex } from '../storage/vector-index.ts'
import { explainMissingVectors } from '../storage/vector-index.ts'
import { listDocumentsToEmbed } from './indexing/embedding-queue.ts'
import { Indexer, type IndexStatus, type ReindexOptions } from './indexing/indexer.ts'
import { createMemoryOverview, type MemoryOverview } from './memory-overview.ts'
import { recall } from './recall.ts'
import type { RecallQuery } from './recall-query.ts'
import type { RecallResult } from './recall-result.ts'
import { mergeRecallResults, type RecallScope, resolveRecallScopes } from './recall-scope.ts'
import type { RecallDependencies } from './types.ts'

export type EngineRecallQuery = RecallQuery & {
  /** Searches the session of the scope, everything of the owner, or shared memory too. Default: `recall.scope`. */
  readonly reach?: RecallScope
}

export type IndexReport = IndexStatus & {
  readonly embedder: EmbedderReport
  /** How vectors are stored and searched. */
  readonly facts: ReturnType<VectorIndex['report']>
}

export type RecallStatus = {
  /** Null when recall is lexical only. */
  readonly index: IndexReport | null
  /** Why there are no vectors although an embedder is configured. */
  readonly vectorsUnavailableReason: string | null
  /** Why reranking is paused; null when it is not, or when there is no reranker. */
  readonly rerankerProblem: string | null
}

export type RecallModels = {
  readonly embedder: EmbedderReport | null
  readonly reranker: { readonly name: string; readonly provider: string | null } | null
}

export interface Recall {
  /**
   * The memories that answer a question, best first, each with its ranking trail; none when nothing is relevant.
   *
   * @example
   * const { memories, abstained } = await engine.recall(
   *   { owner: 'ada' },
   *   { text: 'what should I drink?', limit: 5 },
   * )
   */
  recall(scope: ScopeInput, query: EngineRecallQuery): Promise<RecallResult>
}

/** Recall with what only the engine uses. */
export interface RecallService extends Recall {
  readonly overview: MemoryOverview
  /** Reports the models without calling them. */
  describeModels(): RecallModels
  status(): Promise<RecallStatus>
  /** Loads the embedding model and queues documents without a vector. */
  warmUp(): Promise<void>
  reindex(options?: ReindexOptions): Promise<IndexStatus>
  /** Queues changed documents for embedding. */
  onCommit(changes: readonly Change[]): void
  /** Stops calls to the models. The models themselves stay open. */
  close(): Promise<void>
}

export type RecallServiceDependencies = {
  readonly ports: RecallDependencies & { readonly vectorsUnavailableReason?: string }
  readonly settings: { resolve(owner: Scope['owner']): Promise<Settings> }
  readonly usage: UsageCounter
}

export function createRecallService({
  ports,
  settings,
  usage,
}: RecallServiceDependencies): RecallService {
  const { embedder, vectors, reranker } = ports
  const hasVectors = embedder !== undefined && vectors !== undefined
  const indexer = hasVectors ? new Indexer({ ...ports, embedder, vectors }) : null
  const circuitBreakers = {
    vector: createModelBreaker(ports.clock),
    rerank: createModelBreaker(ports.clock),
  }
  const timeSlice = new TimeSlice()
  return {
    overview: createMemoryOverview(ports, indexer),
    recall: async (input, { reach, ...query }) => {
      const scope = parseScope(input)
      const ownerSettings = await settings.resolve(scope.owner)
      const scopes = resolveRecallScopes(scope, reach, ownerSettings)
      const dependencies = {
        ...(ownerSettings['recall.rerankEnabled'] ? ports : withoutReranker(ports)),
        settings: ownerSettings,
      }
      const results = await Promise.all(
        scopes.map((each) =>
          recall(dependencies, { indexer, circuitBreakers, timeSlice }, each, query),
        ),
      )
      const limit = query.limit ?? ownerSettings['recall.limit']
      const result = mergeRecallResults(results, limit, query)
      if (query.purpose === 'prompt') recordUses(usage, scopes, result)
      return result
    },
    describeModels: () => ({
      embedder: embedder === undefined ? null : reportEmbedder(embedder, circuitBreakers.vector),
      reranker:
        reranker === undefined
          ? null
          : { name: reranker.name, provider: reranker.provider ?? null },
    }),
    status: async () => ({
      index:
        indexer === null || !hasVectors
          ? null
          : {
              ...(await indexer.status()),
              embedder: reportEmbedder(embedder, circuitBreakers.vector),
              facts: vectors.report(),
            },
      vectorsUnavailableReason:
        indexer === null && embedder !== undefined ? explainMissingVectors(ports) : null,
      rerankerProblem: reranker?.unavailableReason ?? circuitBreakers.rerank.openReason,
    }),
    warmUp: async () => indexer?.backfill(),
    reindex: async (options = {}) => {
      if (indexer === null) throw new AppError('missing_part', explainMissingVectors(ports))
      return indexer.reindex(options)
    },
    onCommit: (changes) => indexer?.enqueue(listDocumentsToEmbed(changes)),
    close: async () => {
      await Promise.all([circuitBreakers.vector.close(), circuitBreakers.rerank.close()])
      await indexer?.close()
    },
  }
}

function withoutReranker({ reranker: _, ...ports }: RecallDependencies): RecallDependencies {
  return ports
}

function recordUses(
  usage: UsageCounter,
  scopes: readonly Scope[],
  { memories }: RecallResult,
): void {
  for (const scope of scopes) {
    const own = memories.filter(
      ({ memory }) => memory.place.owner === scope.owner && !isTurnDocument(memory),
    )
    usage.note(
      scope,
      own.map(({ memory }) => memory.id),
    )
  }
}

/** A model that hangs reports no failure itself; the circuit breaker knows. */
function reportEmbedder(embedder: Embedder, breaker: CircuitBreaker): EmbedderReport {
  const report = embedder.report()
  const reason = breaker.openReason
  return reason === null ? report : { ...report, state: { kind: 'failing', reason } }
}
