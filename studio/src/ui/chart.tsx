/** A chart of values by day (uPlot), with the same values as a table for screen readers. */
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useI18n } from '../i18n/i18n.tsx'
import styles from './chart.module.css'
import { lastDayWithData } from './last-day.ts'
import { Table } from './table.tsx'

export type Series = {
  readonly name: string
  /** One value per day; null if there is no data. */
  readonly values: readonly (number | null)[]
}

type ChartProps = {
  name: string
  /** Consecutive ISO dates, such as `2026-03-31`. */
  days: readonly string[]
  series: readonly Series[]
  /** Stacked bars, or a line for each series. */
  kind: 'stack' | 'line'
  format: (value: number) => string
  /** The largest possible value, such as 1 for shares. */
  max?: number
  asTable: string
  dayName: string
}

/** Series colors in order. None is red, which would indicate an error. */
const COLORS = [
  'var(--accent)',
  'var(--good)',
  'var(--warn)',
  'color-mix(in srgb, var(--accent) 45%, var(--surface))',
  'var(--line-strong)',
] as const
const HEIGHT = 190
const DAY_S = 86_400
/** Space above the maximum, so that a line at the top is not cut off. */
const HEADROOM = 1.06

export function Chart(props: ChartProps) {
  const { name, days, series, format, asTable, dayName } = props
  const { day } = useI18n()
  const [hoveredIndex, setHoveredIndex] = useState<number | null>(null)
  const shown = hoveredIndex ?? lastDayWithData(days, series)
  const rows = days.map((each, index) => ({ day: each, index })).reverse()
  const valueAt = (each: Series, index: number) => {
    const value = each.values[index] ?? null
    return value === null ? '–' : format(value)
  }
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.caption}>
        <h3>{name}</h3>
        <span className={styles.day}>{days[shown] !== undefined && day(noonOf(days[shown]))}</span>
      </figcaption>
      <ul className={styles.legend}>
        {series.map((each, index) => (
          <li key={each.name}>
            <span
              className={styles.key}
              style={{ background: colorAt(index) }}
              aria-hidden="true"
            />
            <span className={styles.name}>{each.name}</span>
            <b>{valueAt(each, shown)}</b>
          </li>
        ))}
      </ul>
      <Canvas {...props} onHover={setHoveredIndex} />
      <details className={styles.details}>
        <summary>{asTable}</summary>
        <div className={styles.table}>
          <Table
            name={name}
            rows={rows}
            idOf={(row) => row.day}
            columns={[
              { name: dayName, cell: (row) => day(noonOf(row.day)) },
              ...series.map((each) => ({
                name: each.name,
                isNumber: true,
                cell: (row: { index: number }) => valueAt(each, row.index),
              })),
            ]}
          />
        </div>
      </details>
    </figure>
  )
}

function Canvas({
  days,
  series,
  kind,
  format,
  max,
  onHover,
}: ChartProps & { onHover: (index: number | null) => void }) {
  const frame = useRef<HTMLDivElement>(null)
  const { region } = useI18n()
  const theme = useThemeChanges()
  const latest = useRef({ format, onHover })
  latest.current = { format, onHover }
  const dataKey = JSON.stringify([days, series])
  // Recreated on every change: there are few points, and incremental updates could leave stale state.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `dataKey` represents days and series
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const plot = new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        padding: [8, 8, 0, 0],
        cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'line' } },
        scales: {
          x: { range: (_, from, to) => [from - DAY_S / 2, to + DAY_S / 2] },
          y: { range: (_, __, to) => [0, HEADROOM * (max ?? (to > 0 ? to : 1))] },
        },
        axes: axesOf(element, region, (value) => latest.current.format(value)),
        series: [{}, ...seriesOf(element, series, kind)],
        hooks: {
          setCursor: [({ cursor }) => latest.current.onHover(cursor.idx ?? null)],
        },
      },
      dataOf(days, series, kind),
      element,
    )
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0)
      if (width > 0) plot.setSize({ width, height: HEIGHT })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [dataKey, kind, max, region, theme])
  return <div ref={frame} className={styles.canvas} aria-hidden="true" />
}

/** Stacks by cumulative sums: each bar starts at zero, and the highest are drawn first. */
function dataOf(
  days: readonly string[],
  series: readonly Series[],
  kind: ChartProps['kind'],
): uPlot.AlignedData {
  const xs = days.map((day) => noonOf(day) / 1_000)
  if (kind === 'line') return [xs, ...series.map(({ values }) => [...values])]
  let below = days.map(() => 0)
  const tops = series.map(({ values }) => {
    below = below.map((sum, index) => sum + (values[index] ?? 0))
    return below
  })
  return [xs, ...tops.reverse()]
}

function seriesOf(
  element: HTMLElement,
  series: readonly Series[],
  kind: ChartProps['kind'],
): uPlot.Series[] {
  const colors = series.map((_, index) => resolveColor(element, colorAt(index)))
  if (kind === 'line') {
    return colors.map((stroke) => ({ stroke, width: 2, spanGaps: true, points: { size: 6 } }))
  }
  const paths = uPlot.paths.bars?.({ size: [0.7, 36], radius: 0.15 })
  return colors
    .map(
      (fill): uPlot.Series => ({
        fill,
        width: 0,
        ...(paths && { paths }),
        points: { show: false },
      }),
    )
    .reverse()
}

function axesOf(
  element: HTMLElement,
  region: string,
  format: (value: number) => string,
): uPlot.Axis[] {
  const stroke = resolveColor(element, 'var(--text-soft)')
  const line = resolveColor(element, 'var(--line)')
  const font = `11px ${getComputedStyle(element).fontFamily}`
  const days = new Intl.DateTimeFormat(region, { day: 'numeric', month: 'short' })
  return [
    {
      stroke,
      font,
      size: 28,
      grid: { show: false },
      ticks: { show: false },
      incrs: [1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY_S),
      space: 60,
      values: (_, splits) => splits.map((at) => days.format(at * 1_000)),
    },
    {
      stroke,
      font,
      size: 54,
      grid: { stroke: line, width: 1 },
      ticks: { show: false },
      values: (_, splits) => splits.map((value) => format(value)),
    },
  ]
}

function colorAt(index: number): string {
  return COLORS[Math.min(index, COLORS.length - 1)] ?? COLORS[0]
}

/** Resolves a CSS variable to a color, because a canvas does not support variables. */
function resolveColor(element: HTMLElement, cssColor: string): string {
  const probe = document.createElement('span')
  probe.style.color = cssColor
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Local noon of a day, which is the same day across daylight saving changes. */
function noonOf(day: string): number {
  const [year = 1970, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date, 12).getTime()
}

/** A counter that increments when the theme changes. */
function useThemeChanges(): number {
  const [changes, setChanges] = useState(0)
  const dark = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), [])
  useEffect(() => {
    const increment = () => setChanges((count) => count + 1)
    const observer = new MutationObserver(increment)
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    dark.addEventListener('change', increment)
    return () => {
      observer.disconnect()
      dark.removeEventListener('change', increment)
    }
  }, [dark])
  return changes
}
