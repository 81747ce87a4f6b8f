/**
 * Programs for processes of their own, each in one file that is made from the sources: it starts in half the time that
 * it takes to load the modules one by one, which counts where processes are killed by the hundred.
 */
import { symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { temporaryFolder } from './temporary-folder.ts'

const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Where the program is, for one that is named from the root of the project. */
export async function bundled(source: string): Promise<string> {
  const folder = temporaryFolder()
  const name = `${basename(source, '.ts')}.mjs`
  await build({
    root: PROJECT,
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: join(PROJECT, source),
      target: 'node20',
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: name, codeSplitting: false } },
    },
  })
  // Packages stay where they are.
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'), 'junction')
  return join(folder, name)
}
