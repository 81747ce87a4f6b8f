/** Does something on the server, tells how it went, and has what is shown of it asked for again. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api, data } from '../api/client.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { useTell } from '../ui/toast.tsx'

export type Acting = {
  /** Null when it failed, which was told then. */
  readonly attempt: <Result>(work: () => Promise<Result>) => Promise<Result | null>
  /** Tells what was done, with a way to take it back when there is a change to undo. */
  readonly undoable: (text: string, change: Undoable | null) => void
  /** Takes it back, the last change first, and tells so. What was changed again since stays, which is told too. */
  readonly undo: (change: Undoable) => Promise<boolean>
}

/** A change, or those that belong together in the order in which they were made. */
type Undoable = string | readonly string[]

/** `shown`: the first words of the queries that show what is changed here. */
export function useActing(owner: string, shown: readonly string[]): Acting {
  const cache = useQueryClient()
  const tell = useTell()
  const { t } = useI18n()
  const names = shown.join(' ')
  const attempt = useCallback<Acting['attempt']>(
    async (work) => {
      try {
        return await work()
      } catch (error) {
        tell({ text: error instanceof Error ? error.message : t('common.failed'), isBad: true })
        return null
      } finally {
        await Promise.all(
          names.split(' ').map((name) => cache.invalidateQueries({ queryKey: [name] })),
        )
      }
    },
    [cache, names, t, tell],
  )
  const undo = useCallback<Acting['undo']>(
    async (change) => {
      const kept = await attempt(async () => {
        const fields = new Set<string>()
        for (const each of [change].flat().toReversed()) {
          const undone = await data(api.POST('/api/memory/undo', { body: { owner, change: each } }))
          for (const field of undone.kept) fields.add(nameOf(field))
        }
        return [...fields]
      })
      if (kept === null) return false
      tell({
        text:
          kept.length === 0
            ? t('common.undone')
            : t('common.undonePartly', { fields: kept.join(', ') }),
      })
      return true
    },
    [attempt, owner, t, tell],
  )
  const undoable = useCallback<Acting['undoable']>(
    (text, change) =>
      tell({
        text,
        ...(change === null ? {} : { action: { name: t('common.undo'), run: () => undo(change) } }),
      }),
    [t, tell, undo],
  )
  return { attempt, undoable, undo }
}

/** Of `<memory id>.<field>`. */
function nameOf(field: string): string {
  return field.slice(field.indexOf('.') + 1)
}
