/** The table: everything that can be done over a door. */
import * as background from './background.ts'
import * as instances from './instances.ts'
import * as keys from './keys.ts'
import * as lifecycle from './lifecycle.ts'
import * as memories from './memories.ts'
import * as moving from './moving.ts'
import type { Operation } from './operation.ts'
import * as reading from './reading.ts'
import * as receipts from './receipts.ts'
import * as settings from './settings.ts'
import * as system from './system.ts'

export const OPERATIONS: readonly Operation[] = [
  reading.listMemories,
  memories.addMemory,
  reading.clearMemories,
  reading.searchMemories,
  reading.previewRetrieval,
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
  moving.exportMemories,
  moving.importMemories,
  memories.getMemory,
  memories.updateMemory,
  memories.forgetMemory,
  memories.memoryHistory,
  memories.restoreMemory,
  memories.disableMemory,
  memories.eraseMemory,
  settings.getSettings,
  settings.changeSettings,
  instances.listInstanceMemories,
  instances.addInstanceMemory,
  instances.forgetInstanceMemory,
  instances.clearInstance,
  receipts.listReceipts,
  receipts.getReceipt,
  lifecycle.ingestConversation,
  lifecycle.flushSession,
  lifecycle.consolidateMemories,
  lifecycle.listConsolidations,
  background.listJobs,
  background.retryJob,
  background.cancelJob,
  background.listSignals,
  background.retrySignals,
  background.learningStatus,
  lifecycle.listReview,
  lifecycle.approveMemory,
  lifecycle.rejectMemory,
  lifecycle.recallForPrompt,
  lifecycle.captureMessages,
  keys.listKeys,
  keys.createKey,
  keys.revokeKey,
  keys.listOwners,
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
