/** The package as npm would install it, from this repository's own files: nothing is packed and no registry is asked. */
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'

const { files } = z
  .object({ files: z.array(z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))

/** What `npm pack` would pack, which takes npm ten seconds to list: it compresses everything for that. */
export function listPublishedFiles(): readonly string[] {
  return ['package.json', ...files].filter((path) => existsSync(path)).flatMap(listFiles)
}

function listFiles(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Pruned as before packing. Files are linked, because copies of the models and native libraries take seconds. */
export function installPackage(folder: string): void {
  for (const path of listPublishedFiles()) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    linkSync(path, target)
  }
  execFileSync(process.execPath, [resolve('scripts/prune.mjs'), folder])
}
