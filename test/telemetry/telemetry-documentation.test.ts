/** docs/operations/observability.md is made from the closed tables. Run vitest with -u to renew it. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { HEALTH_REASONS } from '../../src/engine/health.ts'
import {
  COUNTERS,
  GAUGES,
  HISTOGRAMS,
  LOG_EVENTS,
  LOG_FIELDS,
  SPANS,
} from '../../src/telemetry/telemetry.ts'

const PAGE = 'docs/operations/observability.md'

it('[TE12] docs/operations/observability.md documents every metric, event, field, span and reason', async () => {
  const tables: readonly (readonly [string, readonly string[]])[] = [
    ['metric kind labels meaning', metricRows()],
    ['event meaning', rows(LOG_EVENTS)],
    ['field meaning', rows(LOG_FIELDS)],
    ['span meaning', rows(SPANS)],
    ['reason meaning', rows(HEALTH_REASONS)],
  ]
  const page = tables.reduce(
    (text, [columns, lines]) => withTable(text, columns, lines),
    readFileSync(PAGE, 'utf8'),
  )
  await expect(page).toMatchFileSnapshot(`../../${PAGE}`)
})

it('[TE12] names of metrics end in what they count, as Prometheus wants it', () => {
  for (const name of Object.keys(COUNTERS)) expect(name).toMatch(/^recollect_[a-z_]+_total$/)
  for (const name of Object.keys(HISTOGRAMS)) expect(name).toMatch(/^recollect_[a-z_]+_seconds$/)
  for (const name of Object.keys(GAUGES)) expect(name).not.toMatch(/_total$|_seconds$/)
})

function metricRows(): readonly string[] {
  return [
    ...kindRows('counter', COUNTERS),
    ...kindRows('histogram', HISTOGRAMS),
    ...kindRows('gauge', GAUGES),
  ]
}

function kindRows(
  kind: string,
  table: Readonly<Record<string, { readonly labels: readonly string[]; readonly help: string }>>,
): readonly string[] {
  return Object.entries(table).map(
    ([name, { labels, help }]) => `| \`${name}\` | ${kind} | ${labels.join(', ')} | ${help} |`,
  )
}

function rows(table: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(table).map(([name, help]) => `| \`${name}\` | ${help} |`)
}

/** The page with this table as it follows from the code, and all around it as it is. */
function withTable(text: string, columns: string, lines: readonly string[]): string {
  const names = columns.split(' ')
  const head = `| ${names.join(' | ')} |\n|${names.map(() => '---').join('|')}|`
  const begin = text.indexOf(head)
  if (begin < 0) throw new Error(`${PAGE} has no table with the columns ${columns}.`)
  const rest = text.slice(begin + head.length).replace(/^(?:\n\|.*)*/, '')
  return [text.slice(0, begin), head, ...lines.map((line) => `\n${line}`), rest].join('')
}
