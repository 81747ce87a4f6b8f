import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'

type AuditPage = paths['/api/audit']['get']['responses'][200]['content']['application/json']
export type AuditEvent = AuditPage['entries'][number]

export const FILTERS = ['operation', 'actor', 'of', 'target', 'from', 'until'] as const
export type Filter = (typeof FILTERS)[number]
const ROWS_PER_PAGE = 50

/** The value of the `actor` filter for local access without a key. */
export const LOCAL_ACTOR = 'none'

/** The filters in the URL, as query parameters of the server. */
function queryFrom(search: SearchParams) {
  const text = (name: Filter) => textParam(search, name)
  return {
    ...optionalParam('operation', text('operation')),
    ...optionalParam('actor', text('actor')),
    // Not `owner`, which every page has in its URL: the log covers all owners.
    ...optionalParam('owner', text('of')),
    ...optionalParam('target', text('target')),
    ...optionalParam('from', startOf(text('from'), 0)),
    // The end date is inclusive.
    ...optionalParam('before', startOf(text('until'), 1)),
  }
}

function optionalParam<Name extends string>(name: Name, value: string): { [Key in Name]?: string } {
  return value === '' ? {} : ({ [name]: value } as { [Key in Name]?: string }) // the only property
}

/** Midnight in the time zone of the browser. */
function startOf(day: string, daysLater: number): string {
  const [year, month, date] = day.split('-').map(Number)
  if (year === undefined || month === undefined || date === undefined) return ''
  const at = new Date(year, month - 1, date + daysLater)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

export function useAudit(search: SearchParams) {
  const query = queryFrom(search)
  return useInfiniteQuery({
    queryKey: ['audit', query],
    queryFn: ({ pageParam }) =>
      data(
        api.GET('/api/audit', {
          params: {
            query: { ...query, limit: ROWS_PER_PAGE, ...optionalParam('after', pageParam) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
}

/** Key names by id. Revoked keys are missing. */
export function useKeyNames() {
  return useQuery({
    queryKey: ['keys'],
    queryFn: async () => (await data(api.GET('/api/keys'))).keys,
    select: (keys) => new Map(keys.map(({ id, name }) => [id, name])),
  })
}
