/** What stores need that is not installed with the package. Each is had, or there is a reason why not. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findPackageFolder } from '../../src/lib/package-folder.ts'
import { describeMissingCipher } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { loadFrom } from '../../test/support/lancedb.ts'
import { INSTALL } from '../../test/support/part.ts'

/** The folder that LanceDB is installed in, which it is when it is missing. */
export async function lancePackage(
  say: (what: string) => void,
): Promise<{ readonly folder: string } | { readonly reason: string }> {
  const folder = join(findPackageFolder(), 'test', 'parts', 'lancedb')
  if (!existsSync(join(folder, 'node_modules', '@lancedb', 'lancedb'))) {
    say('installing LanceDB with npm, once')
    spawnSync('npm', INSTALL, { cwd: folder, shell: process.platform === 'win32' })
  }
  try {
    await loadFrom(folder)
    return { folder }
  } catch (error) {
    const [first = ''] = String(error).split('\n')
    return { reason: `it could not be installed or does not run here (${first})` }
  }
}

/** The Node that encrypted databases can be opened with: this one (null), or the LTS that tests use. */
export async function cipherNode(
  say: (what: string) => void,
): Promise<{ readonly node: string | null } | { readonly reason: string }> {
  const missing = describeMissingCipher()
  if (missing === null) return { node: null }
  say('finding a Node that opens encrypted databases')
  const program = pathToFileURL(join(findPackageFolder(), 'test', 'lts', 'run.mjs')).href
  const { prepare } = (await import(program)) as { prepare(): string | null } // see there
  const node = prepare()
  return node === null ? { reason: missing } : { node }
}
