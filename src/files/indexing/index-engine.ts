import type { OwnerId } from '../../domain/ids.ts'
import type { Scope, ScopeInput } from '../../domain/scope.ts'
import type { EmbedderReport, EmbedOptions } from '../../models/embedder.ts'
import type { IndexStatus, ReindexOptions } from '../../recall/indexing/indexer.ts'
import type { MemoryVectors } from '../../recall/memory-overview.ts'
import type { RecallQuery } from '../../recall/recall-query.ts'
import type { RecallResult } from '../../recall/recall-result.ts'
import type { Change } from '../../storage/store.ts'

/**
 * IndexEngine: the engine interface that the file index needs, where each chunk of a file is a memory.
 * `app/file-composition.ts` adapts an engine to it.
 */
export interface IndexEngine {
  /** Searches all chunks of the owner in the scope. */
  recall(scope: Scope, query: RecallQuery): Promise<RecallResult>
  embed(texts: readonly string[], options: EmbedOptions): Promise<unknown>
  listVectors(scope: ScopeInput): Promise<MemoryVectors>
  /** Null without an embedder or a vector index. */
  getIndexStatus(): Promise<IndexStatus | null>
  /** Null without an embedder: lexical search only. */
  getEmbedder(): EmbedderReport | null
  canSearchVectors(): boolean
  warmUp(): Promise<void>
  reindex(options: ReindexOptions): Promise<unknown>
  eraseOwner(owner: OwnerId): Promise<unknown>
  /** Called after every direct commit to the store, so that vectors and counts follow. */
  applyExternalCommit(changes: readonly Change[]): void
  close(): Promise<void>
}
