/**
 * Runs vitest under the current LTS Node with the given arguments: `node test/lts/run.mjs run test/faults`.
 * Installs that Node and what needs it into this folder when they are missing, from the lockfile.
 * Exits with 75 when they can't be installed, so that a caller can tell "not possible here" from "failed".
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkCiphers } from './link.mjs'

const NOT_POSSIBLE = 75
const here = dirname(fileURLToPath(import.meta.url))
const project = join(here, '..', '..')

/** The path of the LTS Node, or null when it isn't installed. */
export function ltsNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const program = process.platform === 'win32' ? 'node.exe' : 'node'
  const folders = [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`]
  const paths = folders.map((folder) => join(here, 'node_modules', folder, 'bin', program))
  return paths.find((path) => existsSync(path)) ?? null
}

/** Installs what is missing; returns the path of the LTS Node, or null when that didn't work. */
export function prepare() {
  const packages = ['better-sqlite3-multiple-ciphers', 'openai']
  const isMissing = () =>
    packages.some((name) => !existsSync(join(here, 'node_modules', name, 'package.json')))
  if (ltsNode() === null || isMissing()) {
    // Quiet about engines: they are for the Node that is installed here, not for the one that runs npm.
    const flags = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
    const options = { cwd: here, stdio: 'inherit', shell: process.platform === 'win32' }
    spawnSync('npm', flags, options)
  }
  if (ltsNode() === null || isMissing()) return null
  linkCiphers()
  return ltsNode()
}

function main() {
  const node = prepare()
  if (node === null) {
    console.error('The LTS Node could not be installed.')
    return NOT_POSSIBLE
  }
  const vitest = join(project, 'node_modules', 'vitest', 'vitest.mjs')
  const given = process.argv.slice(2)
  const options = { cwd: project, stdio: 'inherit' }
  const { status, signal } = spawnSync(
    node,
    [vitest, ...(given.length > 0 ? given : ['run'])],
    options,
  )
  if (signal !== null) console.error(`vitest was ended by ${signal}.`)
  return status ?? 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main()
