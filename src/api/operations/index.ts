/** The operation table. */

import * as diagnostics from './admin/diagnostics.ts'
import * as jobOperations from './admin/job-operations.ts'
import * as keys from './admin/key-operations.ts'
import * as settings from './admin/settings-operations.ts'
import * as system from './admin/system-operations.ts'
import * as vectorStore from './admin/vector-store-operations.ts'
import * as hookOperations from './conversations/hook-operations.ts'
import * as receipts from './conversations/receipt-operations.ts'
import * as receiptStats from './conversations/receipt-statistics.ts'
import * as sessions from './conversations/session-operations.ts'
import * as fileIndex from './files/file-index-operations.ts'
import * as files from './files/file-operations.ts'
import * as memoryTool from './files/memory-tool-operation.ts'
import * as sessionNote from './files/session-note-operation.ts'
import * as consolidationOperations from './learning/consolidation-operations.ts'
import * as distillation from './learning/distillation-operations.ts'
import * as episodes from './learning/episode-operations.ts'
import * as identity from './learning/identity-operations.ts'
import * as review from './learning/review-operations.ts'
import * as signals from './learning/signal-operations.ts'
import * as allOwners from './memories/all-owners.ts'
import * as bulk from './memories/bulk-operations.ts'
import * as importExport from './memories/import-export-operations.ts'
import * as instances from './memories/instance-operations.ts'
import * as memoryLists from './memories/memory-list-operations.ts'
import * as memoryMap from './memories/memory-map-operations.ts'
import * as memories from './memories/memory-operations.ts'
import type { Operation } from './operation.ts'
import * as agents from './recall/agent-operations.ts'
import * as previews from './recall/preview-operations.ts'
import * as search from './recall/search-operations.ts'

export const OPERATIONS: readonly Operation[] = [
  memoryLists.listMemories,
  memories.addMemory,
  memoryLists.clearMemories,
  bulk.changeMemories,
  bulk.mergeMemories,
  bulk.countFacets,
  search.searchMemories,
  previews.previewRecall,
  previews.previewContext,
  memories.learnMemories,
  memories.forgetMatching,
  memories.undoMemoryChange,
  memories.emptyTrash,
  memoryLists.summarizeMemories,
  system.checkHealth,
  system.listEmbeddingProviders,
  system.getEngineStatus,
  system.reindex,
  system.getReindexStatus,
  system.cancelReindex,
  diagnostics.testEmbedding,
  diagnostics.testRerank,
  diagnostics.listModels,
  diagnostics.testModel,
  importExport.exportMemories,
  importExport.importMemories,
  importExport.importSource,
  memoryMap.listMemoryVectors,
  memoryMap.getMemoryVector,
  memoryMap.listMemoryEntities,
  memoryMap.countMemoriesByDay,
  memories.getMemory,
  memories.updateMemory,
  memories.forgetMemory,
  memories.memoryHistory,
  memories.memoryChain,
  memories.restoreMemory,
  memories.disableMemory,
  memories.eraseMemory,
  sessions.listMemorySources,
  settings.describeSettings,
  settings.getSettings,
  settings.changeSettings,
  vectorStore.getQdrant,
  vectorStore.changeQdrant,
  vectorStore.checkQdrantHealth,
  vectorStore.searchQdrant,
  vectorStore.cleanUpQdrant,
  vectorStore.listQdrantModels,
  instances.listInstanceMemories,
  instances.addInstanceMemory,
  instances.forgetInstanceMemory,
  instances.clearInstance,
  receipts.listReceipts,
  receiptStats.getReceiptStatistics,
  receipts.getReceipt,
  distillation.ingestConversation,
  agents.searchLayer,
  agents.listAgents,
  episodes.listEpisodes,
  episodes.getEpisode,
  episodes.editEpisode,
  episodes.disableEpisode,
  episodes.forgetEpisode,
  episodes.restoreEpisode,
  identity.listIdentities,
  identity.addIdentity,
  identity.getIdentity,
  identity.editIdentity,
  identity.disableIdentity,
  identity.forgetIdentity,
  identity.restoreIdentity,
  sessions.listSessions,
  sessions.listTurns,
  sessions.forgetSession,
  sessions.getTurn,
  sessions.editTurn,
  sessions.disableTurn,
  sessions.restoreTurn,
  sessions.forgetTurn,
  distillation.flushSession,
  consolidationOperations.consolidateMemories,
  consolidationOperations.listConsolidations,
  consolidationOperations.forecastEvictions,
  jobOperations.listJobs,
  jobOperations.retryJob,
  jobOperations.cancelJob,
  signals.listSignals,
  signals.getSignal,
  signals.forgetSignals,
  signals.retrySignals,
  signals.learningStatus,
  review.listReview,
  review.approveMemory,
  review.rejectMemory,
  review.listConflicts,
  review.resolveConflict,
  review.reconcileMemory,
  files.listRoots,
  files.addRoot,
  files.removeRoot,
  fileIndex.listFiles,
  fileIndex.listChunks,
  files.filesStatus,
  files.syncFiles,
  files.searchFiles,
  files.getFileText,
  files.appendNote,
  sessionNote.writeSessionNote,
  memoryTool.useMemoryTool,
  hookOperations.recallForPrompt,
  hookOperations.captureMessages,
  keys.listKeys,
  keys.createKey,
  keys.revokeKey,
  keys.listOwners,
  allOwners.listAllOwners,
  keys.eraseOwner,
  keys.listAudit,
  system.getSystemStatus,
  system.checkIntegrity,
  system.repairIntegrity,
]

export function findOperation(name: string): Operation {
  const found = OPERATIONS.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`Unknown operation: ${name}.`)
  return found
}
