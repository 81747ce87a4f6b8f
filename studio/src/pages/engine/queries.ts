/** Queries of the engine page. */
import { useQuery } from '@tanstack/react-query'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'

/** Component states change without an event: models load, fail and recover. */
const POLL_MS = 10_000
const POLL_FAST_MS = 2_000
const POLL_PROGRESS_MS = 700

/** Anchors of the cards on the page. */
export const CARDS = {
  embedding: 'embedding',
  vectors: 'vectors',
  qdrant: 'qdrant',
  rerank: 'rerank',
  models: 'models',
  store: 'store',
} as const

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never
export type EngineStatus = Answer<'/api/memory/engine-status'>
export type SystemStatus = Answer<'/api/status'>
export type Learning = Answer<'/api/learning/status'>
export type EmbeddingProvider = Answer<'/api/memory/embedding-providers'>['providers'][number]

export function useEngine() {
  return useQuery({
    queryKey: ['engine', 'status'],
    queryFn: () => data(api.GET('/api/memory/engine-status')),
    refetchInterval: POLL_MS,
  })
}

export function useSystem() {
  return useQuery({
    queryKey: ['engine', 'system'],
    queryFn: () => data(api.GET('/api/status')),
    refetchInterval: POLL_MS,
  })
}

export function useLearning(owner: string) {
  return useQuery({
    queryKey: ['engine', 'learning', owner],
    queryFn: () => data(api.GET('/api/learning/status', { params: { query: { owner } } })),
    refetchInterval: POLL_MS,
  })
}

/** The largest page of the server; larger counts are shown as "200+". */
export const JOBS_MAX = 200

export function useJobCounts() {
  const count = async (status: 'waiting' | 'running' | 'dead') => {
    const query = { status, limit: JOBS_MAX }
    return (await data(api.GET('/api/jobs', { params: { query } }))).jobs.length
  }
  return useQuery({
    queryKey: ['jobs', 'counts'],
    queryFn: async () => ({
      waiting: await count('waiting'),
      running: await count('running'),
      dead: await count('dead'),
    }),
  })
}

export function useEmbeddingProviders() {
  return useQuery({
    queryKey: ['engine', 'embedding-providers'],
    queryFn: async () => (await data(api.GET('/api/memory/embedding-providers'))).providers,
  })
}

const SETTLED: ReadonlySet<string> = new Set(['off', 'active'])
/** Polled faster, so that a corrected configuration shows soon. */
const FAILED_STATES: ReadonlySet<string> = new Set(['down', 'misconfigured'])

/** Polls the status of the vector replica, faster while it changes. */
export function useQdrant() {
  return useQuery({
    queryKey: ['engine', 'qdrant'],
    queryFn: () => data(api.GET('/api/settings/qdrant')),
    refetchInterval: ({ state }) => {
      const replica = state.data?.replica.state ?? 'off'
      if (SETTLED.has(replica)) return POLL_MS
      return FAILED_STATES.has(replica) ? POLL_FAST_MS : POLL_PROGRESS_MS
    },
  })
}

export function useModelProviders() {
  return useQuery({
    queryKey: ['engine', 'models'],
    queryFn: () => data(api.GET('/api/models')),
  })
}

export function useReindex() {
  return useQuery({
    queryKey: ['reindex'],
    queryFn: () => data(api.GET('/api/memory/reindex')),
    refetchInterval: ({ state }) => (state.data?.running === true ? POLL_PROGRESS_MS : POLL_MS),
  })
}

/** Token usage of requests with memories in the last days. */
export function useCost(owner: string, days: number, isEnabled: boolean) {
  return useQuery({
    queryKey: ['receipts', owner, 'cost', days],
    queryFn: () => {
      const since = new Date(Date.now() - days * 86_400_000).toISOString()
      return data(api.GET('/api/receipts/stats', { params: { query: { owner, since } } }))
    },
    enabled: isEnabled,
  })
}

/** First parts of the keys of the queries that this page changes. */
export const AFFECTED_QUERIES = ['engine', 'reindex', 'jobs'] as const
