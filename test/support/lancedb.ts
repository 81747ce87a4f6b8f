/**
 * The package `@lancedb/lancedb` for tests, from a folder of its own: it is installed there when it is missing, once in a
 * run. Where it is not to be had, the reason is told.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openLanceDatabase } from '../../src/storage/lancedb/lancedb-driver.ts'
import { toTableName } from '../../src/storage/lancedb/point-rows.ts'
import type { VectorSpace } from '../../src/storage/vector-index.ts'

export type InstalledLance = {
  readonly kind: 'installed'
  readonly folder: string
  load(): Promise<unknown>
}
export type NoLance = { readonly kind: 'none'; readonly reason: string }

const PART = join(dirname(fileURLToPath(import.meta.url)), '..', 'parts', 'lancedb')
const PACKAGE = '@lancedb/lancedb'
/** Not `ci`: it wants the packages of every other platform in the lockfile, and a registry need not have them. */
export const INSTALL = [
  ...['install', '--no-save', '--omit=optional', '--ignore-scripts'],
  ...['--no-audit', '--no-fund'],
]
const INSTALL_MS_MAX = 180_000
const POLL_MS = 200

export async function lancePart(): Promise<InstalledLance | NoLance> {
  if (!isInstalled()) await installOnce()
  if (!isInstalled()) return { kind: 'none', reason: `${PACKAGE} could not be installed here` }
  try {
    await loadFrom(PART)
  } catch (thrown) {
    const [reason = ''] = String(thrown).split('\n')
    return { kind: 'none', reason: `${PACKAGE} does not run here: ${reason}` }
  }
  return { kind: 'installed', folder: PART, load: () => loadFrom(PART) }
}

/** As somebody would who keeps the package elsewhere. */
export async function loadFrom(folder: string): Promise<unknown> {
  return createRequire(join(folder, 'package.json'))(PACKAGE)
}

/** How the table of a space looks on disk, read beside any mirror. */
export async function tableFacts({ load }: InstalledLance, folder: string, space: VectorSpace) {
  const { connection } = await openLanceDatabase(folder, load)
  const table = await connection.openTable(toTableName(space))
  const { fragmentStats } = await table.stats()
  const indexes = await table.listIndices()
  const versions = await table.listVersions()
  table.close()
  connection.close()
  return {
    fragments: fragmentStats.numFragments,
    indexes: indexes.map(({ name }) => name).sort(),
    versions: versions.length,
  }
}

function isInstalled(): boolean {
  return existsSync(join(PART, 'node_modules', PACKAGE, 'package.json'))
}

/** Two installations into one folder would spoil each other, so the others wait for whoever came first. */
async function installOnce(): Promise<void> {
  const turn = join(process.env.TEST_FOLDER ?? tmpdir(), 'lancedb-installation')
  const done = join(turn, 'done')
  const isFirst = mkdirSync(turn, { recursive: true }) !== undefined
  if (!isFirst) {
    for (let waited = 0; !existsSync(done) && waited < INSTALL_MS_MAX; waited += POLL_MS) {
      await delay(POLL_MS)
    }
    return
  }
  const options = { cwd: PART, timeout: INSTALL_MS_MAX, shell: process.platform === 'win32' }
  try {
    await promisify(execFile)('npm', INSTALL, options)
  } catch {
    // Whether it is there is looked at afterwards.
  } finally {
    writeFileSync(done, '')
  }
}
