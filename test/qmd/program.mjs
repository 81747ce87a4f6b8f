/**
 * The real `qmd`, for the test that runs it: installed into this folder from the lockfile when it is missing, without what
 * only its models need. It runs on the current LTS Node, as it doesn't on older ones.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ltsNode } from '../lts/run.mjs'

const NODE_MIN = 22
const INSTALL_MS_MAX = 180_000
const here = dirname(fileURLToPath(import.meta.url))
const program = join(here, 'node_modules', '@tobilu', 'qmd', 'dist', 'cli', 'qmd.js')

/** How it is called, or why it can't be: `{ command }` or `{ reason }`. */
export function realQmd() {
  const isNewEnough = Number(process.versions.node.split('.')[0]) >= NODE_MIN
  const node = isNewEnough ? process.execPath : ltsNode()
  if (node === null) return { reason: `it needs Node ${NODE_MIN}, see test/lts` }
  if (!existsSync(program)) install()
  if (!existsSync(program)) return { reason: 'it could not be installed' }
  const { status, stderr } = spawnSync(node, [program, '--version'], { encoding: 'utf8' })
  if (status !== 0) return { reason: `it does not start (${stderr.trim().slice(-200)})` }
  return { command: [node, program] }
}

function install() {
  // Its scripts build what only models and source code need.
  const flags = ['ci', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund']
  spawnSync('npm', [...flags, '--loglevel=error'], {
    cwd: here,
    stdio: 'ignore',
    timeout: INSTALL_MS_MAX,
    shell: process.platform === 'win32',
  })
}
