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
export type { DraftInput, EditInput, ScopeInput } from './core/draft.ts'
export { AppError, ERRORS, type ErrorCode } from './core/errors.ts'
export { type Citation, citationOf } from './core/files/citation.ts'
export type { Place, Scope } from './core/ids.ts'
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
} from './core/memory.ts'
export {
  DOCUMENT_TYPES,
  type DocumentType,
  isMemoryDocument,
  type SearchDocument,
} from './core/search-document.ts'
export { SETTINGS, type SettingName } from './core/settings.ts'
export { estimateTokens } from './core/tokens.ts'
export type { Turn, TurnRole } from './core/transcript.ts'
export type { Engine, EngineStatus } from './engine/engine.ts'
export {
  createMemoryTool,
  type MemoryToolCommand,
  type MemoryToolHandlers,
} from './engine/files/memory-tool.ts'
export type { EngineFiles } from './engine/files/named.ts'
export type { NamedRoot, RootInput } from './engine/files/roots.ts'
export type { LegReport } from './engine/gather.ts'
export type { IndexProgress, IndexStatus, ReindexOptions } from './engine/indexing.ts'
export type { Imported } from './engine/portability.ts'
export type { HistoryEntry, ListQuery } from './engine/read.ts'
export type { Recalled, RecallQuery, Recollection } from './engine/recall.ts'
export type { Learned, Remembered } from './engine/remember.ts'
export type { FoundItem, Source, SourcesQuery, Together } from './engine/sources.ts'
export { createEngine, type EngineOptions } from './main/compose.ts'
export type { EmbeddingOptions, RerankOptions } from './main/embedding.ts'
export type { FilesOptions } from './main/files.ts'
export {
  LancePlugin,
  type PluginDraft,
  type PluginEntry,
  type PluginHit,
  type PluginOptions,
} from './main/vector-store.ts'
export type { Embedder, EmbeddingModel } from './ports/embedder.ts'
export type {
  FileAnswer,
  FileHit,
  FileQuery,
  FileStatus,
  FileText,
  SyncReport,
} from './ports/file-search.ts'
export type { Workspace } from './ports/file-tree.ts'
export type { LanguageModel } from './ports/language-model.ts'
export type { Reranker } from './ports/reranker.ts'
export type { Change, CommitOutcome, Store } from './ports/store.ts'
export type { VectorIndex } from './ports/vector-index.ts'
