/** Every command there is, in the order help lists them. */
import type { Command } from '../command.ts'
import { audit, keys, owners } from './access.ts'
import { backup, recover } from './backup.ts'
import { createCompletion } from './completion.ts'
import { connect } from './connect.ts'
import { disable, edit, restore, undo } from './correcting.ts'
import { demo } from './demo.ts'
import { decrypt, encrypt, rekey } from './encryption.ts'
import { files } from './files.ts'
import { createHelp, version } from './help.ts'
import { episodes, identity } from './keeping.ts'
import { ingest, signals } from './learning.ts'
import { consolidate, flush, jobs, review } from './lifecycle.ts'
import { migrate } from './migrating.ts'
import { exporting, importing } from './moving.ts'
import { get, history, list, search } from './reading.ts'
import { receipts } from './receipts.ts'
import { add, learn } from './remembering.ts'
import { clear, erase, forget } from './removing.ts'
import { mcp, serve } from './serving.ts'
import { agents, sessions } from './sessions.ts'
import { settings } from './settings.ts'
import { summarize } from './summarizing.ts'
import { bench, evaluate } from './tools.ts'
import { doctor, reindex, status } from './upkeep.ts'
import { vectors } from './vectors.ts'

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
