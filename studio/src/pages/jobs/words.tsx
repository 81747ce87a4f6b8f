/** What came of a job, in words. */
import type { Job } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip } from '../../ui/layout.tsx'
import styles from './page.module.css'

export function JobOutcome({ job: { outcome, attempts, lastError } }: { job: Job }) {
  const { t } = useI18n()
  const count = (name: string) => {
    const value = outcome?.[name]
    return typeof value === 'number' ? value : null
  }
  const counted = [
    ['signals', 'jobs.exchanges'],
    ['memories', 'jobs.memoriesScanned'],
    ['actions', 'jobs.actionsDone'],
    ['owners', 'jobs.ownersScanned'],
    ['tokens', 'jobs.tokens'],
  ] as const
  const said = counted.flatMap(([name, words]) => {
    const value = count(name)
    return value === null ? [] : [t(words, { count: value })]
  })
  const told = outcome?.outcome
  return (
    <div className={styles.what}>
      {typeof told === 'string' && <code>{told}</code>}
      {said.length > 0 && <span className={styles.faint}>{said.join(', ')}</span>}
      {(attempts > 0 || lastError !== null) && (
        <span className={styles.marks}>
          {attempts > 0 && <Chip tone="warn">{t('jobs.attempts', { count: attempts })}</Chip>}
          {lastError !== null && <Chip tone="bad">{lastError}</Chip>}
        </span>
      )}
    </div>
  )
}
