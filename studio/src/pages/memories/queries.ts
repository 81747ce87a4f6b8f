/** Queries and mutations of memories. Every mutation except deletion offers undo. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ApiError, api, data, type Memory } from '../../api/client.ts'
import { postWithProgress } from '../../api/lines.ts'
import type { paths } from '../../api/types.ts'
import { useBulkWork } from '../../app/bulk-work.tsx'
import { useMutations } from '../../app/mutations.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
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
export const RESULTS_MAX = 100

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

/** The default first. */
export const SEARCH_MODES = ['hybrid', 'exact', 'semantic', 'keyword'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]

export function searchModeIn(search: SearchParams): SearchMode {
  return SEARCH_MODES.find((how) => how === search.mode) ?? SEARCH_MODES[0]
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
    // The trail tells which results are below the threshold.
    detail: 'explain',
    includeBelowThreshold: true,
    includeSuspect: true,
    // Only memories: sessions have their own page.
    include: 'facts',
  } as SearchBody // filters in the URL are strings; the server validates them
}

export type SearchResults = {
  /** Best first; exact matches that the search has missed come before weak matches. */
  readonly memories: readonly Memory[]
  /** Results below the similarity threshold. */
  readonly weakIds: ReadonlySet<string>
}

/** Ranked results. A hybrid search also finds parts of words, as somebody who is still typing expects. */
export async function searchMemories(owner: string, search: SearchParams): Promise<SearchResults> {
  const isHybrid = searchModeIn(search) === 'hybrid'
  const [{ results }, exact] = await Promise.all([
    data(api.POST('/api/memory/search', { body: searchBody(owner, search) })),
    isHybrid ? listPage(owner, search, 0).queryFn() : null,
  ])
  const hits = results.flatMap(({ memory, trail }) =>
    memory === undefined
      ? []
      : [{ memory, isWeak: !trail?.some(({ stage }) => stage === 'threshold') }],
  )
  const exactMatches = exact?.data ?? []
  const exactIds = new Set(exactMatches.map(({ id }) => id))
  const strong = hits.filter(({ memory, isWeak }) => !isWeak || exactIds.has(memory.id))
  const foundIds = new Set(strong.map(({ memory }) => memory.id))
  const weak = hits.filter(({ memory }) => !foundIds.has(memory.id))
  return {
    memories: [
      ...strong.map(({ memory }) => memory),
      ...exactMatches.filter(({ id }) => !foundIds.has(id)),
      ...weak.map(({ memory }) => memory),
    ],
    weakIds: new Set(weak.map(({ memory }) => memory.id)),
  }
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

export type Facets =
  paths['/api/memory/facets']['get']['responses']['200']['content']['application/json']

/** Counts by field, and what each filter hides. */
export function useFacets(owner: string, search: SearchParams, isEnabled: boolean) {
  const q = textParam(search, 'q')
  const text = isRankedSearch(search)
    ? { query: q, strategy: searchModeIn(search) as RankedMode }
    : q === ''
      ? {}
      : { q }
  const query = { owner, ...filtersIn(search), ...text }
  return useQuery({
    queryKey: ['memories', owner, 'facets', query],
    queryFn: () => data(api.GET('/api/memory/facets', { params: { query } })),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  })
}

type RankedMode = Exclude<SearchMode, 'exact'>

/** The source turns of a memory. */
export function useSources(owner: string, { id, version }: Memory) {
  return useQuery({
    queryKey: ['memory', owner, id, 'sources', version],
    queryFn: () =>
      data(api.GET('/api/memory/{id}/sources', { params: { path: { id }, query: { owner } } })),
  })
}

export function useChain(owner: string, id: string) {
  return useQuery({
    queryKey: ['memory', owner, id, 'chain'],
    queryFn: () =>
      data(api.GET('/api/memory/{id}/chain', { params: { path: { id }, query: { owner } } })),
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

type BulkBody = paths['/api/memory/bulk']['post']['requestBody']['content']['application/json']
type BulkResult =
  paths['/api/memory/bulk']['post']['responses']['200']['content']['application/json']
/** Named memories, or all that match filters. */
export type BulkTarget = { readonly ids: readonly string[] } | Partial<Omit<BulkBody, 'action'>>
export type BulkRequest = Pick<BulkBody, 'action' | 'edit' | 'toUser'>

/** Mutations of memories with toasts and undo. */
export function useActions(owner: string) {
  const { attempt, showUndoToast } = useMutations(owner, ['memories', 'memory', 'stats'])
  const showToast = useToast()
  const bulk = useBulkWork()
  const { can } = useSession()
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
  /** Several memories are changed by one request, as one change. */
  const change = (
    ids: readonly string[],
    messageKey: MessageKey,
    request: BulkRequest,
    changeOne: (id: string) => Promise<{ readonly memory: Memory }>,
  ) =>
    ids.length > 1 && can('curate')
      ? changeMany({ ids }, messageKey, request)
      : applyToEach(ids, messageKey, changeOne)
  const changeMany = async (
    target: BulkTarget,
    messageKey: MessageKey,
    request: BulkRequest,
  ): Promise<void> => {
    const done = await attempt(() =>
      bulk.run((onProgress) =>
        postWithProgress<BulkResult>(
          '/api/memory/bulk',
          { owner, ...target, ...request },
          onProgress,
        ),
      ),
    )
    if (done === null) return
    const { changed, change: made } = done as BulkResult // what the work resolves with
    if (made === null) showToast({ text: t('memories.nothingChanged') })
    else showUndoToast(t(messageKey, { count: changed }), made)
  }
  return {
    attempt,
    showUndoToast,
    changeMany,
    isBusy: bulk.isBusy,
    forget: (ids: readonly string[]) =>
      change(ids, 'memories.forgotten', { action: 'forget' }, (id) =>
        data(api.DELETE('/api/memory/{id}', { params: { path: { id }, query: { owner } } })),
      ),
    disable: (ids: readonly string[]) =>
      change(ids, 'memories.disabled', { action: 'disable' }, (id) =>
        data(api.POST('/api/memory/{id}/disable', target(id))),
      ),
    restore: (ids: readonly string[]) =>
      change(ids, 'memories.restored', { action: 'restore' }, (id) =>
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
      change(
        ids,
        pinned ? 'memories.pinnedDone' : 'memories.unpinnedDone',
        { action: 'edit', edit: { pinned } },
        (id) =>
          data(
            api.PATCH('/api/memory/{id}', { params: { path: { id } }, body: { owner, pinned } }),
          ),
      ),
    /** Merges memories into the first. */
    merge: async (ids: readonly string[], content: string): Promise<boolean> => {
      const done = await attempt(() =>
        data(api.POST('/api/memory/merge', { body: { owner, ids: [...ids], content } })),
      )
      if (done !== null) showUndoToast(t('memories.merged'), done.change)
      return done !== null
    },
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
