/** Queries of the playground, built from the parameters in the URL. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'

type PreviewPath = paths['/api/memory/retrieve-preview']['post']
type PreviewBody = PreviewPath['requestBody']['content']['application/json']
export type Preview = PreviewPath['responses']['200']['content']['application/json']
export type PreviewResult = Preview['memories'][number]
type ContextPath = paths['/api/memory/context-preview']['post']
type ContextBody = ContextPath['requestBody']['content']['application/json']
export type ContextPreviewData = ContextPath['responses']['200']['content']['application/json']

/** One of two configurations; the URL parameters of the second end in B. */
export type Side = 'A' | 'B'
export const SIDES: readonly Side[] = ['A', 'B']
export const CONFIG_PARAMS = ['include', 'strategy', 'fusion', 'gate', 'maxTokens'] as const
export type ConfigParam = (typeof CONFIG_PARAMS)[number]
export const FILTERS = ['type', 'category', 'user', 'sessionId', 'asOf'] as const
export type Filter = (typeof FILTERS)[number]

export const STRATEGIES: readonly Preview['resolution']['strategyUsed'][] = [
  'hybrid',
  'semantic',
  'keyword',
  'recent',
  'exact',
]
export const FUSIONS: readonly Preview['resolution']['fusionUsed'][] = [
  'adaptive',
  'rrf',
  'weighted',
]
export const GATES = ['off', 'heuristic', 'llm'] as const
export const SOURCES = ['both', 'facts', 'conversations'] as const

const RESULTS_MAX = 20
const TOKENS_MAX = 16_000

export function configParam(param: ConfigParam, side: Side): string {
  return side === 'A' ? param : `${param}B`
}

export function useSettings(owner: string) {
  return useQuery({
    queryKey: ['settings', owner, 'playground'],
    queryFn: () => data(api.GET('/api/settings/memory', { params: { query: { owner } } })),
  })
}
export type EffectiveSettings = NonNullable<ReturnType<typeof useSettings>['data']>

export function usePreview(
  owner: string,
  search: SearchParams,
  side: Side,
  effective: EffectiveSettings,
) {
  const body = {
    ...commonBody(owner, search, side, effective),
    ...nonEmpty({ type: textParam(search, 'type'), category: textParam(search, 'category') }),
    ...nonEmpty({ include: includeIn(search, side, effective) }),
    ...nonEmpty({ asOf: parseLocalTime(textParam(search, 'asOf')) }),
    limit: RESULTS_MAX,
  } as PreviewBody // parameters in the URL are strings; the server validates them
  return useQuery({
    queryKey: ['memories', owner, 'preview', body],
    queryFn: () => data(api.POST('/api/memory/retrieve-preview', { body })),
    enabled: body.query !== '',
    placeholderData: keepPreviousData,
  })
}

export function useContextPreview(
  owner: string,
  search: SearchParams,
  side: Side,
  effective: EffectiveSettings,
) {
  const gateMode = textParam(search, configParam('gate', side))
  const body = {
    ...commonBody(owner, search, side, effective),
    ...nonEmpty({ gateMode, include: textParam(search, configParam('include', side)) }),
  } as ContextBody // parameters in the URL are strings; the server validates them
  // Model calls cost tokens, so changes of memories do not invalidate this query.
  const usesModel = (gateMode || effective['gateway.gateMode']) === 'llm'
  return useQuery({
    queryKey: [usesModel ? 'playground' : 'memories', owner, 'injection', body],
    queryFn: () => data(api.POST('/api/memory/context-preview', { body })),
    enabled: body.query !== '',
    placeholderData: keepPreviousData,
  })
}

function commonBody(owner: string, search: SearchParams, side: Side, effective: EffectiveSettings) {
  const tokens =
    Number(textParam(search, configParam('maxTokens', side))) ||
    effective['gateway.contextTokensMax']
  return {
    owner,
    query: textParam(search, 'q'),
    maxTokens: Math.min(TOKENS_MAX, Math.max(1, Math.floor(tokens))),
    ...nonEmpty({
      strategy: textParam(search, configParam('strategy', side)),
      fusion: textParam(search, configParam('fusion', side)),
      user: textParam(search, 'user'),
      sessionId: textParam(search, 'sessionId'),
    }),
  }
}

/**
 * The setting applies to the gateway only, so it is passed explicitly. Type and category filters exclude turns unless
 * selected.
 */
function includeIn(search: SearchParams, side: Side, effective: EffectiveSettings): string {
  const filtersMemories = textParam(search, 'type') !== '' || textParam(search, 'category') !== ''
  return (
    textParam(search, configParam('include', side)) ||
    (filtersMemories ? '' : effective['gateway.contextSources'])
  )
}

function nonEmpty(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}

/** The URL holds local time; the server expects UTC. */
function parseLocalTime(local: string): string {
  const at = new Date(local)
  return local === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
