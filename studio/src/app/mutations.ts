/** Runs mutations on the server: error toasts, undo, and invalidation of the affected queries. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api, data } from '../api/client.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { useToast } from '../ui/toast.tsx'

export type Mutations = {
  /** Runs a mutation; resolves with null after a failure, which is shown as a toast. */
  readonly attempt: <Result>(work: () => Promise<Result>) => Promise<Result | null>
  /** Shows a toast with an undo button, or without one if there is no change to undo. */
  readonly showUndoToast: (text: string, change: UndoableChange | null) => void
  /** Undoes changes, the last one first. Fields that were edited since keep their value; the toast lists them. */
  readonly undo: (change: UndoableChange) => Promise<boolean>
}

/** The id of a change, or the ids of several changes in the order in which they were made. */
type UndoableChange = string | readonly string[]

/**
 * Returns a function that runs a mutation, shows a toast if it fails and invalidates queries afterwards. `queryNames` are
 * the first parts of the keys of the queries that show the changed data. Resolves with null after a failure.
 */
export function useAttempt(queryNames: readonly string[]): Mutations['attempt'] {
  const cache = useQueryClient()
  const showToast = useToast()
  const { t } = useI18n()
  const joinedNames = queryNames.join(' ') // a string, so that the callback is stable
  return useCallback(
    async (work) => {
      try {
        return await work()
      } catch (error) {
        showToast({
          text: error instanceof Error ? error.message : t('common.failed'),
          isError: true,
        })
        return null
      } finally {
        await Promise.all(
          joinedNames.split(' ').map((name) => cache.invalidateQueries({ queryKey: [name] })),
        )
      }
    },
    [cache, joinedNames, t, showToast],
  )
}

export function useMutations(owner: string, queryNames: readonly string[]): Mutations {
  const showToast = useToast()
  const { t } = useI18n()
  const attempt = useAttempt(queryNames)
  const undo = useCallback<Mutations['undo']>(
    async (change) => {
      const skippedFields = await attempt(async () => {
        const fields = new Set<string>()
        for (const each of [change].flat().toReversed()) {
          const undone = await data(api.POST('/api/memory/undo', { body: { owner, change: each } }))
          for (const field of undone.conflictingFields) fields.add(fieldNameOf(field))
        }
        return [...fields]
      })
      if (skippedFields === null) return false
      showToast({
        text:
          skippedFields.length === 0
            ? t('common.undone')
            : t('common.undonePartly', { fields: skippedFields.join(', ') }),
      })
      return true
    },
    [attempt, owner, t, showToast],
  )
  const showUndoToast = useCallback<Mutations['showUndoToast']>(
    (text, change) =>
      showToast({
        text,
        ...(change === null ? {} : { action: { name: t('common.undo'), run: () => undo(change) } }),
      }),
    [t, showToast, undo],
  )
  return { attempt, showUndoToast, undo }
}

/** The field of `<memory id>.<field>`. */
function fieldNameOf(field: string): string {
  return field.slice(field.indexOf('.') + 1)
}
