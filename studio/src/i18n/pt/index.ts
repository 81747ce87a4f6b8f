import type { Catalogue } from '../catalogue.ts'
import { access } from './access.ts'
import { audit } from './audit.ts'
import { common } from './common.ts'
import { engine } from './engine.ts'
import { files } from './files.ts'
import { jobs } from './jobs.ts'
import { map } from './map.ts'
import { memories } from './memories.ts'
import { playground } from './playground.ts'
import { receipts } from './receipts.ts'
import { review } from './review.ts'
import { sessions } from './sessions.ts'
import { settings } from './settings.ts'
import { shell } from './shell.ts'
import { timeline } from './timeline.ts'

export const messages: Catalogue = {
  shell,
  common,
  memories,
  playground,
  timeline,
  map,
  sessions,
  review,
  files,
  receipts,
  engine,
  settings,
  access,
  jobs,
  audit,
}
