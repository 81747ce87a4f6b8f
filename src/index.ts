/**
 * Recollect as a library.
 *
 * @example
 * import { createEngine } from 'recollect'
 *
 * const memory = await createEngine({ path: 'memory.db' })
 * await memory.remember({ owner: 'ada' }, { content: 'I prefer tea over coffee.' })
 * const { memories } = await memory.recall({ owner: 'ada' }, { text: 'what should I drink?' })
 */

export { createEngine, type EngineOptions } from './app/composition.ts'
export {
  LancePlugin,
  type PluginDraft,
  type PluginEntry,
  type PluginHit,
  type PluginOptions,
} from './app/database/vector-store-selection.ts'
export type { FilesOptions } from './app/file-composition.ts'
export type { EmbeddingOptions, RerankOptions } from './app/models/model-selection.ts'
export type {
  ConversationRequest,
  PreparedRequest,
  RequestOutcome,
} from './conversations/conversations.ts'
export {
  MEMORY_CATEGORIES,
  MEMORY_STATUSES,
  MEMORY_TYPES,
  type Memory,
  type MemoryCategory,
  type MemoryStatus,
  type MemoryType,
  type Provenance,
  type Revision,
  type Tombstone,
  TRUST_LEVELS,
  type Trust,
} from './domain/memory.ts'
export type { Place, Scope, ScopeInput } from './domain/scope.ts'
export {
  DOCUMENT_TYPES,
  type DocumentType,
  isMemoryDocument,
  type SearchDocument,
} from './domain/search-document.ts'
export { SETTINGS, type SettingName } from './domain/settings/settings.ts'
export type { Turn, TurnRole } from './domain/turn.ts'
export type { Engine, EngineStatus } from './engine/engine.ts'
export { type Citation, formatCitation } from './files/citation.ts'
export type {
  FileHit,
  FileQuery,
  FileSearchResult,
  FileStatus,
  FileText,
  SyncReport,
} from './files/file-search.ts'
export type { Workspace } from './files/file-tree.ts'
export type { Files } from './files/files.ts'
export {
  createMemoryTool,
  type MemoryToolCommand,
  type MemoryToolHandlers,
} from './files/memory-tool.ts'
export type { NamedRoot, RootInput } from './files/roots.ts'
export type {
  SearchSource,
  SourceHit,
  SourceSearchQuery,
  SourceSearchResult,
} from './files/search/source-search.ts'
export type { LearnResult } from './learning/patterns/pattern-fact-writer.ts'
export { AppError, ERRORS, type ErrorCode } from './lib/errors.ts'
export type { DraftInput, EditInput } from './memory/draft.ts'
export type { HistoryEntry, ListQuery } from './memory/memory-reader.ts'
export type { RememberResult } from './memory/memory-writer.ts'
export type { Embedder, EmbeddingModel } from './models/embedder.ts'
export type { LanguageModel } from './models/language-model.ts'
export type { Reranker } from './models/reranker.ts'
export type { ImportResult } from './portability/export-import.ts'
export type { IndexProgress, IndexStatus, ReindexOptions } from './recall/indexing/indexer.ts'
export type { RecallQuery } from './recall/recall-query.ts'
export type { RecalledMemory, RecallResult, RetrieverReport } from './recall/recall-result.ts'
export type { Change, CommitOutcome, Store } from './storage/store.ts'
export type { VectorIndex } from './storage/vector-index.ts'
export { estimateTokens } from './text/tokens.ts'
