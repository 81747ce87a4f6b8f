import type { MessageKey } from '../../i18n/catalog.ts'
import type { Stage } from './ranking-trail.ts'

export const STAGE_NAMES: Record<Stage, MessageKey> = {
  keyword: 'playground.stageKeyword',
  vector: 'playground.stageVector',
  fusion: 'playground.stageFusion',
  'question-match': 'playground.stageMatch',
  boost: 'playground.stageBoost',
  rerank: 'playground.stageRerank',
  diversity: 'playground.stageDiversity',
  threshold: 'playground.stageThreshold',
  fit: 'playground.stageBudget',
  recent: 'playground.stageRecent',
}

export const STAGE_HELP: Record<Stage, MessageKey> = {
  keyword: 'playground.helpKeyword',
  vector: 'playground.helpVector',
  fusion: 'playground.helpFusion',
  'question-match': 'playground.helpMatch',
  boost: 'playground.helpBoost',
  rerank: 'playground.helpRerank',
  diversity: 'playground.helpDiversity',
  threshold: 'playground.helpThreshold',
  fit: 'playground.helpBudget',
  recent: 'playground.helpRecent',
}
