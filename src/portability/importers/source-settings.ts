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
  { path: 'memory.citations', read: to('files.citations') },
  { path: 'memory.backend', read: to('files.searchBackend') },
  { path: 'memory.qmd.searchMode', read: to('files.qmdMode') },
  { path: 'agents.defaults.userTimezone', read: to('files.timeZone') },
  { path: `${PLUGIN}.autoRecall`, read: to('hooks.recallEnabled') },
  { path: `${PLUGIN}.autoCapture`, read: to('hooks.captureEnabled') },
  { path: `${PLUGIN}.captureMaxChars`, read: to('hooks.captureCharactersMax') },
  { path: `${SEARCH}.query.hybrid.vectorWeight`, read: ignore('hybrid search weighs adaptively') },
  { path: `${SEARCH}.query.hybrid.textWeight`, read: ignore('hybrid search weighs adaptively') },
  {
    path: `${SEARCH}.query.hybrid.candidateMultiplier`,
    read: ignore('the number of candidates does not depend on the limit'),
  },
  { path: `${SEARCH}.sync`, read: ignore('changes are watched and every search is current') },
  { path: `${SEARCH}.cache`, read: ignore('vectors are always cached') },
  { path: `${SEARCH}.store`, read: ignore('the index is in the data folder') },
  { path: `${SEARCH}.sources`, read: ignore('roots are added with `recollect files add`') },
  { path: `${SEARCH}.extraPaths`, read: ignore('roots are added with `recollect files add`') },
  { path: 'memory.qmd.limits', read: ignore('`files.resultsMax` limits results') },
  { path: 'memory.qmd.update', read: ignore('the index is updated before a search') },
]

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
