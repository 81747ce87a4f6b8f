/**
 * Prepares a clone: installs when the lockfile is newer than the installation, builds when a source is newer than the
 * build. Runs on plain Node without dependencies, because it runs before they are installed.
 *
 * - `--tools` also builds the benchmarks and evaluations.
 * - `--clean` discards earlier builds first, as a release does.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compilerCommand, discardBuild, refreshOutputs } from './compiler-output.mjs'

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'))

const NODE_MIN = [20, 19]
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  fail(`Recollect needs Node ${NODE_MIN.join('.')} or newer; this is ${process.versions.node}.`)
}

const isClean = process.argv.includes('--clean')

if (newest('package-lock.json') > newest('node_modules/.package-lock.json')) {
  step('Installing', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}
build('dist', ['src', 'tsconfig.build.json', 'scripts'], {
  prepare: ['scripts/api-types.mjs'],
  compile: { project: 'tsconfig.build.json', sourceRoot: 'src' },
  bundle: ['scripts/bundle.mjs'],
})
build('dist-studio', ['studio'], {
  bundle: ['node_modules/vite/bin/vite.js', 'build', '-c', 'studio/vite.config.ts'],
})
if (process.argv.includes('--tools')) {
  build('.build', ['src', 'bench', 'evals', 'tsconfig.tools.json'], {
    compile: { project: 'tsconfig.tools.json', sourceRoot: '.' },
  })
}

/**
 * Builds a folder unless its stamp is newer than every source. The stamp is removed first and written last, so a build
 * that fails or is killed never counts as done, and the next one starts from nothing.
 */
function build(folder, sources, { prepare, compile, bundle }) {
  const stamp = join(folder, '.built')
  const changed = Math.max(...[...sources, 'tsconfig.json', 'package.json'].map(newest))
  const isBuilt = existsSync(stamp)
  if (isBuilt && !isClean && changed <= newest(stamp)) return
  // Before the time is taken: it may write sources.
  if (prepare !== undefined && existsSync(prepare[0])) {
    step('Generating API types', process.execPath, prepare)
  }
  const started = new Date()
  if (!isBuilt || isClean || compile === undefined) discardBuild(folder)
  else rmSync(stamp)
  if (compile !== undefined) {
    step(`Building ${folder}`, process.execPath, compilerCommand(folder, compile.project))
    refreshOutputs(folder, compile.sourceRoot)
  }
  if (bundle !== undefined) step(`Bundling ${folder}`, process.execPath, bundle)
  writeFileSync(stamp, '')
  // The time of the start: a source that changed while it was built is built again.
  utimesSync(stamp, started, started)
}

/**
 * When the newest file at or below a path changed; 0 when there is none. Folders count, because removing or renaming a
 * file changes nothing else.
 */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return 0
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

function step(name, command, args) {
  process.stderr.write(`${name} …\n`)
  const started = Date.now()
  const shell = process.platform === 'win32'
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2], shell })
  if (status !== 0) fail(`${name} failed${error === undefined ? '' : `: ${error.message}`}.`)
  process.stderr.write(`${name} took ${((Date.now() - started) / 1000).toFixed(1)} s.\n`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
