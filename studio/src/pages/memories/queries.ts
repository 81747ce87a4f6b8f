/** Queries and mutations of memories. Every mutation except deletion offers undo. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ApiError, api, data, type Memory } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useMutations } from '../../app/mutations.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { useToast } from '../../ui/toast.tsx'
import { ANY_STATUS, STATUSES } from './memory-fields.ts'

type ListQuery = NonNullable<paths['/api/memory']['get']['parameters']['query']>
type SearchBody = paths['/api/memory/search']['post']['requestBody']['content']['application/json']

export const ROWS_PER_PAGE = 100
/** Used until the settings are loaded. */
const TRASH_DAYS_DEFAULT = 30
/** The largest result page of the search. */
const RESULTS_MAX = 100

export const FILTERS = [
  'type',
  'category',
  'status',
  'trust',
  'source',
  'importanceMin',
  'user',
  'sessionId',
  'createdFrom',
  'createdBefore',
] as const

export const SEARCH_MODES = ['exact', 'hybrid', 'semantic', 'keyword'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]

export function searchModeIn(search: SearchParams): SearchMode {
  return SEARCH_MODES.find((how) => how === search.mode) ?? 'exact'
}

/** The filters in the URL, as query parameters of the server. */
export function filtersIn(search: SearchParams): Partial<ListQuery> {
  const filters = FILTERS.map((name) => [name, textParam(search, name)] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => [name, filterOf(name, text)])
  return Object.fromEntries(filters) as Partial<ListQuery> // the server validates the values
}

function filterOf(name: (typeof FILTERS)[number], text: string) {
  // Request bodies require a number.
  if (name === 'importanceMin') return Number(text)
  return name === 'status' && text === ANY_STATUS ? STATUSES : text
}

export const ORDERS = [
  'newest',
  'oldest',
  'updated',
  'importance',
  'salience',
  'lastUsed',
  'mostUsed',
  'leastUsed',
] as const satisfies readonly ListQuery['order'][]
export type Order = (typeof ORDERS)[number]

export const ORDER_LABELS: Record<Order, MessageKey> = {
  newest: 'memories.sortNewest',
  oldest: 'memories.sortOldest',
  updated: 'memories.sortUpdated',
  importance: 'memories.sortImportance',
  salience: 'memories.sortSalience',
  lastUsed: 'memories.sortLastUsed',
  mostUsed: 'memories.sortMostUsed',
  leastUsed: 'memories.sortLeastUsed',
}

export function orderIn(search: SearchParams): Order {
  return ORDERS.find((order) => order === search.order) ?? 'newest'
}

/** The search parameters of an order; the default is omitted. Changing the order scrolls to the top. */
export function orderParams(order: Order): SearchParams {
  return { order: order === 'newest' ? undefined : order, row: undefined }
}

/** Query options of one page of the list. */
export function listPage(owner: string, search: SearchParams, page: number) {
  const q = textParam(search, 'q')
  const query = {
    owner,
    ...filtersIn(search),
    ...(q === '' ? {} : { q }),
    order: orderIn(search),
    limit: ROWS_PER_PAGE,
    offset: page * ROWS_PER_PAGE,
  }
  return {
    queryKey: ['memories', owner, query],
    queryFn: () => data(api.GET('/api/memory', { params: { query } })),
    placeholderData: keepPreviousData,
  }
}

/** The memories of all owners, for superadmins. */
export function useAllMemories(search: SearchParams) {
  const { user: _user, sessionId: _session, ...filters } = filtersIn(search)
  const q = textParam(search, 'q')
  const query = {
    ...filters,
    ...(q === '' ? {} : { q }),
    order: orderIn(search),
    limit: ROWS_PER_PAGE,
  }
  return useInfiniteQuery({
    queryKey: ['memories', 'allOwners', query],
    queryFn: ({ pageParam: after }) =>
      data(
        api.GET('/api/owners/memories', {
          params: { query: { ...query, ...(after === '' ? {} : { after }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
}

/** Whether the page shows ranked search results instead of the list. */
export function isRankedSearch(search: SearchParams): boolean {
  return searchModeIn(search) !== 'exact' && textParam(search, 'q') !== ''
}

function searchBody(owner: string, search: SearchParams): SearchBody {
  return {
    ...filtersIn(search),
    owner,
    query: textParam(search, 'q'),
    strategy: searchModeIn(search),
    limit: RESULTS_MAX,
    detail: 'full',
    includeSuspect: true,
    // Only memories: sessions have their own page.
    include: 'facts',
  } as SearchBody // filters in the URL are strings; the server validates them
}

export function searchMemories(owner: string, search: SearchParams) {
  return data(api.POST('/api/memory/search', { body: searchBody(owner, search) }))
}

type SearchResponse = Awaited<ReturnType<typeof searchMemories>>

export function memoriesIn({ results }: Pick<SearchResponse, 'results'>): readonly Memory[] {
  return results.flatMap(({ memory }) => (memory === undefined ? [] : [memory]))
}

/** The results of a ranked search. */
export function useMemorySearch(owner: string, search: SearchParams) {
  return useQuery({
    queryKey: ['memories', owner, 'search', searchBody(owner, search)],
    queryFn: () => searchMemories(owner, search),
    enabled: isRankedSearch(search),
    placeholderData: keepPreviousData,
  })
}

/** The number of days that memories stay in the trash. */
export function useTrashDays(owner: string): number {
  const { data: settings } = useQuery({
    queryKey: ['settings', 'bin', owner],
    queryFn: () => data(api.GET('/api/settings/memory', { params: { query: { owner } } })),
  })
  return settings?.['retention.trashDays'] ?? TRASH_DAYS_DEFAULT
}

export function useMemory(owner: string, id: string | null) {
  return useQuery({
    queryKey: ['memory', owner, id],
    queryFn: () =>
      data(
        api.GET('/api/memory/{id}', {
          params: { path: { id: id ?? '' }, query: { owner, includeTrash: true } },
        }),
      ),
    enabled: id !== null,
  })
}

/** Whether the memory is embedded. */
export function useVectorState(owner: string, { id, version }: Memory) {
  return useQuery({
    queryKey: ['memory', owner, id, 'vector', version],
    queryFn: () =>
      data(api.GET('/api/memory/{id}/vector', { params: { path: { id }, query: { owner } } })),
  })
}

export function useHistory(owner: string, id: string) {
  return useQuery({
    queryKey: ['memory', owner, id, 'history'],
    queryFn: () =>
      data(api.GET('/api/memory/{id}/history', { params: { path: { id }, query: { owner } } })),
  })
}

const USES_PER_PAGE = 20

/** Receipts of requests that received a memory, newest first. */
export function useMemoryReceipts(owner: string, memory: string) {
  return useInfiniteQuery({
    queryKey: ['receipts', owner, 'uses', memory],
    queryFn: ({ pageParam: after }) =>
      data(
        api.GET('/api/receipts', {
          params: {
            query: { owner, memory, limit: USES_PER_PAGE, ...(after === '' ? {} : { after }) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** Mutations of memories with toasts and undo. */
export function useActions(owner: string) {
  const { attempt, showUndoToast } = useMutations(owner, ['memories', 'memory', 'stats'])
  const showToast = useToast()
  const { t } = useI18n()
  const target = (id: string) => ({ params: { path: { id } }, body: { owner } })
  /** Applies a change to each memory in turn. Undo also covers changes made before a failure. */
  const applyToEach = async (
    ids: readonly string[],
    messageKey: MessageKey,
    change: (id: string) => Promise<{ readonly memory: Memory }>,
  ) => {
    const changes: string[] = []
    await attempt(async () => {
      for (const id of ids) changes.push((await change(id)).memory.change)
    })
    if (changes.length > 0) showUndoToast(t(messageKey, { count: changes.length }), changes)
  }
  return {
    attempt,
    showUndoToast,
    forget: (ids: readonly string[]) =>
      applyToEach(ids, 'memories.forgotten', (id) =>
        data(api.DELETE('/api/memory/{id}', { params: { path: { id }, query: { owner } } })),
      ),
    disable: (ids: readonly string[]) =>
      applyToEach(ids, 'memories.disabled', (id) =>
        data(api.POST('/api/memory/{id}/disable', target(id))),
      ),
    restore: (ids: readonly string[]) =>
      applyToEach(ids, 'memories.restored', (id) =>
        data(api.POST('/api/memory/{id}/restore', target(id))),
      ),
    restoreVersion: (memory: string, version: number) =>
      applyToEach([memory], 'memories.restored', (id) =>
        data(
          api.POST('/api/memory/{id}/restore', {
            params: { path: { id } },
            body: { owner, version },
          }),
        ),
      ),
    pin: (ids: readonly string[], pinned = true) =>
      applyToEach(ids, pinned ? 'memories.pinnedDone' : 'memories.unpinnedDone', (id) =>
        data(api.PATCH('/api/memory/{id}', { params: { path: { id } }, body: { owner, pinned } })),
      ),
    /** Resolves with whether the memory was deleted. */
    erase: async (id: string): Promise<boolean> => {
      const done = await attempt(() => data(api.POST('/api/memory/{id}/erase', target(id))))
      if (done !== null) showToast({ text: t('memories.erased') })
      return done !== null
    },
  }
}

/**
 * Whether a save failed because of a concurrent change. A conflict with a field is about its value, such as a
 * duplicate key.
 */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'conflict' && error.details.length === 0
}
