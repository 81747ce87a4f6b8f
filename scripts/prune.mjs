/**
 * Removes from the build what no entry of the package reaches: the modules that went into bundles, and declarations that
 * public types do not refer to. Runs before packing; the next build starts from nothing. Another package folder can be
 * given: `node scripts/prune.mjs <folder>`.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WORKERS } from './workers.mjs'

const ROOT = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..'))
const DIST = join(ROOT, 'dist')
const VENDOR = join(DIST, 'vendor')
const MODULE = /\.(?:d\.ts|js)$/
const REFERENCE = /(?:\bfrom|\bimport|\bimport\()\s*["'](\.{1,2}\/[^"']+)["']/g

const reached = new Set()
const pending = [...listEntries(), ...WORKERS.map((worker) => join(DIST, `${worker}.js`))]
while (pending.length > 0) {
  const path = pending.pop()
  if (reached.has(path) || !existsSync(path) || !statSync(path).isFile()) continue
  reached.add(path)
  for (const [, reference] of readFileSync(path, 'utf8').matchAll(REFERENCE)) {
    const target = resolve(dirname(path), reference)
    const isDeclaration = path.endsWith('.d.ts')
    pending.push(isDeclaration ? target.replace(/\.[jt]s$/, '.d.ts') : target)
  }
}
removeUnreached(DIST)
rmSync(join(DIST, '.built'), { force: true })

function listEntries() {
  const { bin, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const targets = [bin, ...Object.values(exports)].flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  return targets.filter((target) => MODULE.test(target)).map((target) => resolve(ROOT, target))
}

function removeUnreached(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (path === VENDOR) continue
    if (entry.isDirectory()) {
      removeUnreached(path)
      if (readdirSync(path).length === 0) rmdirSync(path)
    } else if (MODULE.test(entry.name) && !reached.has(path)) rmSync(path)
  }
}
