/**
 * `npm run eval -- <name> [--json] [--explain] [--data <folder>] [--sample <groups>]`
 *
 * `e2e` also takes `--sets <name,…>`, `--categories <name,…>`, `--budgets <tokens,…>` and `--gateway`.
 */
import { parseArgs } from 'node:util'
import { evaluateContradiction } from './contradiction.ts'
import { evaluateCurrency } from './currency.ts'
import { hasSet } from './datasets.ts'
import { type E2eOptions, evaluateE2e } from './e2e.ts'
import { evaluateEveryday } from './everyday.ts'
import { evaluateExtraction } from './extraction.ts'
import { evaluateFiles } from './files.ts'
import { fitWeights } from './fit.ts'
import { evaluateGate } from './gate.ts'
import { evaluateGrounding } from './grounding.ts'
import { evaluatePatterns } from './patterns.ts'
import { evaluateRecall, RECALL_SETS } from './recall.ts'
import { type EvalOptions, type EvalReport, renderTable } from './report.ts'
import { evaluateRequests } from './requests.ts'
import { evaluateSmallStores } from './small-stores.ts'
import { evaluateTruth } from './truth.ts'

const EVALS: Readonly<Record<string, (options: E2eOptions) => Promise<EvalReport>>> = {
  e2e: evaluateE2e,
  everyday: evaluateEveryday,
  patterns: evaluatePatterns,
  requests: evaluateRequests,
  abstention: evaluateSmallStores,
  extraction: evaluateExtraction,
  gate: evaluateGate,
  grounding: evaluateGrounding,
  contradiction: evaluateContradiction,
  truth: evaluateTruth,
  currency: evaluateCurrency,
  files: evaluateFiles,
  fit: fitWeights,
  ...Object.fromEntries(
    RECALL_SETS.map((set) => [set, (options: EvalOptions) => evaluateRecall(set, options)]),
  ),
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    explain: { type: 'boolean', default: false },
    data: { type: 'string', default: '../shared/evals' },
    sample: { type: 'string' },
    sets: { type: 'string' },
    categories: { type: 'string' },
    budgets: { type: 'string' },
    gateway: { type: 'boolean', default: false },
  },
})

const PLAIN_LINES_MS = 15_000
let printedAtMs = performance.now()

const name = positionals[0] ?? ''
const sample = values.sample === undefined ? undefined : Number(values.sample)
if (sample !== undefined && (!Number.isInteger(sample) || sample < 1)) {
  process.stderr.write(`--sample must be a positive integer; got ${values.sample}.\n`)
  process.exit(2)
}
const budgets = values.budgets?.split(',').map(Number)
if (budgets?.some((budget) => !Number.isInteger(budget) || budget < 1) === true) {
  process.stderr.write(`--budgets must be positive integers; got ${values.budgets}.\n`)
  process.exit(2)
}
/** A folder of `--data` in the form of the public sets is one too, whatever its name. */
const evaluate =
  EVALS[name] ??
  (hasSet(values.data, name) ? (options: EvalOptions) => evaluateRecall(name, options) : undefined)
if (evaluate === undefined) {
  process.stderr.write(`Unknown eval "${name}". There are: ${Object.keys(EVALS).join(', ')}.\n`)
  process.exitCode = 2
} else {
  const report = await evaluate({
    data: values.data,
    explain: values.explain,
    onProgress: showProgress,
    ...(sample === undefined ? {} : { sample }),
    ...(values.sets === undefined ? {} : { sets: values.sets.split(',') }),
    ...(values.categories === undefined ? {} : { categories: values.categories.split(',') }),
    ...(budgets === undefined ? {} : { budgets }),
    gateway: values.gateway,
  })
  showProgress('')
  const json = JSON.stringify(report.json ?? report)
  process.stdout.write(values.json ? `${json}\n` : `${render(report)}\n`)
  if (report.floors.some((floor) => !floor.holds)) process.exitCode = 1
}

function render(report: EvalReport): string {
  const floors = report.floors.map(
    (floor) =>
      `${floor.holds ? 'holds' : 'FAILS'}  ${floor.name}: ${floor.value.toFixed(3)} (floor ${floor.floor})`,
  )
  return [...report.tables.map(renderTable), floors.join('\n')].join('\n\n')
}

/** One line that is written over; a plain one now and then where it goes to a file. */
function showProgress(words: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\u001b[K${words}`)
    return
  }
  if (words === '' || performance.now() - printedAtMs < PLAIN_LINES_MS) return
  printedAtMs = performance.now()
  process.stderr.write(`${words}\n`)
}
