/** Settings of other systems as settings of ours: Osaurus's `memory.json` and OpenClaw's configuration. */
import {
  SETTINGS,
  type SettingDeclaration,
  type SettingName,
} from '../../domain/settings/settings.ts'
import { isList, isObject, type Json, type JsonObject } from '../../lib/json.ts'
import type { ImportedSettings } from './foreign-record.ts'

type Mapping = {
  /** The path in the source, separated by dots. */
  readonly path: string
  /** Null when the value has no counterpart; the reason is reported. */
  readonly read: (value: Json) => readonly (readonly [SettingName, Json])[] | string
}

const to =
  (name: SettingName) =>
  (value: Json): readonly (readonly [SettingName, Json])[] => [[name, clamp(name, value)]]

const ignore = (reason: string) => () => reason

const OSAURUS: readonly Mapping[] = [
  { path: 'enabled', read: to('gateway.enabled') },
  {
    path: 'embeddingBackend',
    read: (value) => [['embedding.source', value === 'none' ? 'none' : 'auto']],
  },
  { path: 'embeddingModel', read: ignore('it names a model of another runtime') },
  { path: 'extractionMode', read: to('learning.extractionMode') },
  { path: 'relevanceGateMode', read: to('gateway.gateMode') },
  { path: 'memoryBudgetTokens', read: to('gateway.contextTokensMax') },
  { path: 'summaryDebounceSeconds', read: to('learning.debounceSeconds') },
  { path: 'consolidationIntervalHours', read: to('learning.consolidationIntervalHours') },
  { path: 'salienceFloor', read: to('retention.minSalience') },
  { path: 'episodeRetentionDays', read: to('retention.episodeDays') },
]

const SEARCH = 'agents.defaults.memorySearch'
const PLUGIN = 'plugins.entries.memory-lancedb.config'
/** The models that OpenClaw uses where only a provider is named. */
const DEFAULT_MODELS: { readonly [provider: string]: string } = {
  openai: 'text-embedding-3-small',
  gemini: 'gemini-embedding-001',
  voyage: 'voyage-4-large',
}
const REMOTE_PROVIDERS = ['openai', 'gemini', 'voyage', 'mistral']

const OPENCLAW: readonly Mapping[] = [
  { path: `${SEARCH}.chunking.tokens`, read: to('files.chunkTokens') },
  { path: `${SEARCH}.chunking.overlap`, read: to('files.chunkOverlapTokens') },
  { path: `${SEARCH}.query.maxResults`, read: to('files.resultsMax') },
  { path: `${SEARCH}.query.minScore`, read: to('files.minScore') },
  {
    path: `${SEARCH}.query.hybrid.mmr`,
    read: (value) => [
      ['files.mmrLambda', isOn(value) ? numberIn(value, 'lambda', 0.7) : 1] as const,
    ],
  },
  {
    path: `${SEARCH}.query.hybrid.temporalDecay`,
    read: (value) => [
      ['files.halfLifeDays', isOn(value) ? numberIn(value, 'halfLifeDays', 30) : 0] as const,
    ],
  },
  {
    path: `${SEARCH}.provider`,
    read: (value) =>
      value === 'local'
        ? [['embedding.source', 'transformers']]
        : value === 'none'
          ? [['embedding.source', 'none']]
          : value === 'auto' || REMOTE_PROVIDERS.includes(String(value))
            ? []
            : 'this embedding service is not supported',
  },
  {
    path: `${SEARCH}.fallback`,
    read: (value) => {
      if (value === 'none') return []
      const model = DEFAULT_MODELS[String(value)]
      return model === undefined
        ? 'this embedding service is not supported'
        : [['embedding.fallbackModel', `${String(value)}/${model}`]]
    },
  },
  { path: 'memory.citations', read: to('files.citations') },
  { path: 'memory.backend', read: to('files.searchBackend') },
  { path: 'memory.qmd.searchMode', read: to('files.qmdMode') },
  { path: 'agents.defaults.userTimezone', read: to('files.timeZone') },
  { path: `${PLUGIN}.autoRecall`, read: to('hooks.recallEnabled') },
  { path: `${PLUGIN}.autoCapture`, read: to('hooks.captureEnabled') },
  { path: `${PLUGIN}.captureMaxChars`, read: to('hooks.captureCharactersMax') },
  { path: `${SEARCH}.query.hybrid.vectorWeight`, read: ignore('hybrid search weighs adaptively') },
  { path: `${SEARCH}.query.hybrid.textWeight`, read: ignore('hybrid search weighs adaptively') },
  { path: `${SEARCH}.query.hybrid.candidateMultiplier`, read: to('files.candidateMultiplier') },
  { path: `${SEARCH}.sync.watch`, read: to('files.watch') },
  { path: `${SEARCH}.sync.watchDebounceMs`, read: to('files.watchDebounceMs') },
  { path: `${SEARCH}.sync.onSearch`, read: to('files.syncOnSearch') },
  { path: `${SEARCH}.sync.onSessionStart`, read: to('files.syncOnSessionStart') },
  { path: `${SEARCH}.sync.intervalMinutes`, read: to('files.syncIntervalMinutes') },
  { path: `${SEARCH}.sync.sessions.deltaBytes`, read: to('files.sessionDeltaBytes') },
  { path: `${SEARCH}.sync.sessions.deltaMessages`, read: to('files.sessionDeltaMessages') },
  { path: `${SEARCH}.cache.enabled`, read: to('files.vectorCacheEnabled') },
  { path: `${SEARCH}.cache.maxEntries`, read: ignore('the cache is limited by its size') },
  {
    path: 'agents.defaults.compaction',
    read: (value) => [['learning.compactionReserveTokens', readCompactionReserve(value)]],
  },
  { path: `${SEARCH}.store`, read: ignore('the index is in the data folder') },
  { path: `${SEARCH}.sources`, read: ignore('roots are added with `recollect files add`') },
  { path: `${SEARCH}.extraPaths`, read: ignore('roots are added with `recollect files add`') },
  { path: 'memory.qmd.limits.maxResults', read: to('files.resultsMax') },
  { path: 'memory.qmd.limits.maxSnippetChars', read: to('files.snippetCharactersMax') },
  { path: 'memory.qmd.limits.maxInjectedChars', read: to('files.resultCharactersMax') },
  { path: 'memory.qmd.limits.timeoutMs', read: to('files.qmdTimeoutMs') },
  {
    path: 'memory.qmd.update.interval',
    read: (value) => {
      const minutes = readMinutes(value)
      return minutes === null
        ? 'it is not a duration'
        : [['files.qmdUpdateMinutes', clamp('files.qmdUpdateMinutes', minutes)]]
    },
  },
]

/** Their defaults: what is kept free, and how long before that memory is flushed. */
const RESERVE_TOKENS = 20_000
const SOFT_THRESHOLD_TOKENS = 4_000

function readCompactionReserve(value: Json): number {
  const flush = isObject(value) && isObject(value.memoryFlush) ? value.memoryFlush : {}
  if (flush.enabled === false) return 0
  return (
    numberIn(value, 'reserveTokensFloor', RESERVE_TOKENS) +
    numberIn(flush, 'softThresholdTokens', SOFT_THRESHOLD_TOKENS)
  )
}

const MINUTES: { readonly [unit: string]: number } = {
  ms: 1 / 60_000,
  s: 1 / 60,
  m: 1,
  h: 60,
  d: 1_440,
}

/** A duration such as `5m`; without a unit, minutes. */
function readMinutes(value: Json): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(String(value))
  if (match === null) return null
  return Math.max(1, Math.round(Number(match[1]) * (MINUTES[match[2] ?? 'm'] ?? 1)))
}

export function readOsaurusSettings(value: unknown): ImportedSettings {
  return readSettings('osaurus', OSAURUS, value)
}

export function readOpenclawSettings(value: unknown): ImportedSettings {
  const settings = readSettings('openclaw', OPENCLAW, value)
  const provider = getPath(value, `${SEARCH}.provider`)
  const model = getPath(value, `${SEARCH}.model`)
  if (!REMOTE_PROVIDERS.includes(String(provider)) || typeof model !== 'string') return settings
  const values = { ...settings.values, 'embedding.model': `${String(provider)}/${model}` }
  return { ...settings, values }
}

function readSettings(
  system: ImportedSettings['system'],
  mappings: readonly Mapping[],
  source: unknown,
): ImportedSettings {
  const values: Record<string, Json> = {}
  const ignored: { name: string; reason: string }[] = []
  for (const { path, read } of mappings) {
    const value = getPath(source, path)
    if (value === undefined || value === null) continue
    const result = read(value)
    if (typeof result === 'string') ignored.push({ name: path, reason: result })
    else Object.assign(values, Object.fromEntries(result))
  }
  const overlap = values['files.chunkOverlapTokens']
  const size = values['files.chunkTokens'] ?? SETTINGS['files.chunkTokens'].default
  if (typeof overlap === 'number' && typeof size === 'number' && overlap >= size) {
    values['files.chunkOverlapTokens'] = size - 1
  }
  return { kind: 'settings', system, at: 1, name: 'settings', values, ignored }
}

function getPath(value: unknown, path: string): Json | undefined {
  let at: unknown = value
  for (const name of path.split('.')) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at as Json // part of a JSON value
}

function isOn(value: Json): boolean {
  return isObject(value) && value.enabled === true
}

function numberIn(value: Json, name: string, otherwise: number): number {
  const number = isObject(value) ? (value as JsonObject)[name] : undefined // checked on the line
  return typeof number === 'number' ? number : otherwise
}

/** The other systems clamp numbers as well. Values of another type are refused when they are stored. */
function clamp(name: SettingName, value: Json): Json {
  const declaration: SettingDeclaration = SETTINGS[name]
  if (declaration.kind !== 'number' || typeof value !== 'number')
    return isList(value) ? null : value
  const number = Math.min(declaration.max, Math.max(declaration.min, value))
  return declaration.step === 'integer' ? Math.round(number) : number
}
