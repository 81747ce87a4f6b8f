import { type ReactNode, useState } from 'react'
import { type Search, textIn, useOwner, usePageSearch } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, Failure, Loaded, Loading, Notice, Page } from '../../ui/layout.tsx'
import { Day } from './episode-card.tsx'
import { dayOf, isDay, isMonth, monthOf } from './dates.ts'
import { EpisodeDrawer } from './drawer.tsx'
import { EpisodeEditor } from './editor.tsx'
import { type Change, Filters, MonthPicker } from './filters.tsx'
import { Nothing } from './empty-timeline.tsx'
import styles from './page.module.css'
import { type Episode, filtersIn, useDays, useLatest, useMonth } from './queries.ts'
import { Strip } from './day-chart.tsx'

export function TimelinePage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = usePageSearch()
  const [edited, setEdited] = useState<Episode | null>(null)
  const latest = useLatest(owner)
  const opened = textIn(search, 'episode')
  return (
    <Page title={t('timeline.title')} description={t('timeline.description')}>
      {latest.data === undefined ? (
        latest.error === null ? (
          <Loading lines={8} />
        ) : (
          <Failure error={latest.error} onRetry={() => void latest.refetch()} />
        )
      ) : (
        <Months owner={owner} search={search} change={change} latest={latest.data} />
      )}
      <EpisodeDrawer
        owner={owner}
        id={opened === '' ? null : opened}
        onClose={() => change({ episode: undefined }, { isStep: true })}
        onEdit={setEdited}
      />
      {edited !== null && (
        <EpisodeEditor owner={owner} episode={edited} onClose={() => setEdited(null)} />
      )}
    </Page>
  )
}

/** The address says which month; else it is that of the latest conversation, or this one. */
function monthIn(search: Search, latest: Episode | null): string {
  const named = textIn(search, 'month')
  const day = textIn(search, 'day')
  if (isDay(day)) return day.slice(0, 7)
  return isMonth(named) ? named : monthOf(latest?.happenedAt ?? Date.now())
}

function Months({
  owner,
  search,
  change,
  latest,
}: {
  owner: string
  search: Search
  change: Change
  latest: Episode | null
}) {
  const { t } = useI18n()
  const filters = filtersIn(search)
  const month = monthIn(search, latest)
  const day = isDay(textIn(search, 'day')) ? textIn(search, 'day') : ''
  const days = useDays(owner, month, filters.user)
  const episodes = useMonth(owner, month, filters)
  const go = (to: string) => change({ month: to, day: undefined }, { isStep: true })
  return (
    <>
      <Filters search={search} change={change} />
      <Card
        title={t('timeline.overview')}
        actions={
          <MonthPicker
            month={month}
            latest={latest === null ? null : monthOf(latest.happenedAt)}
            onGo={go}
          />
        }
      >
        <Loaded query={days} lines={3}>
          {({ days: counts, isComplete }) => (
            <>
              <Strip
                month={month}
                counts={counts}
                chosen={day}
                onChoose={(chosen) =>
                  change(
                    chosen === day ? { day: undefined, month } : { day: chosen, month: undefined },
                    { isStep: true },
                  )
                }
              />
              {!isComplete && <p className={styles.soft}>{t('timeline.overviewPartial')}</p>}
            </>
          )}
        </Loaded>
      </Card>
      <Loaded query={episodes} lines={8}>
        {({ episodes: found, isComplete }) => (
          <>
            {day !== '' && (
              <Button
                className={styles.whole}
                isSmall
                icon="back"
                onClick={() => change({ day: undefined, month }, { isStep: true })}
              >
                {t('timeline.wholeMonth')}
              </Button>
            )}
            {!isComplete && (
              <Notice tone="warn">{t('timeline.tooMany', { count: found.length })}</Notice>
            )}
            <Days
              episodes={found.filter(({ happenedAt }) => day === '' || dayOf(happenedAt) === day)}
              change={change}
              nothing={
                <Nothing
                  owner={owner}
                  filters={filters}
                  isDay={day !== ''}
                  latest={latest}
                  onLatest={() => latest !== null && go(monthOf(latest.happenedAt))}
                />
              }
            />
          </>
        )}
      </Loaded>
    </>
  )
}

function Days({
  episodes,
  change,
  nothing,
}: {
  episodes: readonly Episode[]
  change: Change
  nothing: ReactNode
}) {
  if (episodes.length === 0) return <Card>{nothing}</Card>
  const days = [...new Set(episodes.map(({ happenedAt }) => dayOf(happenedAt)))]
  return days.map((day) => (
    <Day
      key={day}
      day={day}
      episodes={episodes.filter(({ happenedAt }) => dayOf(happenedAt) === day)}
      onOpen={(episode) => change({ episode }, { isStep: true })}
      onTopic={(topic) => change({ topic }, { isStep: true })}
    />
  ))
}
