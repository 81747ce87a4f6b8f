/** The table: everything that can be done over a door. */
import * as agents from './agents.ts'
import * as background from './background.ts'
import * as describing from './describing.ts'
import * as episodes from './episodes.ts'
import * as everyone from './everyone.ts'
import * as fileContents from './file-contents.ts'
import * as files from './files.ts'
import * as flushing from './flushing.ts'
import * as identity from './identity.ts'
import * as instances from './instances.ts'
import * as keys from './keys.ts'
import * as lifecycle from './lifecycle.ts'
import * as memories from './memories.ts'
import * as memoryTool from './memory-tool.ts'
import * as moving from './moving.ts'
import type { Operation } from './operation.ts'
import * as overview from './overview.ts'
import * as previewing from './previewing.ts'
import * as reading from './reading.ts'
import * as receiptStats from './receipt-stats.ts'
import * as receipts from './receipts.ts'
import * as review from './review.ts'
import * as searching from './searching.ts'
import * as settings from './settings.ts'
import * as system from './system.ts'
import * as transcript from './transcript.ts'
import * as trying from './trying.ts'
import * as vectorStore from './vector-store.ts'

export const OPERATIONS: readonly Operation[] = [
  reading.listMemories,
  memories.addMemory,
  reading.clearMemories,
  searching.searchMemories,
  previewing.previewRetrieval,
  previewing.previewInjection,
  memories.learnMemories,
  memories.forgetBy,
  memories.undoChange,
  memories.emptyBin,
  reading.summarizeMemories,
  system.checkHealth,
  system.listEmbeddingProviders,
  system.engineStatus,
  system.reindex,
  system.reindexStatus,
  trying.testEmbedding,
  trying.testRerank,
  trying.listModels,
  trying.testModel,
  moving.exportMemories,
  moving.importMemories,
  overview.memoryVectors,
  overview.memoryVector,
  overview.memoryEntities,
  overview.memoryDays,
  memories.getMemory,
  memories.updateMemory,
  memories.forgetMemory,
  memories.memoryHistory,
  memories.restoreMemory,
  memories.disableMemory,
  memories.eraseMemory,
  transcript.memorySources,
  describing.describeSettings,
  settings.getSettings,
  settings.changeSettings,
  vectorStore.getQdrant,
  vectorStore.changeQdrant,
  vectorStore.qdrantHealth,
  vectorStore.qdrantSearch,
  vectorStore.qdrantCleanup,
  vectorStore.qdrantModels,
  instances.listInstanceMemories,
  instances.addInstanceMemory,
  instances.forgetInstanceMemory,
  instances.clearInstance,
  receipts.listReceipts,
  receiptStats.receiptStats,
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
  lifecycle.consolidateMemories,
  lifecycle.listConsolidations,
  background.listJobs,
  background.retryJob,
  background.cancelJob,
  background.listSignals,
  background.getSignal,
  background.forgetSignals,
  background.retrySignals,
  background.learningStatus,
  lifecycle.listReview,
  lifecycle.approveMemory,
  lifecycle.rejectMemory,
  review.listConflicts,
  review.settleConflict,
  review.reconcileMemory,
  files.listRoots,
  files.addRoot,
  files.removeRoot,
  fileContents.listFiles,
  fileContents.listPieces,
  files.filesStatus,
  files.syncFiles,
  files.searchFiles,
  files.getFileText,
  files.appendNote,
  flushing.flushToFiles,
  memoryTool.useMemoryTool,
  lifecycle.recallForPrompt,
  lifecycle.captureMessages,
  keys.listKeys,
  keys.createKey,
  keys.revokeKey,
  keys.listOwners,
  everyone.listEveryone,
  keys.eraseOwner,
  keys.listAudit,
  system.systemStatus,
  system.doctor,
  system.repair,
]

export function operationNamed(name: string): Operation {
  const found = OPERATIONS.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`There is no operation ${name}.`)
  return found
}
