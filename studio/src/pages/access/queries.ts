import { useQuery } from '@tanstack/react-query'
import { api, data, type Schemas } from '../../api/client.ts'

export type Key = Schemas['Key']
export type Role = Key['role']
export const ROLES: readonly Role[] = ['user', 'reader', 'agent', 'superadmin']

export function useKeyList() {
  return useQuery({
    queryKey: ['keys'],
    queryFn: async () => (await data(api.GET('/api/keys'))).keys,
  })
}

export type Owner = {
  readonly owner: string
  /** The number of users of this owner. */
  readonly users: number
  readonly memories: number
  readonly turns: number
}

/** All owners with memories, largest first. */
export function useOwners() {
  return useQuery({
    queryKey: ['owners'],
    queryFn: () => data(api.GET('/api/owners')),
    select: ({ owners }): readonly Owner[] => {
      const totals = new Map<string, { users: number; memories: number; turns: number }>()
      for (const { owner, user, memories, turns } of owners) {
        const before = totals.get(owner) ?? { users: 0, memories: 0, turns: 0 }
        totals.set(owner, {
          users: before.users + (user === null ? 0 : 1),
          memories: before.memories + memories,
          turns: before.turns + turns,
        })
      }
      return [...totals]
        .map(([owner, counts]) => ({ owner, ...counts }))
        .sort((a, b) => b.memories - a.memories || a.owner.localeCompare(b.owner))
    },
  })
}

/** First parts of the keys of the queries that this page changes. */
export const AFFECTED_QUERIES = ['keys', 'owners'] as const
