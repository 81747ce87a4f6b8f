/** Queries of the page. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, data, type Job, type Schemas } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'

export type Report = Schemas['ConsolidationReport']
export type Action = Report['actions'][number]

export const STATUSES: readonly Job['status'][] = [
  'running',
  'waiting',
  'dead',
  'done',
  'cancelled',
]

const JOBS_PER_PAGE = 50
const DEAD_MAX = 100
/** Poll interval for running jobs; other changes arrive as events. */
const POLL_MS = 2_000

type JobFilter = {
  /** Null for all owners. */
  readonly owner: string | null
  readonly status: Job['status'] | null
}

export function useJobs({ owner, status }: JobFilter) {
  return useInfiniteQuery({
    queryKey: ['jobs', owner, status],
    queryFn: ({ pageParam }) =>
      data(
        api.GET('/api/jobs', {
          params: {
            query: {
              limit: JOBS_PER_PAGE,
              ...(owner === null ? {} : { owner }),
              ...(status === null ? {} : { status }),
              ...(pageParam === '' ? {} : { after: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ jobs }) => jobs.some((job) => job.status === 'running'))
        ? POLL_MS
        : false,
  })
}

/** The progress of embedding, for superadmins. */
export function useEmbeddingProgress() {
  return useQuery({
    queryKey: ['reindex', 'progress'],
    queryFn: () => data(api.GET('/api/memory/reindex')),
    enabled: useSession().can('manage'),
    refetchInterval: ({ state }) => (state.data?.running === true ? POLL_MS : false),
  })
}

export function useReports(owner: string) {
  return useQuery({
    queryKey: ['consolidations', owner],
    queryFn: () => data(api.GET('/api/consolidate', { params: { query: { owner } } })),
  })
}

export function useLearning(owner: string) {
  return useQuery({
    queryKey: ['signals', owner, 'report'],
    queryFn: () => data(api.GET('/api/learning/status', { params: { query: { owner } } })),
  })
}

export function useFailedSignals(owner: string) {
  return useQuery({
    queryKey: ['signals', owner, 'dead'],
    queryFn: () =>
      data(
        api.GET('/api/signals', { params: { query: { owner, status: 'dead', limit: DEAD_MAX } } }),
      ),
  })
}
