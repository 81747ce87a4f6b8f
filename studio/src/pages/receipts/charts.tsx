/** Charts of token usage by day and model, and the share of requests with memory. */
import { useI18n } from '../../i18n/i18n.tsx'
import { Chart, type Series } from '../../ui/chart.tsx'
import styles from './charts.module.css'
import { daysOf, type Stats } from './queries.ts'

type Cell = Stats['days'][number]
/** Further models are combined: more colors would be indistinguishable. */
const MODELS_MAX = 4

export function Charts({ stats, period }: { stats: Stats; period: number }) {
  const { t, number } = useI18n()
  const days = daysOf(period)
  const sumByDay = (value: (cell: Cell) => number) => {
    const sums = new Map<string, number>()
    for (const cell of stats.days) sums.set(cell.day, (sums.get(cell.day) ?? 0) + value(cell))
    return days.map((day) => sums.get(day) ?? 0)
  }
  const compact = (value: number) =>
    number(value, { notation: 'compact', maximumFractionDigits: 1 })
  const percent = (value: number) => number(value, { style: 'percent', maximumFractionDigits: 0 })
  const requests = sumByDay((cell) => cell.requests)
  const withMemory = sumByDay((cell) => cell.withMemories)
  const shares = requests.map((all, index) => (all === 0 ? null : (withMemory[index] ?? 0) / all))
  const chartProps = { days, asTable: t('receipts.asTable'), dayName: t('receipts.day') }
  return (
    <div className={styles.charts}>
      <Chart
        {...chartProps}
        kind="stack"
        name={t('receipts.chartTokens')}
        format={compact}
        series={[
          {
            name: t('receipts.input'),
            // Providers count memory tokens as input.
            values: sumByDay((cell) => Math.max(0, cell.input - cell.memory)),
          },
          { name: t('receipts.output'), values: sumByDay((cell) => cell.output) },
          { name: t('receipts.memory'), values: sumByDay((cell) => cell.memory) },
        ]}
      />
      <Chart
        {...chartProps}
        kind="stack"
        name={t('receipts.chartModels')}
        format={compact}
        series={byModel(stats.days, sumByDay, t('receipts.others'))}
      />
      <Chart
        {...chartProps}
        kind="line"
        max={1}
        name={t('receipts.chartShare')}
        format={percent}
        series={[{ name: t('receipts.share'), values: shares }]}
      />
    </div>
  )
}

function byModel(
  cells: readonly Cell[],
  sumByDay: (value: (cell: Cell) => number) => readonly number[],
  others: string,
): readonly Series[] {
  const totals = new Map<string, number>()
  for (const cell of cells) {
    totals.set(cell.model, (totals.get(cell.model) ?? 0) + cell.input + cell.output)
  }
  const models = [...totals].sort(([, a], [, b]) => b - a).map(([model]) => model)
  const own = models.slice(0, MODELS_MAX)
  const tokensOf = (matches: (model: string) => boolean) =>
    sumByDay(({ model, input, output }) => (matches(model) ? input + output : 0))
  return [
    ...own.map((model) => ({ name: model, values: tokensOf((each) => each === model) })),
    ...(models.length > MODELS_MAX
      ? [{ name: others, values: tokensOf((each) => !own.includes(each)) }]
      : []),
  ]
}
