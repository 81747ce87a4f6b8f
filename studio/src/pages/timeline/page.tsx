import { type ReactNode, useState } from 'react'
import { type SearchParams, textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card, ErrorState, LoadingState, Notice, Page, QueryResult } from '../../ui/layout.tsx'
import { lazyPart, useOnceTrue } from '../../ui/lazy-part.tsx'
import { dayOf, isDay, isMonth, monthOf, spanOf, yearSpanOf } from './dates.ts'
import { DayChart, YearChart } from './day-chart.tsx'
import { DayDetails } from './day-details.tsx'
import { EmptyTimeline } from './empty-timeline.tsx'
import { DayEpisodes } from './episode-card.tsx'
import { type Change, Filters, MonthPicker } from './filters.tsx'
import styles from './page.module.css'
import { type Episode, filtersIn, useDays, useLatest, useMonth } from './queries.ts'

const EpisodePanel = lazyPart(async () => (await import('./episode-panel.tsx')).EpisodePanel)
const EpisodeEditor = lazyPart(async () => (await import('./editor.tsx')).EpisodeEditor)

export function TimelinePage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = useSearchParams()
  const [editing, setEditing] = useState<Episode | null>(null)
  const latest = useLatest(owner)
  const openId = textParam(search, 'episode')
  const wasOpened = useOnceTrue(openId !== '')
  return (
    <Page title={t('timeline.title')} description={t('timeline.description')}>
      {latest.data === undefined ? (
        latest.error === null ? (
          <LoadingState lines={8} />
        ) : (
          <ErrorState error={latest.error} onRetry={() => void latest.refetch()} />
        )
      ) : (
        <Months owner={owner} search={search} change={change} latest={latest.data} />
      )}
      {wasOpened && (
        <EpisodePanel
          owner={owner}
          id={openId === '' ? null : openId}
          onClose={() => change({ episode: undefined }, { isPush: true })}
          onEdit={setEditing}
        />
      )}
      {editing !== null && (
        <EpisodeEditor owner={owner} episode={editing} onClose={() => setEditing(null)} />
      )}
    </Page>
  )
}

/** The month in the URL, otherwise that of the latest episode, otherwise the current one. */
function monthIn(search: SearchParams, latest: Episode | null): string {
  const named = textParam(search, 'month')
  const day = textParam(search, 'day')
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
  search: SearchParams
  change: Change
  latest: Episode | null
}) {
  const { t } = useI18n()
  const filters = filtersIn(search)
  const month = monthIn(search, latest)
  const day = isDay(textParam(search, 'day')) ? textParam(search, 'day') : ''
  const isYear = search.zoom === 'year'
  const days = useDays(owner, isYear ? yearSpanOf(month) : spanOf(month), filters.user)
  const episodes = useMonth(owner, month, filters)
  const goToMonth = (to: string) => change({ month: to, day: undefined }, { isPush: true })
  return (
    <>
      <Filters search={search} change={change} />
      <Card
        title={t('timeline.overview')}
        actions={
          <>
            <IconButton
              icon="less"
              name={t('map.zoomOut')}
              disabled={isYear}
              onClick={() => change({ zoom: 'year' }, { isPush: true })}
            />
            <IconButton
              icon="add"
              name={t('map.zoomIn')}
              disabled={!isYear}
              onClick={() => change({ zoom: undefined }, { isPush: true })}
            />
            <MonthPicker
              month={month}
              latest={latest === null ? null : monthOf(latest.happenedAt)}
              onMonthChange={goToMonth}
            />
          </>
        }
      >
        <QueryResult query={days} lines={3}>
          {({ days: counts, isComplete }) => (
            <>
              {isYear ? (
                <YearChart
                  month={month}
                  counts={counts}
                  selected={month}
                  onSelect={(chosen) =>
                    change({ month: chosen, day: undefined, zoom: undefined }, { isPush: true })
                  }
                />
              ) : (
                <DayChart
                  month={month}
                  counts={counts}
                  selected={day}
                  onSelect={(chosen) =>
                    change(
                      chosen === day
                        ? { day: undefined, month }
                        : { day: chosen, month: undefined },
                      { isPush: true },
                    )
                  }
                />
              )}
              {!isComplete && <p className={styles.soft}>{t('timeline.overviewPartial')}</p>}
            </>
          )}
        </QueryResult>
      </Card>
      <QueryResult query={episodes} lines={8}>
        {({ episodes: loaded, isComplete }) => (
          <>
            {day !== '' && (
              <Button
                className={styles.whole}
                isSmall
                icon="back"
                onClick={() => change({ day: undefined, month }, { isPush: true })}
              >
                {t('timeline.wholeMonth')}
              </Button>
            )}
            {day !== '' && <DayDetails owner={owner} day={day} />}
            {!isComplete && (
              <Notice tone="warn">{t('timeline.tooMany', { count: loaded.length })}</Notice>
            )}
            <EpisodesByDay
              episodes={loaded.filter(({ happenedAt }) => day === '' || dayOf(happenedAt) === day)}
              change={change}
              emptyState={
                <EmptyTimeline
                  owner={owner}
                  filters={filters}
                  isDay={day !== ''}
                  latest={latest}
                  onLatest={() => latest !== null && goToMonth(monthOf(latest.happenedAt))}
                />
              }
            />
          </>
        )}
      </QueryResult>
    </>
  )
}

function EpisodesByDay({
  episodes,
  change,
  emptyState,
}: {
  episodes: readonly Episode[]
  change: Change
  emptyState: ReactNode
}) {
  if (episodes.length === 0) return <Card>{emptyState}</Card>
  const days = [...new Set(episodes.map(({ happenedAt }) => dayOf(happenedAt)))]
  return days.map((day) => (
    <DayEpisodes
      key={day}
      day={day}
      episodes={episodes.filter(({ happenedAt }) => dayOf(happenedAt) === day)}
      onOpen={(episode) => change({ episode }, { isPush: true })}
      onTopic={(topic) => change({ topic }, { isPush: true })}
    />
  ))
}
