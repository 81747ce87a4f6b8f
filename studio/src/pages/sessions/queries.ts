/** Queries of the page. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, data, type Memory, type Schemas } from '../../api/client.ts'
import type { MessageKey } from '../../i18n/catalog.ts'

export type Session = Schemas['Session']
export type Turn = Schemas['Turn']

export const ROLE_NAMES: Readonly<Record<Turn['role'], MessageKey>> = {
  user: 'sessions.roleUser',
  assistant: 'sessions.roleAssistant',
  system: 'sessions.roleSystem',
  tool: 'sessions.roleTool',
}

/** A session by id. `user` is required if several users have a session with this id. */
export type SessionRef = { readonly owner: string; readonly id: string; readonly user?: string }

const SESSIONS_PER_PAGE = 50
const TURNS_PER_PAGE = 100
const RESULTS_MAX = 50
/** The largest range of the server. */
const DAYS_MAX = 3_650
const MEMORIES_PER_PAGE = 200
/** The limit of memories next to a session. */
const MEMORY_PAGES_MAX = 5
const SIGNALS_MAX = 200

export function useSessions(owner: string) {
  return useInfiniteQuery({
    queryKey: ['sessions', owner],
    queryFn: ({ pageParam }) =>
      data(
        api.GET('/api/sessions', {
          params: { query: { owner, limit: SESSIONS_PER_PAGE, ...cursorParam(pageParam) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** Turns that contain the words. */
export function useTurnSearch(owner: string, query: string) {
  return useQuery({
    queryKey: ['turns', owner, 'search', query],
    queryFn: () =>
      data(
        api.POST('/memory/search', {
          body: { owner, scope: 'transcript', query, top_k: RESULTS_MAX, days: DAYS_MAX },
        }),
      ),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  })
}

export function useTurns({ owner, id, user }: SessionRef) {
  return useInfiniteQuery({
    queryKey: ['turns', owner, id, user],
    queryFn: ({ pageParam }) =>
      data(
        api.GET('/api/sessions/{id}/turns', {
          params: {
            path: { id },
            query: { owner, ...userParam(user), limit: TURNS_PER_PAGE, ...cursorParam(pageParam) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** The memories of a session, including its episode. */
export function useSessionMemories({ owner, id, user }: SessionRef) {
  return useQuery({
    queryKey: ['memories', owner, 'learned', id, user],
    queryFn: async () => {
      const memories: Memory[] = []
      let next: string | null = ''
      for (let page = 0; page < MEMORY_PAGES_MAX && next !== null; page++) {
        const query = {
          ...{
            owner,
            ...userParam(user),
            sessionId: id,
            limit: MEMORIES_PER_PAGE,
            includeExpired: true,
          },
          ...{ status: ['active', 'disabled', 'superseded'] as Memory['status'][] },
          ...cursorParam(next),
        }
        const found: { data: Memory[]; next: string | null } = await data(
          api.GET('/api/memory', { params: { query } }),
        )
        memories.push(...found.data)
        next = found.next
      }
      return { memories, isComplete: next === null }
    },
  })
}

/** The learning signals of a session: pending and failed exchanges. */
export function useSignals({ owner, id, user }: SessionRef) {
  return useQuery({
    queryKey: ['signals', owner, id, user],
    queryFn: () =>
      data(
        api.GET('/api/signals', {
          params: { query: { owner, ...userParam(user), sessionId: id, limit: SIGNALS_MAX } },
        }),
      ),
  })
}

export function userParam(user: string | undefined): { user?: string } {
  return user === undefined ? {} : { user }
}

function cursorParam(cursor: string | null): { after?: string } {
  return cursor === null || cursor === '' ? {} : { after: cursor }
}

/** Memories by source turn, without the episode, which has all turns as sources. */
export function groupByTurn(memories: readonly Memory[]): ReadonlyMap<string, readonly Memory[]> {
  const found = new Map<string, Memory[]>()
  for (const memory of memories) {
    if (memory.category === 'episode') continue
    for (const turn of memory.provenance.turns) {
      found.set(turn, [...(found.get(turn) ?? []), memory])
    }
  }
  return found
}
