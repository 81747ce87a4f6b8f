/**
 * Makes the cipher package that is installed in this folder resolvable from `src/`, unless the project has its own.
 * On a Node that is too old for it, `src/storage/sqlite/connection/sqlite-driver.ts` refuses to load it.
 */
import { existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = 'better-sqlite3-multiple-ciphers'

export function linkCiphers() {
  const here = dirname(fileURLToPath(import.meta.url))
  const installed = join(here, 'node_modules', PACKAGE)
  const wanted = join(here, '..', '..', 'node_modules', PACKAGE)
  if (!existsSync(installed) || existsSync(wanted)) return
  if (isLink(wanted)) rmSync(wanted) // a link left over from a folder that has moved
  mkdirSync(dirname(wanted), { recursive: true })
  try {
    symlinkSync(installed, wanted, 'junction')
  } catch (error) {
    if (error.code !== 'EEXIST') throw error // another run was faster
  }
}

function isLink(path) {
  try {
    readlinkSync(path)
    return true
  } catch {
    return false
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) linkCiphers()
