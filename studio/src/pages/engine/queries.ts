/** What the engine says of itself, and what it is asked to do. */
import { useQuery } from '@tanstack/react-query'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'

/** States change by themselves: models wake up, fail and heal. */
const POLL_MS = 10_000
const POLL_FAST_MS = 2_000
const POLL_PROGRESS_MS = 700

/** Where on the page each part is set up. */
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
export type Learning = Answer<'/api/signals/report'>
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
    queryFn: () => data(api.GET('/api/signals/report', { params: { query: { owner } } })),
    refetchInterval: POLL_MS,
  })
}

/** How many the server tells at once; more are told as "at least". */
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
/** Nothing happens by itself for a while, but whoever has set it right wants to see that. */
const FAILED_STATES: ReadonlySet<string> = new Set(['down', 'refused'])

/** The vector store beside the memories; while something is done about it, one wants to see how far that is. */
export function useQdrant() {
  return useQuery({
    queryKey: ['engine', 'qdrant'],
    queryFn: () => data(api.GET('/api/settings/qdrant')),
    refetchInterval: ({ state }) => {
      const tier = state.data?.tier.state ?? 'off'
      if (SETTLED.has(tier)) return POLL_MS
      return FAILED_STATES.has(tier) ? POLL_FAST_MS : POLL_PROGRESS_MS
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

/** What requests with memories cost in the last days. */
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

/** The queries that show what the page changes. */
export const AFFECTED_QUERIES = ['engine', 'reindex', 'jobs'] as const
