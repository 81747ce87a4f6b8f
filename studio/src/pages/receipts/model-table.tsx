/** Requests and token usage by model. */
import { useI18n } from '../../i18n/i18n.tsx'
import { Table } from '../../ui/table.tsx'
import type { Stats } from './queries.ts'

type Row = Stats['total'] & { readonly model: string }

export function ModelTable({ stats }: { stats: Stats }) {
  const { t, number } = useI18n()
  const count = (name: string, value: (row: Row) => number) => ({
    name,
    isNumber: true,
    cell: (row: Row) => number(value(row)),
  })
  return (
    <Table<Row>
      name={t('receipts.byModel')}
      rows={rowsOf(stats)}
      idOf={({ model }) => model}
      columns={[
        { name: t('receipts.model'), cell: ({ model }) => model },
        count(t('receipts.requests'), ({ requests }) => requests),
        {
          name: t('receipts.withMemories'),
          isNumber: true,
          cell: ({ withMemories, requests }) =>
            number(withMemories / requests, { style: 'percent', maximumFractionDigits: 0 }),
        },
        count(t('receipts.inputTokens'), ({ input }) => input),
        count(t('receipts.outputTokens'), ({ output }) => output),
        count(t('receipts.memoryTokens'), ({ memory }) => memory),
        count(t('receipts.extractedTotal'), ({ learned }) => learned),
        count(t('receipts.failed'), ({ failed }) => failed),
      ]}
    />
  )
}

/** Sorted by tokens, largest first. */
function rowsOf({ days }: Stats): readonly Row[] {
  const rows = new Map<string, Row>()
  for (const { day: _, model, ...own } of days) {
    const before = rows.get(model)
    rows.set(model, before === undefined ? { ...own, model } : { ...addTotals(before, own), model })
  }
  return [...rows.values()].sort((a, b) => b.input + b.output - a.input - a.output)
}

function addTotals(a: Stats['total'], b: Stats['total']): Stats['total'] {
  return {
    requests: a.requests + b.requests,
    withMemories: a.withMemories + b.withMemories,
    failed: a.failed + b.failed,
    learned: a.learned + b.learned,
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    memory: a.memory + b.memory,
  }
}
