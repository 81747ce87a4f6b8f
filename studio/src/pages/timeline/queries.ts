/** Queries and mutations of episodes. Every mutation offers undo. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, data, type Schemas } from '../../api/client.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { STATUSES } from '../memories/memory-fields.ts'
import { useActions } from '../memories/queries.ts'
import { type Span, spanOf, TIME_ZONE } from './dates.ts'

export type Episode = Schemas['Episode']
type Status = Episode['status']

export type EpisodeFilters = {
  readonly topic?: string
  readonly user?: string
  readonly status: Status
}

const PAGE_ROWS = 200
/** The limit of episodes per month. */
const EPISODES_MAX = 1_000

export function filtersIn(search: SearchParams): EpisodeFilters {
  const [topic, user] = [textParam(search, 'topic').trim(), textParam(search, 'user').trim()]
  return {
    ...(topic === '' ? {} : { topic }),
    ...(user === '' ? {} : { user }),
    status: STATUSES.find((status) => status === search.status) ?? 'active',
  }
}

/** Sorts episodes newest first. */
function byTime(a: Episode, b: Episode): number {
  return a.happenedAt < b.happenedAt ? 1 : -1
}

/** All episodes of a month, newest first. */
export function useMonth(owner: string, month: string | null, filters: EpisodeFilters) {
  return useQuery({
    queryKey: ['episodes', owner, 'month', month, filters],
    queryFn: async () => {
      const episodes: Episode[] = []
      let after: string | null = null
      do {
        const page: { episodes: Episode[]; next: string | null } = await data(
          api.GET('/api/episodes', {
            params: {
              query: {
                owner,
                ...filters,
                ...spanOf(month ?? ''),
                limit: PAGE_ROWS,
                ...(after === null ? {} : { after }),
              },
            },
          }),
        )
        episodes.push(...page.episodes)
        after = page.next
      } while (after !== null && episodes.length < EPISODES_MAX)
      return { episodes: episodes.sort(byTime), isComplete: after === null }
    },
    enabled: month !== null,
    placeholderData: keepPreviousData,
  })
}

/** The most recent episode among those distilled last, where the timeline starts. Null if there is none. */
export function useLatest(owner: string) {
  return useQuery({
    queryKey: ['episodes', owner, 'latest'],
    queryFn: async () => {
      const { episodes } = await data(
        api.GET('/api/episodes', {
          params: { query: { owner, limit: PAGE_ROWS, status: [...STATUSES] } },
        }),
      )
      return [...episodes].sort(byTime)[0] ?? null
    },
  })
}

/** Counts by day in a time range. */
export function useDays(owner: string, span: Span, user: string | undefined) {
  return useQuery({
    queryKey: ['episodes', owner, 'days', span, user],
    queryFn: () =>
      data(
        api.GET('/api/memory/days', {
          params: {
            query: {
              owner,
              ...(user === undefined ? {} : { user }),
              ...span,
              timeZone: TIME_ZONE,
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  })
}

export function useEpisode(owner: string, id: string | null) {
  return useQuery({
    queryKey: ['episodes', owner, 'one', id],
    queryFn: () =>
      data(api.GET('/api/episodes/{id}', { params: { path: { id: id ?? '' }, query: { owner } } })),
    enabled: id !== null,
  })
}

/** The extraction model and the number of pending exchanges. */
export function useLearning(owner: string) {
  return useQuery({
    queryKey: ['signals', owner, 'report'],
    queryFn: () => data(api.GET('/api/learning/status', { params: { query: { owner } } })),
  })
}

export function useEpisodeActions(owner: string) {
  const cache = useQueryClient()
  const { t } = useI18n()
  const { attempt, showUndoToast } = useActions(owner)
  /** Applies a change, shows a toast with undo, and refreshes the episodes. */
  const change = async (
    messageKey: 'timeline.forgotten' | 'timeline.disabled' | 'timeline.restored',
    call: () => Promise<{ episode: Episode }>,
  ) => {
    const done = await attempt(call)
    await cache.invalidateQueries({ queryKey: ['episodes'] })
    if (done !== null) showUndoToast(t(messageKey), done.episode.change)
    return done !== null
  }
  const target = (id: string) => ({ params: { path: { id } }, body: { owner } })
  return {
    forget: (id: string) =>
      change('timeline.forgotten', () =>
        data(api.DELETE('/api/episodes/{id}', { params: { path: { id }, query: { owner } } })),
      ),
    disable: (id: string) =>
      change('timeline.disabled', () => data(api.POST('/api/episodes/{id}/disable', target(id)))),
    restore: (id: string) =>
      change('timeline.restored', () => data(api.POST('/api/episodes/{id}/restore', target(id)))),
    saved: async (episode: Episode) => {
      await cache.invalidateQueries({ queryKey: ['episodes'] })
      showUndoToast(t('timeline.saved'), episode.change)
    },
  }
}
