/** What is tried, as the address tells it, and what the server says to it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { type Search, textIn } from '../../app/search-params.ts'

type PreviewPath = paths['/api/memory/retrieve-preview']['post']
type PreviewBody = PreviewPath['requestBody']['content']['application/json']
export type Preview = PreviewPath['responses']['200']['content']['application/json']
export type Found = Preview['memories'][number]
type InjectionPath = paths['/api/memory/injection-preview']['post']
type InjectionBody = InjectionPath['requestBody']['content']['application/json']
export type Injection = InjectionPath['responses']['200']['content']['application/json']

/** Which of the two settings; the names of the second end in B. */
export type Side = 'A' | 'B'
export const SIDES: readonly Side[] = ['A', 'B']
export const TRIED = ['include', 'strategy', 'fusion', 'gate', 'maxTokens'] as const
export type Tried = (typeof TRIED)[number]
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

export function triedName(tried: Tried, side: Side): string {
  return side === 'A' ? tried : `${tried}B`
}

export function useSettings(owner: string) {
  return useQuery({
    queryKey: ['settings', owner, 'playground'],
    queryFn: () => data(api.GET('/api/settings/memory', { params: { query: { owner } } })),
  })
}
export type InForce = NonNullable<ReturnType<typeof useSettings>['data']>

export function usePreview(owner: string, search: Search, side: Side, inForce: InForce) {
  const body = {
    ...common(owner, search, side, inForce),
    ...given({ type: textIn(search, 'type'), category: textIn(search, 'category') }),
    ...given({ include: includeIn(search, side, inForce) }),
    ...given({ asOf: momentOf(textIn(search, 'asOf')) }),
    limit: RESULTS_MAX,
  } as PreviewBody // what the address says is text; the server checks it
  return useQuery({
    queryKey: ['memories', owner, 'preview', body],
    queryFn: () => data(api.POST('/api/memory/retrieve-preview', { body })),
    enabled: body.query !== '',
    placeholderData: keepPreviousData,
  })
}

export function useInjection(owner: string, search: Search, side: Side, inForce: InForce) {
  const gateMode = textIn(search, triedName('gate', side))
  const body = {
    ...common(owner, search, side, inForce),
    ...given({ gateMode, include: textIn(search, triedName('include', side)) }),
  } as InjectionBody // what the address says is text; the server checks it
  // A model that is asked costs something: not every change of a memory is a reason to ask again.
  const isCostly = (gateMode || inForce.relevanceGateMode) === 'llm'
  return useQuery({
    queryKey: [isCostly ? 'playground' : 'memories', owner, 'injection', body],
    queryFn: () => data(api.POST('/api/memory/injection-preview', { body })),
    enabled: body.query !== '',
    placeholderData: keepPreviousData,
  })
}

function common(owner: string, search: Search, side: Side, { contextTokensMax }: InForce) {
  const tokens = Number(textIn(search, triedName('maxTokens', side))) || contextTokensMax
  return {
    owner,
    query: textIn(search, 'q'),
    maxTokens: Math.min(TOKENS_MAX, Math.max(1, Math.floor(tokens))),
    ...given({
      strategy: textIn(search, triedName('strategy', side)),
      fusion: textIn(search, triedName('fusion', side)),
      user: textIn(search, 'user'),
      sessionId: textIn(search, 'sessionId'),
    }),
  }
}

/** Recall knows the setting only from the gateway. A filter for memories leaves out turns, unless they are chosen. */
function includeIn(search: Search, side: Side, { recallSources }: InForce): string {
  const isOfMemories = textIn(search, 'type') !== '' || textIn(search, 'category') !== ''
  return textIn(search, triedName('include', side)) || (isOfMemories ? '' : recallSources)
}

function given(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}

/** The address has the time as the clock on the wall shows it. */
function momentOf(local: string): string {
  const at = new Date(local)
  return local === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
