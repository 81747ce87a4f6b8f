/** Bar charts of the days of a month and the months of a year: episodes and other memories. A bar selects its time. */
import { useEffect, useRef } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import { daysIn, monthsOfYear, startOf } from './dates.ts'
import styles from './day-chart.module.css'

type Count = { readonly day: string; readonly episodes: number; readonly memories: number }

const BAR_PX = 56
/** The smallest visible bar. */
const BAR_PX_MIN = 2

type Column = {
  /** A day or month. */
  readonly id: string
  readonly name: string
  readonly head: string
  readonly foot: string
  readonly episodes: number
  readonly memories: number
}

type ChartProps = {
  month: string
  counts: readonly Count[]
  /** The selected day or month. */
  selected: string
  onSelect: (id: string) => void
}

export function DayChart({ month, counts, ...selection }: ChartProps) {
  const { day: formatDay, region } = useI18n()
  const byDay = new Map(counts.map((count) => [count.day, count]))
  const weekday = new Intl.DateTimeFormat(region, { weekday: 'narrow' })
  const columns = daysIn(month).map((day): Column => {
    const { episodes = 0, memories = 0 } = byDay.get(day) ?? {}
    return {
      ...{ id: day, episodes, memories, name: formatDay(String(startOf(day))) },
      ...{ head: String(Number(day.slice(8))), foot: weekday.format(startOf(day)) },
    }
  })
  return <Columns key={month} columns={columns} {...selection} />
}

/** The months of the year of a month. */
export function YearChart({ month, counts, ...selection }: ChartProps) {
  const { region } = useI18n()
  const long = new Intl.DateTimeFormat(region, { month: 'long', year: 'numeric' })
  const short = new Intl.DateTimeFormat(region, { month: 'short' })
  const columns = monthsOfYear(month).map((each): Column => {
    const inMonth = counts.filter(({ day }) => day.startsWith(each))
    return {
      ...{
        id: each,
        name: long.format(startOf(each)),
        head: short.format(startOf(each)),
        foot: '',
      },
      episodes: inMonth.reduce((sum, { episodes }) => sum + episodes, 0),
      memories: inMonth.reduce((sum, { memories }) => sum + memories, 0),
    }
  })
  return <Columns columns={columns} {...selection} />
}

function Columns({
  columns,
  selected,
  onSelect,
}: {
  columns: readonly Column[]
  selected: string
  onSelect: (id: string) => void
}) {
  const { t, number } = useI18n()
  const max = Math.max(1, ...columns.flatMap(({ episodes, memories }) => [episodes, memories]))
  const strip = useRef<HTMLOListElement>(null)
  // If not all fit, scrolls to the last one with data.
  useEffect(() => {
    const enabled = strip.current?.querySelectorAll('button:enabled')
    const last = [...(enabled ?? [])].at(-1)?.parentElement
    if (last != null) strip.current?.scrollTo({ left: last.offsetLeft - last.offsetWidth * 8 })
  }, [])
  return (
    <div>
      <div className={styles.chart}>
        <div className={styles.axis} style={{ height: BAR_PX }} aria-hidden="true">
          <span>{number(max)}</span>
          <span>0</span>
        </div>
        <ol className={styles.strip} ref={strip} aria-label={t('timeline.overview')}>
          {columns.map(({ id, name, head, foot, episodes, memories }) => {
            const label = t('timeline.dayCounts', { day: name, episodes, memories })
            return (
              <li key={id} className={styles.day}>
                <button
                  type="button"
                  className={styles.bar}
                  aria-pressed={id === selected}
                  title={label}
                  disabled={episodes + memories === 0 && id !== selected}
                  onClick={() => onSelect(id)}
                >
                  <span className={styles.columns} style={{ height: BAR_PX }}>
                    <Bar count={episodes} max={max} className={styles.episodes} />
                    <Bar count={memories} max={max} className={styles.memories} />
                  </span>
                  <span className={styles.number} aria-hidden="true">
                    {head}
                  </span>
                  <span className={styles.weekday} aria-hidden="true">
                    {foot}
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
