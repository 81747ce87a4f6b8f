/** What the package promises to programs that import it. A diff of the snapshot is the review. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as library from '../src/index.ts'

it('[AR6] exports exactly the names that were decided on', () => {
  expect(Object.keys(library).sort()).toMatchInlineSnapshot(`
    [
      "AppError",
      "DOCUMENT_TYPES",
      "ERRORS",
      "LancePlugin",
      "MEMORY_CATEGORIES",
      "MEMORY_STATUSES",
      "MEMORY_TYPES",
      "SETTINGS",
      "TRUST_LEVELS",
      "citationOf",
      "createEngine",
      "createMemoryTool",
      "estimateTokens",
      "isMemoryDocument",
    ]
  `)
})

it('[AR6] exports exactly the types that were decided on', () => {
  const source = readFileSync('src/index.ts', 'utf8')
  const types = [
    ...source.matchAll(/^export type \{([^}]*)\}/gm),
    ...source.matchAll(/\btype (\w+)/g),
  ].flatMap((match) => (match[1] ?? '').split(',').map((name) => name.trim()))
  expect([...new Set(types)].filter((name) => /^[A-Z]/.test(name)).sort()).toMatchInlineSnapshot(`
    [
      "Change",
      "Citation",
      "CommitOutcome",
      "DocumentType",
      "DraftInput",
      "EditInput",
      "Embedder",
      "EmbeddingModel",
      "EmbeddingOptions",
      "Engine",
      "EngineFiles",
      "EngineOptions",
      "EngineStatus",
      "ErrorCode",
      "FileAnswer",
      "FileHit",
      "FileQuery",
      "FileStatus",
      "FileText",
      "FilesOptions",
      "FoundItem",
      "HistoryEntry",
      "Imported",
      "IndexProgress",
      "IndexStatus",
      "LanguageModel",
      "Learned",
      "LegReport",
      "ListQuery",
      "Memory",
      "MemoryCategory",
      "MemoryStatus",
      "MemoryToolCommand",
      "MemoryToolHandlers",
      "MemoryType",
      "NamedRoot",
      "Place",
      "PluginDraft",
      "PluginEntry",
      "PluginHit",
      "PluginOptions",
      "Provenance",
      "RecallQuery",
      "Recalled",
      "Recollection",
      "ReindexOptions",
      "Remembered",
      "RerankOptions",
      "Reranker",
      "Revision",
      "RootInput",
      "Scope",
      "ScopeInput",
      "SearchDocument",
      "SettingName",
      "Source",
      "SourcesQuery",
      "Store",
      "SyncReport",
      "Together",
      "Tombstone",
      "Trust",
      "Turn",
      "TurnRole",
      "VectorIndex",
      "Workspace",
    ]
  `)
})
