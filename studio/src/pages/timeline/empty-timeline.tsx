import { Link } from '@tanstack/react-router'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/layout.tsx'
import styles from './page.module.css'
import { type Episode, type EpisodeFilters, useLearning } from './queries.ts'

/** Explains why the timeline is empty and what to do about it. */
export function EmptyTimeline({
  owner,
  filters,
  isDay: isOneDay,
  latest,
  onLatest,
}: {
  owner: string
  filters: EpisodeFilters
  isDay: boolean
  latest: Episode | null
  onLatest: () => void
}) {
  const { t } = useI18n()
  if (latest === null) return <NoEpisodes owner={owner} />
  const isFiltered =
    filters.topic !== undefined || filters.user !== undefined || filters.status !== 'active'
  const title = isFiltered
    ? t('timeline.noMatch')
    : t(isOneDay ? 'timeline.emptyDay' : 'timeline.emptyMonth')
  return (
    <EmptyState
      title={title}
      icon="timeline"
      action={<Button onClick={onLatest}>{t('timeline.goToLatest')}</Button>}
    />
  )
}

function NoEpisodes({ owner }: { owner: string }) {
  const { t } = useI18n()
  const learning = useLearning(owner)
  const { model, signals } = learning.data ?? {}
  return (
    <EmptyState title={t('timeline.empty')} icon="timeline">
      <p className={styles.why}>{t('timeline.emptyHelp')}</p>
      {model === null && (
        <p className={styles.why}>
          {t('timeline.noModel')}{' '}
          <Link to="/studio/settings" search={{ owner, q: 'learning.extractionModel' }}>
            {t('timeline.openSettings')}
          </Link>
        </p>
      )}
      {signals !== undefined && signals.pending > 0 && (
        <p className={styles.why}>
          {t('timeline.pending', { count: signals.pending })}{' '}
          <Link to="/studio/sessions" search={{ owner }}>
            {t('timeline.openSessions')}
          </Link>
        </p>
      )}
    </EmptyState>
  )
}
