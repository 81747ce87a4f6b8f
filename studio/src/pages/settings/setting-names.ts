/** The names of settings in the language of the reader, and the topics under which a search finds them. */
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'

const NAMES: Readonly<Record<string, MessageKey>> = {
  'gateway.enabled': 'settingName.gatewayEnabled',
  'gateway.contextEnabled': 'settingName.gatewayContextEnabled',
  'gateway.dryRun': 'settingName.gatewayDryRun',
  'gateway.contextPosition': 'settingName.gatewayContextPosition',
  'gateway.contextTimeoutMs': 'settingName.gatewayContextTimeoutMs',
  'gateway.contextTokensMax': 'settingName.gatewayContextTokensMax',
  'gateway.contextSources': 'settingName.gatewayContextSources',
  'gateway.excerptCharactersMax': 'settingName.gatewayExcerptCharactersMax',
  'gateway.gateMode': 'settingName.gatewayGateMode',
  'gateway.gateModel': 'settingName.gatewayGateModel',
  'gateway.memoryToolsEnabled': 'settingName.gatewayMemoryToolsEnabled',
  'gateway.embeddingFallbackEnabled': 'settingName.gatewayEmbeddingFallbackEnabled',
  'recall.scope': 'settingName.recallScope',
  'recall.sharedMemoryEnabled': 'settingName.recallSharedMemoryEnabled',
  'recall.limit': 'settingName.recallLimit',
  'recall.strategy': 'settingName.recallStrategy',
  'recall.fusion': 'settingName.recallFusion',
  'recall.rrfK': 'settingName.recallRrfK',
  'recall.vectorWeight': 'settingName.recallVectorWeight',
  'recall.vectorCandidates': 'settingName.recallVectorCandidates',
  'recall.minTopSimilarity': 'settingName.recallMinTopSimilarity',
  'recall.minSimilarity': 'settingName.recallMinSimilarity',
  'recall.halfLifeDays': 'settingName.recallHalfLifeDays',
  'recall.recencyWeight': 'settingName.recallRecencyWeight',
  'recall.importanceWeight': 'settingName.recallImportanceWeight',
  'recall.mmrLambda': 'settingName.recallMmrLambda',
  'recall.retrieverTimeoutMs': 'settingName.recallRetrieverTimeoutMs',
  'recall.rerankEnabled': 'settingName.recallRerankEnabled',
  'recall.rerankCandidates': 'settingName.recallRerankCandidates',
  'recall.rerankModel': 'settingName.recallRerankModel',
  'memory.similarMemoriesMax': 'settingName.memorySimilarMemoriesMax',
  'memory.reinforcementRate': 'settingName.memoryReinforcementRate',
  'learning.enabled': 'settingName.learningEnabled',
  'learning.toolResultsEnabled': 'settingName.learningToolResultsEnabled',
  'learning.extractionMode': 'settingName.learningExtractionMode',
  'learning.extractionModel': 'settingName.learningExtractionModel',
  'learning.modelTokensPerDay': 'settingName.learningModelTokensPerDay',
  'learning.debounceSeconds': 'settingName.learningDebounceSeconds',
  'learning.compactionReserveTokens': 'settingName.learningCompactionReserveTokens',
  'learning.consolidationIntervalHours': 'settingName.learningConsolidationIntervalHours',
  'retention.trashDays': 'settingName.retentionTrashDays',
  'retention.unusedDays': 'settingName.retentionUnusedDays',
  'retention.minSalience': 'settingName.retentionMinSalience',
  'retention.episodeDays': 'settingName.retentionEpisodeDays',
  'retention.turnDays': 'settingName.retentionTurnDays',
  'retention.receiptsMax': 'settingName.retentionReceiptsMax',
  'retention.receiptDays': 'settingName.retentionReceiptDays',
  'retention.auditDays': 'settingName.retentionAuditDays',
  'hooks.recallEnabled': 'settingName.hooksRecallEnabled',
  'hooks.captureEnabled': 'settingName.hooksCaptureEnabled',
  'hooks.captureCharactersMax': 'settingName.hooksCaptureCharactersMax',
  'embedding.source': 'settingName.embeddingSource',
  'embedding.model': 'settingName.embeddingModel',
  'embedding.localEnabled': 'settingName.embeddingLocalEnabled',
  'embedding.staticEnabled': 'settingName.embeddingStaticEnabled',
  'vectorStore.backend': 'settingName.vectorStoreBackend',
  'vectorStore.qdrantUrl': 'settingName.vectorStoreQdrantUrl',
  'vectorStore.qdrantQuantization': 'settingName.vectorStoreQdrantQuantization',
  'vectorStore.qdrantCollectionPrefix': 'settingName.vectorStoreQdrantCollectionPrefix',
  'vectorStore.lancedbFolder': 'settingName.vectorStoreLancedbFolder',
  'files.chunkTokens': 'settingName.filesChunkTokens',
  'files.chunkOverlapTokens': 'settingName.filesChunkOverlapTokens',
  'files.minScore': 'settingName.filesMinScore',
  'files.resultsMax': 'settingName.filesResultsMax',
  'files.fusion': 'settingName.filesFusion',
  'files.halfLifeDays': 'settingName.filesHalfLifeDays',
  'files.mmrLambda': 'settingName.filesMmrLambda',
  'files.citations': 'settingName.filesCitations',
  'files.redactEmails': 'settingName.filesRedactEmails',
  'files.timeZone': 'settingName.filesTimeZone',
  'files.memoryFileSync': 'settingName.filesMemoryFileSync',
  'files.sizeBytesMax': 'settingName.filesSizeBytesMax',
  'files.batchEmbeddingEnabled': 'settingName.filesBatchEmbeddingEnabled',
  'files.searchBackend': 'settingName.filesSearchBackend',
  'files.qmdMode': 'settingName.filesQmdMode',
  'files.failClosed': 'settingName.filesFailClosed',
  'server.requestsPerMinute': 'settingName.serverRequestsPerMinute',
}

const TOPICS: readonly { readonly words: MessageKey; readonly settings: RegExp }[] = [
  {
    words: 'settings.topicCost',
    settings:
      /Tokens|^gateway\.(enabled|dryRun|gate|excerpt|contextSources)|^learning\.(enabled|extraction)|rerank|batchEmbedding/,
  },
  {
    words: 'settings.topicPrivacy',
    settings:
      /^retention\.|redact|^learning\.(enabled|toolResults)|shared|capture|^embedding\.source/,
  },
  { words: 'settings.topicSpeed', settings: /Timeout|Candidates|rerank|gate|qdrant|vectorStore/ },
  {
    words: 'settings.topicQuality',
    settings: /Similarity|rerank|fusion|Weight|embedding|mmrLambda|minScore/,
  },
]

export type SettingText = {
  /** The name for people; the code name of settings that have none. */
  readonly title: string
  /** What a search matches, besides name and help. */
  readonly searched: string
}

export function useSettingText(): (name: string) => SettingText {
  const { t } = useI18n()
  return (name) => {
    const key = NAMES[name]
    const title = key === undefined ? name : t(key)
    const topics = TOPICS.filter(({ settings }) => settings.test(name)).map(({ words }) => t(words))
    return { title, searched: [title, ...topics].join(' ') }
  }
}
