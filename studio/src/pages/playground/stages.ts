import type { MessageKey } from '../../i18n/catalog.ts'
import type { Stage } from './trail.ts'

export const STAGE_NAMES: Record<Stage, MessageKey> = {
  keyword: 'playground.stageKeyword',
  meaning: 'playground.stageMeaning',
  fuse: 'playground.stageFuse',
  match: 'playground.stageMatch',
  weigh: 'playground.stageWeigh',
  rerank: 'playground.stageRerank',
  diversify: 'playground.stageDiversify',
  floor: 'playground.stageFloor',
  fit: 'playground.stageFit',
  recent: 'playground.stageRecent',
}

export const STAGE_HELP: Record<Stage, MessageKey> = {
  keyword: 'playground.helpKeyword',
  meaning: 'playground.helpMeaning',
  fuse: 'playground.helpFuse',
  match: 'playground.helpMatch',
  weigh: 'playground.helpWeigh',
  rerank: 'playground.helpRerank',
  diversify: 'playground.helpDiversify',
  floor: 'playground.helpFloor',
  fit: 'playground.helpFit',
  recent: 'playground.helpRecent',
}
