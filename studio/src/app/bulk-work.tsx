/** Long requests that change many memories. They go on, with their progress shown, when another page is opened. */
import { useMutation } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useState } from 'react'
import type { Progress } from '../api/lines.ts'
import { useI18n } from '../i18n/i18n.tsx'
import styles from './bulk-work.module.css'

type Work = (onProgress: (progress: Progress) => void) => Promise<unknown>

type BulkWork = {
  readonly isBusy: boolean
  readonly run: (work: Work) => Promise<unknown>
}

/** Shorter work is done before its progress could be read. */
const SHOWN_FROM = 200

const Context = createContext<BulkWork | null>(null)

export function BulkWorkProvider({ children }: { children: ReactNode }) {
  const { t, number } = useI18n()
  const [progress, setProgress] = useState<Progress | null>(null)
  const mutation = useMutation({
    mutationFn: (work: Work) => work(setProgress),
    onSettled: () => setProgress(null),
  })
  const isShown = mutation.isPending && progress !== null && progress.total > SHOWN_FROM
  return (
    <Context value={{ isBusy: mutation.isPending, run: mutation.mutateAsync }}>
      {children}
      {isShown && (
        <div className={styles.progress}>
          <label htmlFor="bulk-progress">
            {t('memories.bulkProgress', {
              done: number(progress.done),
              total: number(progress.total),
            })}
          </label>
          <progress id="bulk-progress" value={progress.done} max={progress.total} />
        </div>
      )}
    </Context>
  )
}

export function useBulkWork(): BulkWork {
  const work = useContext(Context)
  if (work === null) throw new Error('There is no BulkWorkProvider.')
  return work
}
