/** What the page asks the server, and what it does to memories. Every change can be taken back from its message. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, api, data, type Memory } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { type Search, textIn } from '../../app/address.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { useTell } from '../../ui/toast.tsx'

type ListQuery = NonNullable<paths['/api/memory']['get']['parameters']['query']>
type SearchBody = paths['/api/memory/search']['post']['requestBody']['content']['application/json']

export const ROWS_PER_PAGE = 100
/** What one search can answer. */
const FOUND_MAX = 100

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

export const HOWS = ['exact', 'hybrid', 'semantic', 'keyword'] as const
export type How = (typeof HOWS)[number]

export function howIn(search: Search): How {
  return HOWS.find((how) => how === search.how) ?? 'exact'
}

/** The filters in the address, as the server takes them. */
export function filtersIn(search: Search): Partial<ListQuery> {
  const given = FILTERS.map((name) => [name, textIn(search, name)] as const)
    .filter(([, text]) => text !== '')
    // In a body it must be a number.
    .map(([name, text]) => [name, name === 'importanceMin' ? Number(text) : text])
  return Object.fromEntries(given) as Partial<ListQuery> // the server checks their values
}

function orderIn(search: Search): NonNullable<ListQuery['order']> {
  const order = textIn(search, 'order')
  return order === 'oldest' || order === 'updated' ? order : 'newest'
}

/** One page of the list. Pages are asked for as they come into view. */
export function listPage(owner: string, search: Search, page: number) {
  const q = textIn(search, 'q')
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

/** What a search by words or meaning finds. */
export function useFound(owner: string, search: Search) {
  const how = howIn(search)
  const query = textIn(search, 'q')
  const body = {
    ...filtersIn(search),
    owner,
    query,
    strategy: how,
    limit: FOUND_MAX,
    detail: 'full',
    includeSuspect: true,
  } as SearchBody // filters in the address are text; the server checks them
  return useQuery({
    queryKey: ['memories', owner, 'search', body],
    queryFn: () => data(api.POST('/api/memory/search', { body })),
    enabled: how !== 'exact' && query !== '',
    placeholderData: keepPreviousData,
  })
}

export function useMemory(owner: string, id: string | null) {
  return useQuery({
    queryKey: ['memory', owner, id],
    queryFn: () =>
      data(api.GET('/api/memory/{id}', { params: { path: { id: id ?? '' }, query: { owner } } })),
    enabled: id !== null,
  })
}

export function useHistory(owner: string, id: string) {
  return useQuery({
    queryKey: ['memory', owner, id, 'history'],
    queryFn: () =>
      data(api.GET('/api/memory/{id}/history', { params: { path: { id }, query: { owner } } })),
  })
}

/** Does something to memories, tells how it went, and shows what has become of them. */
export function useActions(owner: string) {
  const cache = useQueryClient()
  const tell = useTell()
  const { t } = useI18n()
  const refresh = async () => {
    await Promise.all([
      cache.invalidateQueries({ queryKey: ['memories'] }),
      cache.invalidateQueries({ queryKey: ['memory'] }),
      cache.invalidateQueries({ queryKey: ['stats'] }),
    ])
  }
  const attempt = async <Result>(work: () => Promise<Result>): Promise<Result | null> => {
    try {
      return await work()
    } catch (error) {
      tell({ text: error instanceof Error ? error.message : t('common.failed'), isBad: true })
      return null
    } finally {
      await refresh()
    }
  }
  const undo = (change: string) => async () => {
    const undone = await attempt(() =>
      data(api.POST('/api/memory/undo', { body: { owner, change } })),
    )
    if (undone !== null) tell({ text: t('common.undone') })
  }
  const undoable = (text: string, change: string | null) =>
    tell({
      text,
      ...(change === null ? {} : { action: { name: t('common.undo'), run: undo(change) } }),
    })
  const at = (id: string) => ({ params: { path: { id } }, body: { owner } })
  return {
    attempt,
    undoable,
    forget: async (ids: readonly string[]) => {
      const changes: string[] = []
      const done = await attempt(async () => {
        for (const id of ids) {
          const { memory } = await data(
            api.DELETE('/api/memory/{id}', { params: { path: { id }, query: { owner } } }),
          )
          changes.push(memory.change)
        }
      })
      if (done === null) return
      const takeBack = async () => {
        for (const change of changes.reverse()) await undo(change)()
      }
      tell({
        text: t('memories.forgotten', { count: ids.length }),
        action: { name: t('common.undo'), run: takeBack },
      })
    },
    disable: async (id: string) => {
      const done = await attempt(() => data(api.POST('/api/memory/{id}/disable', at(id))))
      if (done !== null) undoable(t('memories.disabled'), done.memory.change)
    },
    restore: async (id: string, version?: number) => {
      const done = await attempt(() =>
        data(
          api.POST('/api/memory/{id}/restore', {
            params: { path: { id } },
            body: { owner, ...(version === undefined ? {} : { version }) },
          }),
        ),
      )
      if (done !== null) undoable(t('memories.restored'), done.memory.change)
    },
    erase: (id: string) => attempt(() => data(api.POST('/api/memory/{id}/erase', at(id)))),
    pin: async ({ id, pinned }: Memory) => {
      const done = await attempt(() =>
        data(
          api.PATCH('/api/memory/{id}', {
            params: { path: { id } },
            body: { owner, pinned: !pinned },
          }),
        ),
      )
      if (done !== null) undoable(t('memories.saved'), done.memory.change)
    },
  }
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 412 || error.code === 'conflict')
}
