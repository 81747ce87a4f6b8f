/** Every command there is, in the order help lists them. */
import type { Command } from '../command.ts'
import { disable, edit, erase, forget, restore, undo } from './correcting.ts'
import { decrypt, encrypt, rekey } from './encryption.ts'
import { createHelp } from './help.ts'
import { exporting, importing } from './moving.ts'
import { get, history, list, search } from './reading.ts'
import { add, learn } from './remembering.ts'
import { serve } from './serving.ts'
import { backup, doctor, reindex, settings, status } from './upkeep.ts'

const WORKING: readonly Command[] = [
  add,
  learn,
  list,
  get,
  search,
  history,
  edit,
  disable,
  forget,
  restore,
  undo,
  erase,
  exporting,
  importing,
  backup,
  status,
  settings,
  reindex,
  doctor,
  encrypt,
  decrypt,
  rekey,
  serve,
]

export const COMMANDS: readonly Command[] = [...WORKING, createHelp(() => COMMANDS)]
