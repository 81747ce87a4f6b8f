/**
 * `npm test`: types, lint, and the whole suite on this Node, then what needs a newer Node on the current LTS. At the
 * end it lists what was skipped and why, and what passed only on a retry. With `--thorough`, tests that kill processes
 * or use random input repeat several times as often.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

if (process.argv.includes('--thorough')) process.env.TEST_THOROUGH = '1'
const folder = mkdtempSync(join(tmpdir(), 'recollect-report-'))
/**
 * What another Node could change: encryption, which needs the LTS, the native driver, the program as a process, its
 * streams and servers, and how text is read. The rest is the same code with the same answers on both.
 */
const LTS_TESTS = [
  'test/conformance/sqlite/sqlite-store',
  'test/conformance/sqlite/sqlite-cipher',
  'test/e2e/wal-checkpoints',
  'test/e2e/store-migration',
  'test/conformance/sqlite/sqlite-vector-index',
  'test/faults/sqlite-conversion',
  'test/faults/sqlite-disk-full',
  'test/faults/sqlite-encryption',
  'test/faults/sqlite-read-only',
  'test/faults/sqlite-recovery',
  'test/faults/sqlite-vectors',
  'test/conformance/files/qmd-file-search',
  'test/files/qmd-real',
  'test/api/http/http-connections',
  'test/api/mcp/mcp-stdio-transport',
  'test/e2e/cli/cli-encryption',
  'test/moving/osaurus',
  'test/e2e/cli/cli-process',
  'test/api/gateway/clients/openai-client-latest',
  'test/models/providers/http-upstream',
  'src/text/search/terms',
]
const TSC = 'node_modules/typescript/bin/tsc'
const steps = [
  ['Types', types('tsconfig.json', 'types')],
  ['Types of the Studio', types('studio/tsconfig.json', 'studio-types')],
  [
    'Lint',
    [process.execPath, 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'],
  ],
  ['Unused code', [process.execPath, 'node_modules/knip/bin/knip.js']],
  [
    `Suite on Node ${process.versions.node}`,
    vitest(process.execPath, ['node_modules/vitest/vitest.mjs'], 'here'),
  ],
  [
    'What depends on Node, on the current LTS',
    vitest(process.execPath, ['test/lts/run.mjs'], 'lts', LTS_TESTS),
  ],
]

/** What `test/lts/run.mjs` exits with when that Node can't be installed here. */
const NOT_POSSIBLE = 75
const SLOWEST_FILES_MAX = 20
const ERROR_LINES_MAX = 12
const failed = []
const notRun = []
for (const [name, [command, ...args]] of steps) {
  const started = Date.now()
  process.stdout.write(`\n── ${name}\n`)
  const env = { ...process.env, TEST_RETRIES_FILE: retriesFile(name) }
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env })
  process.stdout.write(`── ${name}: ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
  if (status === NOT_POSSIBLE) notRun.push(name)
  else if (status !== 0) failed.push(name)
}

const slowest = filesOf('here')
  .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
  .sort((a, b) => b.seconds - a.seconds)
  .slice(0, SLOWEST_FILES_MAX)
if (slowest.length > 0) process.stdout.write('\nSlowest files:\n')
for (const { name, seconds } of slowest) {
  process.stdout.write(`  ${seconds.toFixed(1).padStart(6)} s  ${relative(process.cwd(), name)}\n`)
}

const tests = ['here', 'lts'].flatMap(testsOf)
const count = (status) => tests.filter((test) => test.status === status).length
const skipped = tests.filter((test) => !['passed', 'failed'].includes(test.status))
const reasons = new Map(notRun.map((name) => [`${name}: it can't be installed here`, 0]))
for (const test of skipped) reasons.set(reasonOf(test), (reasons.get(reasonOf(test)) ?? 0) + 1)
if (reasons.size > 0) {
  process.stdout.write('\nSkipped, and why:\n')
  for (const [reason, times] of reasons) {
    process.stdout.write(`  ${reason}${times > 1 ? ` (${times} tests)` : ''}\n`)
  }
}
const retried = steps.flatMap(([name]) => {
  const file = retriesFile(name)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
})
if (retried.length > 0) {
  process.stdout.write(`\nFLAKY: ${retried.length} passed only on a retry. Each needs mending:\n`)
  for (const { file, name, retries, errors } of retried) {
    process.stdout.write(
      `\n  ${file}\n  ${name} (${retries} ${retries > 1 ? 'retries' : 'retry'})\n`,
    )
    for (const error of errors) process.stdout.write(`${indent(firstLines(error))}\n`)
  }
}
if (failed.length > 0) {
  process.stdout.write(`\nFailed: ${failed.join(', ')}\n`)
  // Again at the very end, because whoever reads a log reads its end.
  for (const { where, name, why } of ['here', 'lts'].flatMap(failuresOf)) {
    process.stdout.write(`\n  ${where}\n  ${name}\n${indent(why)}\n`)
  }
}
process.stdout.write(
  `\n${count('passed')} passed, ${count('failed')} failed, ${skipped.length} skipped\n`,
)
rmSync(folder, { recursive: true, force: true })
process.exit(failed.length > 0 ? 1 : 0)

function types(project, name) {
  const buildInfo = ['--incremental', '--tsBuildInfoFile', `.cache/${name}.tsbuildinfo`]
  return [process.execPath, TSC, '-p', project, ...buildInfo]
}

function vitest(node, script, run, files = []) {
  const report = join(folder, `${run}.json`)
  const reporters = [
    ...['--reporter=dot', '--reporter=./scripts/retry-reporter.mjs'],
    ...['--reporter=json', `--outputFile.json=${report}`],
  ]
  return [node, ...script, 'run', ...files, ...reporters]
}

function retriesFile(step) {
  return join(folder, `retries-${steps.findIndex(([name]) => name === step)}.json`)
}

function firstLines(text) {
  return (text ?? '').split('\n').slice(0, ERROR_LINES_MAX).join('\n')
}

function indent(text) {
  return text.replace(/^/gm, '    ')
}

function filesOf(run) {
  const report = join(folder, `${run}.json`)
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : []
}

function failuresOf(run) {
  return filesOf(run).flatMap((file) => {
    const where = relative(process.cwd(), file.name)
    const tests = file.assertionResults.filter((test) => test.status === 'failed')
    if (file.status === 'failed' && tests.length === 0) {
      return [{ where, name: 'the file itself', why: firstLines(file.message) }]
    }
    return tests.map(({ fullName, failureMessages: [why] }) => ({
      where,
      name: fullName,
      why: firstLines(why),
    }))
  })
}

function testsOf(run) {
  return filesOf(run).flatMap((file) =>
    file.assertionResults.map(({ status, title, ancestorTitles: [group] }) => ({
      run,
      status,
      title,
      group: group ?? '',
    })),
  )
}

/** The reason stands in the name of the test, or of its group when all of that is skipped. */
function reasonOf({ run, group, title }) {
  const isWhole = tests.every(
    (other) => other.run !== run || other.group !== group || skipped.includes(other),
  )
  return `${run === 'lts' ? 'on the LTS: ' : ''}${isWhole && group !== '' ? group : title}`
}
