/** The package as npm would install it, from this repository's own files: nothing is packed and no registry is asked. */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'

export const [packedFiles] = z
  .tuple([z.object({ files: z.array(z.object({ path: z.string() })) })])
  .transform(([{ files }]) => [files.map(({ path }) => path)] as const)
  .parse(
    JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        shell: process.platform === 'win32',
        maxBuffer: 16 * 1024 * 1024,
      }),
    ),
  )

/** Pruned as before packing. Files are linked, because copies of the models and native libraries take seconds. */
export function installPackage(folder: string): void {
  for (const path of packedFiles) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    linkSync(path, target)
  }
  execFileSync(process.execPath, [resolve('scripts/prune.mjs'), folder])
}
