/** Queries of the receipts page. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, data, type Receipt } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'

type ListQuery = NonNullable<paths['/api/receipts']['get']['parameters']['query']>
type StatsPath = paths['/api/receipts/stats']['get']
export type Stats = StatsPath['responses']['200']['content']['application/json']

const ROWS_PER_PAGE = 50
const DAY_MS = 86_400_000
export const PERIODS = [7, 30, 90] as const
export const FILTERS = ['q', 'skipped', 'model', 'user', 'sessionId'] as const

/** Labels of the skip reasons. */
export const REASONS: Record<NonNullable<ListQuery['skipped']>, MessageKey> = {
  none: 'receipts.skippedNone',
  'no-relevant-memories': 'receipts.skippedNoRelevantMemories',
  'not-needed': 'receipts.skippedNotNeeded',
  'no-budget': 'receipts.skippedNoBudget',
  'context-disabled': 'receipts.skippedContextDisabled',
  'no-user-message': 'receipts.skippedNoUserMessage',
  'no-insertion-point': 'receipts.skippedNoInsertionPoint',
  'memory-disabled': 'receipts.skippedMemoryDisabled',
  'dry-run': 'receipts.skippedDryRun',
  'too-large': 'receipts.skippedTooLarge',
  timeout: 'receipts.skippedTimeout',
  failed: 'receipts.skippedFailed',
  off: 'receipts.skippedMemoryOff',
}

export function reasonOf(skipped: string | null): MessageKey | null {
  const known: Readonly<Record<string, MessageKey>> = REASONS
  return known[skipped ?? 'none'] ?? null
}

export function periodIn(search: SearchParams): number {
  return PERIODS.find((days) => days === search.days) ?? 30
}

export function useReceipts(owner: string, search: SearchParams) {
  const filters = FILTERS.map((name) => [name, textParam(search, name)]).filter(
    ([, text]) => text !== '',
  )
  const query = {
    owner,
    limit: ROWS_PER_PAGE,
    withQuestion: true,
    ...Object.fromEntries(filters),
  } as ListQuery // the server validates it
  return useInfiniteQuery({
    queryKey: ['receipts', owner, 'list', query],
    queryFn: ({ pageParam }) =>
      data(
        api.GET('/api/receipts', {
          params: { query: { ...query, ...(pageParam === null ? {} : { after: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
}

export function useStats(owner: string, search: SearchParams) {
  const days = periodIn(search)
  const since = new Date(startOfDay(Date.now() - (days - 1) * DAY_MS)).toISOString()
  const user = textParam(search, 'user')
  const sessionId = textParam(search, 'sessionId')
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const query = {
    owner,
    since,
    timeZone,
    ...(user === '' ? {} : { user }),
    ...(sessionId === '' ? {} : { sessionId }),
  }
  return useQuery({
    queryKey: ['receipts', owner, 'stats', query],
    queryFn: () => data(api.GET('/api/receipts/stats', { params: { query } })),
    placeholderData: keepPreviousData,
  })
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0)
}

export function useReceipt(owner: string, id: string | null) {
  return useQuery({
    queryKey: ['receipts', owner, 'one', id],
    queryFn: () =>
      data(api.GET('/api/receipts/{id}', { params: { path: { id: id ?? '' }, query: { owner } } })),
    enabled: id !== null,
  })
}

/** Query options of a memory that a receipt refers to. */
export function memoryQuery(owner: string, id: string) {
  return {
    queryKey: ['memory', owner, id],
    queryFn: () =>
      data(
        api.GET('/api/memory/{id}', {
          params: { path: { id }, query: { owner, includeTrash: true } },
        }),
      ),
  }
}

export function useTurn(owner: string, id: string) {
  return useQuery({
    queryKey: ['turns', owner, id],
    queryFn: () => data(api.GET('/api/turns/{id}', { params: { path: { id }, query: { owner } } })),
  })
}

/** All days of a period, oldest first, including those without requests. */
export function daysOf(period: number): readonly string[] {
  const now = new Date()
  return Array.from({ length: period }, (_, index) => {
    const at = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (period - 1 - index))
    const two = (value: number) => String(value).padStart(2, '0')
    return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  })
}

export function memoriesIn({ injected, dryRun }: Receipt): readonly string[] {
  return (injected ?? dryRun)?.memories ?? []
}
