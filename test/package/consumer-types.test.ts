/** The packed package in the project of somebody who installs it: types under every module resolution, and imports. */
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { installPackage } from './installed-package.ts'

const run = promisify(execFile)
const isBuilt = existsSync('dist/index.js')
const names = z.record(z.string(), z.string()).default({})
const manifest = z
  .object({
    exports: z.record(z.string(), z.unknown()),
    dependencies: names,
    optionalDependencies: names,
  })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))
const entries = Object.keys(manifest.exports)
  .filter((path) => path !== './package.json')
  .map((path) => path.replace(/^\./, 'recollect'))
/** Entries that need their framework; the others must do without any optional peer. */
const FRAMEWORKS: Readonly<Record<string, readonly string[]>> = {
  'recollect/langchain': ['@langchain/core', '@langchain/langgraph-checkpoint'],
  'recollect/openai-agents': ['@openai/agents-core'],
}
const ownEntries = entries.filter((entry) => !(entry in FRAMEWORKS))

describe.skipIf(!isBuilt)('a consumer (skipped when dist is not built)', () => {
  const consumer = temporaryFolder()

  beforeAll(() => {
    install(consumer)
  }, 120_000)

  it.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])(
    '[AR15.2] types compile with module %s and resolution %s',
    async (module, moduleResolution) => {
      const project = join(consumer, moduleResolution)
      mkdirSync(project, { recursive: true })
      const imports = ownEntries.map((entry, index) => `import * as entry${index} from '${entry}'`)
      const uses = ownEntries.map((_, index) => `entry${index}`).join(', ')
      writeFileSync(
        join(project, 'main.mts'),
        `${imports.join('\n')}\nexport const all = [${uses}]\n`,
      )
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({
          compilerOptions: {
            ...{ module, moduleResolution, target: 'ES2023', lib: ['ES2023'], types: ['node'] },
            ...{ strict: true, skipLibCheck: false, noEmit: true },
          },
          include: ['main.mts'],
        }),
      )
      const tsc = resolve('node_modules/typescript/bin/tsc')
      const { stdout } = await run(process.execPath, [tsc, '-p', project]).catch(
        (error: { readonly stdout: string }) => error,
      )
      expect(stdout).toBe('')
    },
  )

  it.each(ownEntries)('[AR15.3] %s can be imported', async (entry) => {
    const code = `console.log(Object.keys(await import('${entry}')).length > 0)`
    const options = ['--input-type=module', '--eval', code]
    const { stdout } = await run(process.execPath, options, { cwd: consumer })
    expect(stdout).toBe('true\n')
  })
})

describe.skipIf(!isBuilt)('a consumer with frameworks (skipped when dist is not built)', () => {
  const consumer = temporaryFolder()

  beforeAll(() => {
    install(consumer, Object.values(FRAMEWORKS).flat())
  }, 120_000)

  it.each(Object.keys(FRAMEWORKS))('[AR15.3] %s can be imported', async (entry) => {
    const code = `console.log(Object.keys(await import('${entry}')).length > 0)`
    const options = ['--input-type=module', '--eval', code]
    const { stdout } = await run(process.execPath, options, { cwd: consumer })
    expect(stdout).toBe('true\n')
  })
})

/** What npm would install, from this repository's own packages: no registry is asked. */
function install(folder: string, peers: readonly string[] = []): void {
  const modules = join(folder, 'node_modules')
  installPackage(join(modules, 'recollect'))
  const wanted = [
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.optionalDependencies),
    '@types/node',
    ...peers,
  ]
  for (const name of wanted.filter((each) => existsSync(join('node_modules', each)))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(modules, name), 'junction')
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  expect(readdirSync(modules)).not.toContain('pg')
}
