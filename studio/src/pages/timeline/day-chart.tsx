/** A bar chart of the days of a month: episodes and other memories. A bar selects its day. */
import { useEffect, useRef } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import { daysIn, startOf } from './dates.ts'
import styles from './day-chart.module.css'

type Count = { readonly day: string; readonly episodes: number; readonly memories: number }

const BAR_PX = 56
/** The smallest visible bar. */
const BAR_PX_MIN = 2

export function DayChart({
  month,
  counts,
  selectedDay,
  onSelect,
}: {
  month: string
  counts: readonly Count[]
  selectedDay: string
  onSelect: (day: string) => void
}) {
  const { t, number, day: formatDay, region } = useI18n()
  const byDay = new Map(counts.map((count) => [count.day, count]))
  const days = daysIn(month)
  const max = Math.max(1, ...counts.flatMap(({ episodes, memories }) => [episodes, memories]))
  const strip = useRef<HTMLOListElement>(null)
  // If not all days fit, scrolls to the last day with data.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another month is shown
  useEffect(() => {
    const enabled = strip.current?.querySelectorAll('button:enabled')
    const last = [...(enabled ?? [])].at(-1)?.parentElement
    if (last != null) strip.current?.scrollTo({ left: last.offsetLeft - last.offsetWidth * 8 })
  }, [month])
  const weekday = new Intl.DateTimeFormat(region, { weekday: 'narrow' })
  return (
    <div>
      <div className={styles.chart}>
        <div className={styles.axis} style={{ height: BAR_PX }} aria-hidden="true">
          <span>{number(max)}</span>
          <span>0</span>
        </div>
        <ol className={styles.strip} ref={strip} aria-label={t('timeline.overview')}>
          {days.map((day) => {
            const { episodes = 0, memories = 0 } = byDay.get(day) ?? {}
            const label = t('timeline.dayCounts', {
              day: formatDay(String(startOf(day))),
              episodes,
              memories,
            })
            const isEmpty = episodes + memories === 0
            return (
              <li key={day} className={styles.day}>
                <button
                  type="button"
                  className={styles.bar}
                  aria-pressed={day === selectedDay}
                  title={label}
                  disabled={isEmpty && day !== selectedDay}
                  onClick={() => onSelect(day)}
                >
                  <span className={styles.columns} style={{ height: BAR_PX }}>
                    <Bar count={episodes} max={max} className={styles.episodes} />
                    <Bar count={memories} max={max} className={styles.memories} />
                  </span>
                  <span className={styles.number} aria-hidden="true">
                    {Number(day.slice(8))}
                  </span>
                  <span className={styles.weekday} aria-hidden="true">
                    {weekday.format(startOf(day))}
                  </span>
                  <span className="visually-hidden">{label}</span>
                </button>
              </li>
            )
          })}
        </ol>
      </div>
      <p className={styles.legend}>
        <span className={styles.episodes} aria-hidden="true" /> {t('timeline.overviewEpisodes')}
        <span className={styles.memories} aria-hidden="true" /> {t('timeline.overviewMemories')}
      </p>
    </div>
  )
}

function Bar({
  count,
  max,
  className,
}: {
  count: number
  max: number
  className: string | undefined
}) {
  const height = count === 0 ? 0 : Math.max(BAR_PX_MIN, (count / max) * BAR_PX)
  return <span className={className} style={{ height }} />
}
