import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'

type GetResponse<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never

export type VectorsAnswer = GetResponse<'/api/memory/vectors'>
export type MappedMemory = VectorsAnswer['memories'][number]
export type Category = MappedMemory['category']
export type EntitiesAnswer = GetResponse<'/api/memory/entities'>

/** The selectable numbers of memories on the map; the first is the default. */
export const LIMITS = [1_000, 2_000, 5_000] as const

/** The smallest number of memories for which a map is useful. */
export const MAP_MEMORIES_MIN = 10

export function useVectors(owner: string, limit: number) {
  return useQuery({
    queryKey: ['map', owner, 'vectors', limit],
    queryFn: () => data(api.GET('/api/memory/vectors', { params: { query: { owner, limit } } })),
  })
}

export function useEntities(owner: string) {
  return useQuery({
    queryKey: ['map', owner, 'entities'],
    queryFn: () =>
      data(api.GET('/api/memory/entities', { params: { query: { owner, memories: 5_000 } } })),
    placeholderData: keepPreviousData,
  })
}
