import type { MessageKey } from '../../i18n/catalog.ts'
import type { Stage } from './ranking-trail.ts'

export const STAGE_NAMES: Record<Stage, MessageKey> = {
  keyword: 'playground.stageKeyword',
  meaning: 'playground.stageVector',
  fuse: 'playground.stageFusion',
  match: 'playground.stageMatch',
  weigh: 'playground.stageBoost',
  rerank: 'playground.stageRerank',
  diversify: 'playground.stageDiversity',
  floor: 'playground.stageThreshold',
  fit: 'playground.stageBudget',
  recent: 'playground.stageRecent',
}

export const STAGE_HELP: Record<Stage, MessageKey> = {
  keyword: 'playground.helpKeyword',
  meaning: 'playground.helpVector',
  fuse: 'playground.helpFusion',
  match: 'playground.helpMatch',
  weigh: 'playground.helpBoost',
  rerank: 'playground.helpRerank',
  diversify: 'playground.helpDiversity',
  floor: 'playground.helpThreshold',
  fit: 'playground.helpBudget',
  recent: 'playground.helpRecent',
}
