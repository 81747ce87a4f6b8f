/** The operation table. */

import * as trying from './admin/diagnostics.ts'
import * as jobOperations from './admin/job-operations.ts'
import * as keys from './admin/key-operations.ts'
import * as describing from './admin/settings-description.ts'
import * as settings from './admin/settings-operations.ts'
import * as system from './admin/system-operations.ts'
import * as vectorStore from './admin/vector-store-operations.ts'
import * as hookOperations from './conversations/hook-operations.ts'
import * as receipts from './conversations/receipt-operations.ts'
import * as receiptStats from './conversations/receipt-statistics.ts'
import * as transcript from './conversations/session-operations.ts'
import * as fileContents from './files/file-index-operations.ts'
import * as files from './files/file-operations.ts'
import * as memoryTool from './files/memory-tool-operation.ts'
import * as flushing from './files/session-note-operation.ts'
import * as consolidationOperations from './learning/consolidation-operations.ts'
import * as lifecycle from './learning/distillation-operations.ts'
import * as episodes from './learning/episode-operations.ts'
import * as identity from './learning/identity-operations.ts'
import * as review from './learning/review-operations.ts'
import * as background from './learning/signal-operations.ts'
import * as everyone from './memories/all-owners.ts'
import * as moving from './memories/import-export-operations.ts'
import * as instances from './memories/instance-operations.ts'
import * as reading from './memories/memory-list-operations.ts'
import * as overview from './memories/memory-map-operations.ts'
import * as memories from './memories/memory-operations.ts'
import type { Operation } from './operation.ts'
import * as agents from './recall/agent-operations.ts'
import * as previewing from './recall/preview-operations.ts'
import * as searching from './recall/search-operations.ts'

export const OPERATIONS: readonly Operation[] = [
  reading.listMemories,
  memories.addMemory,
  reading.clearMemories,
  searching.searchMemories,
  previewing.previewRecall,
  previewing.previewContext,
  memories.learnMemories,
  memories.forgetMatching,
  memories.undoMemoryChange,
  memories.emptyTrash,
  reading.summarizeMemories,
  system.checkHealth,
  system.listEmbeddingProviders,
  system.getEngineStatus,
  system.reindex,
  system.getReindexStatus,
  trying.testEmbedding,
  trying.testRerank,
  trying.listModels,
  trying.testModel,
  moving.exportMemories,
  moving.importMemories,
  overview.listMemoryVectors,
  overview.getMemoryVector,
  overview.listMemoryEntities,
  overview.countMemoriesByDay,
  memories.getMemory,
  memories.updateMemory,
  memories.forgetMemory,
  memories.memoryHistory,
  memories.restoreMemory,
  memories.disableMemory,
  memories.eraseMemory,
  transcript.listMemorySources,
  describing.describeSettings,
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
  lifecycle.ingestConversation,
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
  transcript.listSessions,
  transcript.listTurns,
  transcript.forgetSession,
  transcript.getTurn,
  transcript.editTurn,
  transcript.disableTurn,
  transcript.restoreTurn,
  transcript.forgetTurn,
  lifecycle.flushSession,
  consolidationOperations.consolidateMemories,
  consolidationOperations.listConsolidations,
  jobOperations.listJobs,
  jobOperations.retryJob,
  jobOperations.cancelJob,
  background.listSignals,
  background.getSignal,
  background.forgetSignals,
  background.retrySignals,
  background.learningStatus,
  review.listReview,
  review.approveMemory,
  review.rejectMemory,
  review.listConflicts,
  review.resolveConflict,
  review.reconcileMemory,
  files.listRoots,
  files.addRoot,
  files.removeRoot,
  fileContents.listFiles,
  fileContents.listChunks,
  files.filesStatus,
  files.syncFiles,
  files.searchFiles,
  files.getFileText,
  files.appendNote,
  flushing.writeSessionNote,
  memoryTool.useMemoryTool,
  hookOperations.recallForPrompt,
  hookOperations.captureMessages,
  keys.listKeys,
  keys.createKey,
  keys.revokeKey,
  keys.listOwners,
  everyone.listAllOwners,
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
