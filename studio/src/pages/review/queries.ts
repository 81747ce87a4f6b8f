/** Queries and actions of the review. Every action offers undo. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { api, data, type Memory, type Schemas } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useMutations } from '../../app/mutations.ts'
import { useI18n } from '../../i18n/i18n.tsx'

export type Conflict = Schemas['Conflict']
export type ReviewReason =
  paths['/api/review']['get']['responses']['200']['content']['application/json']['reasons'][string]

const PER_PAGE = 25
const AFFECTED_QUERIES = ['review', 'memories', 'memory', 'stats']

export function useSuspects(owner: string) {
  return useInfiniteQuery({
    queryKey: ['review', owner, 'suspects'],
    queryFn: ({ pageParam }) =>
      data(api.GET('/api/review', { params: { query: { owner, ...page(pageParam) } } })),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

export function useConflicts(owner: string) {
  return useInfiniteQuery({
    queryKey: ['review', owner, 'conflicts'],
    queryFn: ({ pageParam }) =>
      data(api.GET('/api/review/conflicts', { params: { query: { owner, ...page(pageParam) } } })),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

function page(after: string) {
  return { limit: PER_PAGE, ...(after === '' ? {} : { after }) }
}

export function useReviewActions(owner: string) {
  const { t } = useI18n()
  const { attempt, showUndoToast } = useMutations(owner, AFFECTED_QUERIES)
  const target = (id: string) => ({ params: { path: { id } }, body: { owner } })
  const showResult = (text: string, response: { readonly memory: Memory } | null) => {
    if (response !== null) showUndoToast(text, response.memory.change)
  }
  return {
    refresh: () => attempt(async () => undefined),
    approve: async ({ id }: Memory) =>
      showResult(
        t('review.approved'),
        await attempt(() => data(api.POST('/api/review/{id}/approve', target(id)))),
      ),
    reject: async ({ id }: Memory) =>
      showResult(
        t('review.rejected'),
        await attempt(() => data(api.POST('/api/review/{id}/reject', target(id)))),
      ),
    /** Decides about several memories by one change. */
    decideMany: async (ids: readonly string[], isApproved: boolean) => {
      const decision = isApproved
        ? ({ action: 'edit', edit: { trust: 'user' } } as const)
        : ({ action: 'forget' } as const)
      const done = await attempt(() =>
        data(api.POST('/api/memory/bulk', { body: { owner, ids: [...ids], ...decision } })),
      )
      if (done === null) return
      const message = isApproved ? 'review.approvedMany' : 'review.rejectedMany'
      showUndoToast(t(message, { count: done.changed }), done.change)
    },
    /** Marks both memories as compatible. */
    reconcile: async ({ memory }: Conflict) =>
      showResult(
        t('review.markedCompatible'),
        await attempt(() => data(api.POST('/api/review/{id}/reconcile', target(memory.id)))),
      ),
    settle: async (keep: Memory, drop: Memory, content?: string): Promise<boolean> => {
      const body = {
        ...{ owner, keep: keep.id, drop: drop.id },
        ...(content === undefined ? {} : { content }),
      }
      const response = await attempt(() => data(api.POST('/api/review/resolve', { body })))
      if (response === null) return false
      showUndoToast(t(content === undefined ? 'review.resolved' : 'review.merged'), response.change)
      return true
    },
  }
}
