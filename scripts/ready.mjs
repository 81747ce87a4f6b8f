/**
 * Makes a fresh clone ready: installs when the lockfile is newer than what is installed, builds when a source is
 * newer than what is built. Plain Node and no dependencies, because it runs before there are any.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'))

const NODE_MIN = [20, 19]
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  fail(`Recollect needs Node ${NODE_MIN.join('.')} or newer; this is ${process.versions.node}.`)
}

if (newest('package-lock.json') > newest('node_modules/.package-lock.json')) {
  step('Installing', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}
const TSC = 'node_modules/typescript/bin/tsc'
build(
  'dist',
  ['src', 'tsconfig.build.json', 'scripts/bundle.mjs'],
  [[TSC, '-p', 'tsconfig.build.json'], ['scripts/bundle.mjs']],
)
build(
  'dist-studio',
  ['studio'],
  [['node_modules/vite/bin/vite.js', 'build', '-c', 'studio/vite.config.ts']],
)
if (process.argv.includes('--tools')) {
  const sources = ['src', 'bench', 'evals', 'tsconfig.tools.json']
  build('.build', sources, [[TSC, '-p', 'tsconfig.tools.json']])
}

function build(folder, sources, commands) {
  const stamp = join(folder, '.built')
  const changed = Math.max(...[...sources, 'tsconfig.json', 'package.json'].map(newest))
  if (changed <= newest(stamp)) return
  rmSync(folder, { recursive: true, force: true })
  for (const [index, command] of commands.entries()) {
    step(`${index === 0 ? 'Building' : 'Bundling'} ${folder}`, process.execPath, command)
  }
  writeFileSync(stamp, '')
}

/** When the newest file at or below a path was changed; 0 when there is none. */
function newest(path) {
  if (!existsSync(path)) return 0
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))))
}

function step(what, command, args) {
  process.stderr.write(`${what} …\n`)
  const started = Date.now()
  const shell = process.platform === 'win32'
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2], shell })
  if (status !== 0) fail(`${what} failed${error === undefined ? '' : `: ${error.message}`}.`)
  process.stderr.write(`${what} took ${((Date.now() - started) / 1000).toFixed(1)} s.\n`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
