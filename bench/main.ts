/**
 * `npm run bench -- <name> [--json] [--scale 0.1]`; `recall` and `stores` also take `--scale 10`, for a million memories;
 * `http` takes `--soak 60`, for a minute of everything at once; `files` takes `--data <folder>`, where the public pages are;
 * `gateway`, `recall` and `scale` take `--only <part>`, for one of their parts; `scale` takes `--minutes 30`, to stop importing then.
 */
import { parseArgs } from 'node:util'
import { benchFiles } from './files.ts'
import { benchGateway, GATEWAY_PARTS } from './gateway.ts'
import type { BenchOptions, BenchReport, BenchRow } from './harness.ts'
import { benchHttp } from './http.ts'
import { benchLifecycle } from './lifecycle.ts'
import { benchRecall, RECALL_PARTS } from './recall.ts'
import { benchScale, SCALE_PARTS } from './scale.ts'
import { benchSoak } from './soak.ts'
import { benchStore } from './store.ts'
import { benchStores } from './stores.ts'
import { benchStudio } from './studio.ts'

type Bench = {
  readonly run: (options: BenchOptions) => Promise<BenchReport>
  readonly scaleMax: number
  /** What `--only` can choose. */
  readonly parts?: readonly string[]
}

const BENCHES: Readonly<Record<string, Bench>> = {
  files: { run: benchFiles, scaleMax: 1 },
  gateway: { run: benchGateway, scaleMax: 1, parts: GATEWAY_PARTS },
  http: { run: benchHttp, scaleMax: 1 },
  lifecycle: { run: benchLifecycle, scaleMax: 1 },
  recall: { run: benchRecall, scaleMax: 10, parts: RECALL_PARTS },
  scale: { run: benchScale, scaleMax: 1, parts: SCALE_PARTS },
  soak: { run: benchSoak, scaleMax: 1 },
  store: { run: benchStore, scaleMax: 1 },
  stores: { run: benchStores, scaleMax: 10 },
  studio: { run: benchStudio, scaleMax: 1 },
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    scale: { type: 'string', default: '1' },
    soak: { type: 'string', default: '0' },
    minutes: { type: 'string' },
    data: { type: 'string' },
    only: { type: 'string' },
  },
})
const name = positionals[0] ?? ''
const bench = BENCHES[name]
const scale = Number(values.scale)
const soakSeconds = Number(values.soak)
const problem = problemOf(bench)
if (bench === undefined || problem !== null) {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 2
} else {
  const isWatched = process.stderr.isTTY
  const report = await bench.run({
    scale,
    soakSeconds: soakSeconds > 0 ? soakSeconds : 0,
    ...(values.minutes === undefined ? {} : { minutes: Number(values.minutes) }),
    ...(values.only === undefined ? {} : { only: values.only }),
    ...(values.data === undefined ? {} : { data: values.data }),
    progress: (what) => {
      if (isWatched) process.stderr.write(`\r\u001b[K${name}: ${what} …`)
    },
  })
  if (isWatched) process.stderr.write('\r\u001b[K')
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : `${render(report)}\n`)
}

function problemOf(chosen: Bench | undefined): string | null {
  if (chosen === undefined) {
    return `Unknown bench "${name}". There are: ${Object.keys(BENCHES).join(', ')}.`
  }
  if (!(scale > 0 && scale <= chosen.scaleMax)) {
    return `--scale must be above 0 and at most ${chosen.scaleMax}.`
  }
  const { parts = [] } = chosen
  if (values.only === undefined || parts.includes(values.only)) return null
  return parts.length === 0
    ? `The bench "${name}" has no parts for --only.`
    : `--only must be one of ${parts.join(', ')}.`
}

function render(report: BenchReport): string {
  const machine = Object.entries(report.machine).map(([key, value]) => `${key} ${value}`)
  const bars = report.bars.map(
    ({ name, value, bar, holds }) => `${holds ? 'holds' : 'FAILS'}  ${name}: ${value} (${bar})`,
  )
  const parts = [[machine.join(', ')], [table(report.rows)], bars, report.notes ?? []]
  return parts.flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')])).join('\n\n')
}

function table(rows: readonly BenchRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = [
    columns,
    ...rows.map((row) => columns.map((column) => (row[column] ?? '–').toLocaleString('en'))),
  ]
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => (line[index] ?? '').length)),
  )
  return lines
    .map((line) =>
      line
        .map((cell, index) =>
          index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
        )
        .join('  '),
    )
    .join('\n')
}
