/**
 * Packages for tests in a folder of their own below `test/parts`, with a lockfile of its own: they are installed there
 * when they are missing, once in a run, so that the project itself stays quick to install.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Not `ci`: it wants the packages of every other platform in the lockfile, and a registry need not have them. */
export const INSTALL = [
  ...['install', '--no-save', '--omit=optional', '--ignore-scripts'],
  ...['--no-audit', '--no-fund'],
]
const INSTALL_MS_MAX = 180_000
const POLL_MS = 200

export function partFolder(part: string): string {
  return join(dirname(fileURLToPath(import.meta.url)), '..', 'parts', part)
}

/** Why the package is not there; null when it is. */
export async function installPart(part: string, name: string): Promise<string | null> {
  if (!isInstalled(part, name)) await installOnce(part)
  return isInstalled(part, name) ? null : `${name} could not be installed here`
}

/** An ES module of the part, with what the test says about its form. */
export async function importPart<Module>(part: string, name: string): Promise<Module> {
  const path = createRequire(join(partFolder(part), 'package.json')).resolve(name)
  return (await import(pathToFileURL(path).href)) as Module // the test knows the package
}

function isInstalled(part: string, name: string): boolean {
  return existsSync(join(partFolder(part), 'node_modules', name, 'package.json'))
}

/** Two installations into one folder would spoil each other, so the others wait for whoever came first. */
async function installOnce(part: string): Promise<void> {
  const turn = join(process.env.TEST_FOLDER ?? tmpdir(), `${part}-installation`)
  const done = join(turn, 'done')
  const isFirst = mkdirSync(turn, { recursive: true }) !== undefined
  if (!isFirst) {
    for (let waited = 0; !existsSync(done) && waited < INSTALL_MS_MAX; waited += POLL_MS) {
      await delay(POLL_MS)
    }
    return
  }
  const shell = process.platform === 'win32'
  const options = { cwd: partFolder(part), timeout: INSTALL_MS_MAX, shell }
  try {
    await promisify(execFile)('npm', INSTALL, options)
  } catch {
    // Whether it is there is looked at afterwards.
  } finally {
    writeFileSync(done, '')
  }
}
