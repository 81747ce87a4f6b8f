/** Every command there is, in the order help lists them. */
import type { Command } from '../command.ts'
import { backup, recover } from './admin/backup-commands.ts'
import { decrypt, encrypt, rekey } from './admin/encryption-commands.ts'
import { exporting, importing } from './admin/import-export-commands.ts'
import { jobs } from './admin/job-commands.ts'
import { audit, keys, owners } from './admin/key-commands.ts'
import { doctor, reindex, status } from './admin/maintenance-commands.ts'
import { migrate } from './admin/migrate-command.ts'
import { settings } from './admin/settings-command.ts'
import { vectors } from './admin/vector-store-command.ts'
import { files } from './files/file-commands.ts'
import { consolidate, flush } from './learning/distillation-commands.ts'
import { episodes, identity } from './learning/episode-commands.ts'
import { ingest, signals } from './learning/ingest-commands.ts'
import { receipts } from './learning/receipt-commands.ts'
import { review } from './learning/review-commands.ts'
import { agents, sessions } from './learning/session-commands.ts'
import { add, learn } from './memories/add-commands.ts'
import { clear, erase, forget } from './memories/delete-commands.ts'
import { disable, edit, restore, undo } from './memories/edit-commands.ts'
import { get, history, list, search } from './memories/search-commands.ts'
import { summarize } from './memories/summarize-command.ts'
import { bench, evaluate } from './program/benchmark-commands.ts'
import { createCompletion } from './program/completion-command.ts'
import { connect } from './program/connect-command.ts'
import { demo } from './program/demo-command.ts'
import { createHelp, version } from './program/help-commands.ts'
import { mcp, serve } from './program/serve-commands.ts'

const WORKING: readonly Command[] = [
  add,
  learn,
  ingest,
  flush,
  identity,
  search,
  list,
  get,
  history,
  episodes,
  sessions,
  agents,
  files,
  edit,
  disable,
  forget,
  restore,
  undo,
  review,
  clear,
  erase,
  exporting,
  importing,
  migrate,
  serve,
  mcp,
  connect,
  keys,
  owners,
  audit,
  receipts,
  status,
  settings,
  jobs,
  signals,
  consolidate,
  summarize,
  reindex,
  vectors,
  doctor,
  backup,
  recover,
  encrypt,
  decrypt,
  rekey,
  demo,
  evaluate,
  bench,
]

export const COMMANDS: readonly Command[] = [
  ...WORKING,
  createCompletion(() => COMMANDS),
  version,
  createHelp(() => COMMANDS),
]
