/** All commands in the order of the help. */
import type { Command } from '../command.ts'
import { backupCommand, recoverCommand } from './admin/backup-commands.ts'
import { decryptCommand, encryptCommand, rekeyCommand } from './admin/encryption-commands.ts'
import { exportCommand, importCommand } from './admin/import-export-commands.ts'
import { jobsCommand } from './admin/job-commands.ts'
import { auditCommand, keysCommand, ownersCommand } from './admin/key-commands.ts'
import { doctorCommand, reindexCommand, statusCommand } from './admin/maintenance-commands.ts'
import { migrateCommand } from './admin/migrate-command.ts'
import { settingsCommand } from './admin/settings-command.ts'
import { vectorsCommand } from './admin/vector-store-command.ts'
import { filesCommand } from './files/file-commands.ts'
import { consolidateCommand, flushCommand } from './learning/distillation-commands.ts'
import { episodesCommand, identityCommand } from './learning/episode-commands.ts'
import { hookCommand } from './learning/hook-command.ts'
import { ingestCommand, signalsCommand } from './learning/ingest-commands.ts'
import { receiptsCommand } from './learning/receipt-commands.ts'
import { reviewCommand } from './learning/review-commands.ts'
import { agentsCommand, sessionsCommand } from './learning/session-commands.ts'
import { addCommand, learnCommand } from './memories/add-commands.ts'
import { clearCommand, eraseCommand, forgetCommand } from './memories/delete-commands.ts'
import {
  disableCommand,
  editCommand,
  restoreCommand,
  undoCommand,
} from './memories/edit-commands.ts'
import {
  getCommand,
  historyCommand,
  listCommand,
  searchCommand,
} from './memories/search-commands.ts'
import { summarizeCommand } from './memories/summarize-command.ts'
import { benchCommand, evalCommand } from './program/benchmark-commands.ts'
import { createCompletionCommand } from './program/completion-command.ts'
import { connectCommand } from './program/connect-command.ts'
import { demoCommand } from './program/demo-command.ts'
import { createHelpCommand, versionCommand } from './program/help-commands.ts'
import { mcpCommand, serveCommand } from './program/serve-commands.ts'

const WORKING: readonly Command[] = [
  addCommand,
  learnCommand,
  ingestCommand,
  flushCommand,
  identityCommand,
  searchCommand,
  listCommand,
  getCommand,
  historyCommand,
  episodesCommand,
  sessionsCommand,
  agentsCommand,
  filesCommand,
  editCommand,
  disableCommand,
  forgetCommand,
  restoreCommand,
  undoCommand,
  reviewCommand,
  clearCommand,
  eraseCommand,
  exportCommand,
  importCommand,
  migrateCommand,
  serveCommand,
  mcpCommand,
  connectCommand,
  hookCommand,
  keysCommand,
  ownersCommand,
  auditCommand,
  receiptsCommand,
  statusCommand,
  settingsCommand,
  jobsCommand,
  signalsCommand,
  consolidateCommand,
  summarizeCommand,
  reindexCommand,
  vectorsCommand,
  doctorCommand,
  backupCommand,
  recoverCommand,
  encryptCommand,
  decryptCommand,
  rekeyCommand,
  demoCommand,
  evalCommand,
  benchCommand,
]

export const COMMANDS: readonly Command[] = [
  ...WORKING,
  createCompletionCommand(() => COMMANDS),
  versionCommand,
  createHelpCommand(() => COMMANDS),
]
