/** Which settings stand together. One that is in none of them stands at the end. */
import type { MessageKey } from '../../i18n/catalog.ts'
import type { Setting } from './queries.ts'

type Group = {
  readonly id: string
  readonly title: MessageKey
  readonly names: readonly string[]
}

const GROUPS: readonly Group[] = [
  {
    id: 'gateway',
    title: 'settings.groupGateway',
    names: [
      'enabled',
      'inject',
      'extract',
      'shadow',
      'contextTokensMax',
      'recallSources',
      'excerptCharacters',
      'injectPosition',
      'injectDeadlineMs',
      'relevanceGateMode',
      'skillsEnabled',
      'extractToolResults',
    ],
  },
  {
    id: 'programs',
    title: 'settings.groupHooks',
    names: ['autoRecall', 'autoCapture', 'captureMaxChars'],
  },
  {
    id: 'recall',
    title: 'settings.groupRecall',
    names: ['recallLimit', 'recallScope', 'sharedMemory', 'strategy', 'legDeadlineMs'],
  },
  {
    id: 'ranking',
    title: 'settings.groupRanking',
    names: [
      'fusion',
      'rrfK',
      'meaningWeight',
      'vectorCandidates',
      'answerFloor',
      'memberFloor',
      'halfLifeDays',
      'ageWeight',
      'importanceWeight',
      'mmrLambda',
      'rerankEnabled',
      'rerankCandidates',
      'rerankProviderModel',
    ],
  },
  {
    id: 'learning',
    title: 'settings.groupLearning',
    names: [
      'coreModel',
      'fastModel',
      'modelTokensPerDay',
      'extractionMode',
      'summaryDebounceSeconds',
      'neighboursMax',
      'reinforcement',
    ],
  },
  {
    id: 'keeping',
    title: 'settings.groupRetention',
    names: [
      'consolidationIntervalHours',
      'salienceFloor',
      'retentionDays',
      'episodeRetentionDays',
      'turnRetentionDays',
      'binDays',
      'receiptsMax',
      'receiptDays',
      'auditDays',
    ],
  },
  {
    id: 'vectors',
    title: 'settings.groupEmbedding',
    names: [
      'embeddingSource',
      'embeddingProviderModel',
      'transformersEnabled',
      'staticEnabled',
      'vectorStore',
      'qdrantUrl',
      'qdrantQuantization',
      'qdrantPrefix',
      'lancedbFolder',
    ],
  },
  {
    id: 'files',
    title: 'settings.groupFiles',
    names: [
      'fileBackend',
      'fileBackendFailClosed',
      'fileMaxResults',
      'fileMinScore',
      'fileCitations',
      'timeZone',
      'redactMails',
      'fileMirror',
      'fileEmbeddingBatches',
      'fileFusion',
      'fileDecayHalfLifeDays',
      'fileMmrLambda',
      'fileChunkTokens',
      'fileChunkOverlap',
      'fileSizeMaxBytes',
    ],
  },
  { id: 'server', title: 'settings.groupServer', names: ['requestsPerMinute'] },
]

export type Grouped = {
  readonly id: string
  readonly title: MessageKey
  readonly settings: readonly Setting[]
}

export function grouped(settings: readonly Setting[]): readonly Grouped[] {
  const placed = new Set(GROUPS.flatMap(({ names }) => names))
  const groups = GROUPS.map(({ id, title, names }) => ({
    id,
    title,
    settings: names.flatMap((name) => settings.find((setting) => setting.name === name) ?? []),
  }))
  const rest = settings.filter(({ name }) => !placed.has(name))
  return [...groups, { id: 'other', title: 'settings.groupOther' as const, settings: rest }].filter(
    (group) => group.settings.length > 0,
  )
}
