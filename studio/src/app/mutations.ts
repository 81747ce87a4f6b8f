/** Does something on the server, tells how it went, and has what is shown of it asked for again. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api, data } from '../api/client.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { useToast } from '../ui/toast.tsx'

export type Mutations = {
  /** Null when it failed, which was told then. */
  readonly attempt: <Result>(work: () => Promise<Result>) => Promise<Result | null>
  /** Tells what was done, with a way to take it back when there is a change to undo. */
  readonly showUndoToast: (text: string, change: UndoableChange | null) => void
  /** Takes it back, the last change first, and tells so. What was changed again since stays, which is told too. */
  readonly undo: (change: UndoableChange) => Promise<boolean>
}

/** A change, or those that belong together in the order in which they were made. */
type UndoableChange = string | readonly string[]

/** `shown`: the first words of the queries that show what is changed here. */
export function useMutations(owner: string, shown: readonly string[]): Mutations {
  const cache = useQueryClient()
  const showToast = useToast()
  const { t } = useI18n()
  const queryNames = shown.join(' ')
  const attempt = useCallback<Mutations['attempt']>(
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
          queryNames.split(' ').map((name) => cache.invalidateQueries({ queryKey: [name] })),
        )
      }
    },
    [cache, queryNames, t, showToast],
  )
  const undo = useCallback<Mutations['undo']>(
    async (change) => {
      const skippedFields = await attempt(async () => {
        const fields = new Set<string>()
        for (const each of [change].flat().toReversed()) {
          const undone = await data(api.POST('/api/memory/undo', { body: { owner, change: each } }))
          for (const field of undone.kept) fields.add(fieldNameOf(field))
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

/** Of `<memory id>.<field>`. */
function fieldNameOf(field: string): string {
  return field.slice(field.indexOf('.') + 1)
}
