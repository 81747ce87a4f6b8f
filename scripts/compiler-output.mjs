/**
 * Incremental compilation: which command compiles into a folder, and what the compiler leaves undone afterwards. Plain
 * Node without dependencies, because `ready.mjs` imports it.
 */
import { existsSync, readdirSync, rmdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

/** Outside of every published folder. */
const CACHE = '.cache'
/** Folders of `dist` that the compiler does not write. */
const NOT_COMPILED = new Set(['parts', 'vendor'])
const OUTPUT = /\.(?:d\.ts|js)$/

export function compilerCommand(folder, project) {
  return [
    'node_modules/typescript/bin/tsc',
    ...['-p', project, '--outDir', folder],
    ...['--incremental', '--tsBuildInfoFile', buildInfo(folder)],
  ]
}

/** Removes a build together with its build info: the compiler emits nothing that the info says is emitted. */
export function discardBuild(folder) {
  rmSync(buildInfo(folder), { force: true })
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Removes outputs whose source is gone, which the compiler never does, and dates the others to now: the compiler skips
 * files that stay the same, and tests compare a worker's date with that of its sources.
 */
export function refreshOutputs(folder, sourceRoot, now = new Date()) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    const source = join(sourceRoot, entry.name)
    if (entry.isDirectory()) {
      if (NOT_COMPILED.has(entry.name)) continue
      refreshOutputs(path, source, now)
      if (readdirSync(path).length === 0) rmdirSync(path)
    } else if (OUTPUT.test(entry.name)) {
      if (existsSync(source.replace(OUTPUT, '.ts'))) utimesSync(path, now, now)
      else rmSync(path)
    }
  }
}

function buildInfo(folder) {
  return join(CACHE, `${folder}.tsbuildinfo`)
}
