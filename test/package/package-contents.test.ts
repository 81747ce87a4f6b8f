/** What is published: all that the README links, all that runs, and nothing that only development needs. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { installPackage, listPublishedFiles } from './installed-package.ts'

const manifest = z
  .object({
    dependencies: z.record(z.string(), z.string()),
    version: z.string(),
    homepage: z.url(),
    bugs: z.object({ url: z.url() }),
    repository: z.object({ url: z.string() }),
    bin: z.record(z.string(), z.string()),
    exports: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
    publishConfig: z.object({ access: z.literal('public'), provenance: z.literal(true) }),
  })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))
const flag = z.boolean().default(false)
const lockfile = z
  .object({
    packages: z.record(
      z.string(),
      z.object({ dev: flag, devOptional: flag, peer: flag, hasInstallScript: flag }),
    ),
  })
  .parse(JSON.parse(readFileSync('package-lock.json', 'utf8')))
const [packedFiles] = z
  .tuple([z.object({ files: z.array(z.object({ path: z.string() })) })])
  .transform(([tarball]) => [tarball.files.map(({ path }) => path)] as const)
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
const isBuilt = existsSync('dist/index.js')

it('contains the files that the manifest names', () => {
  // npm leaves out some hidden files and folders, which no installation needs.
  const listed = listPublishedFiles().map(normalize)
  const isHidden = (path: string) => path.split(/[/\\]/).some((part) => part.startsWith('.'))
  expect(packedFiles.map(normalize).filter((path) => !listed.includes(path))).toEqual([])
  expect(listed.filter((path) => !packedFiles.includes(path) && !isHidden(path))).toEqual([])
})

it('contains every file that the README links', () => {
  const readme = readFileSync('README.md', 'utf8')
  const targets = [...readme.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map((link) => link[1] ?? '')
  const paths = targets.filter((target) => !/^[a-z]+:/.test(target)).map(normalize)
  expect(paths.length).toBeGreaterThan(10)
  const missing = paths.filter(
    (path) => !packedFiles.some((file) => file === path || file.startsWith(`${path}/`)),
  )
  expect(missing).toEqual([])
})

it('contains no sources, tests or build information', () => {
  const unwanted =
    /^(?:src|test|bench|evals|scripts|studio|examples|\.\w+)\/|\.tsbuildinfo$|\.test\./
  expect(packedFiles.filter((path) => unwanted.test(path))).toEqual([])
})

it.skipIf(!isBuilt)('contains what its manifest names (skipped when dist is not built)', () => {
  const named = [manifest.bin, ...Object.values(manifest.exports)].flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  expect(packedFiles).toEqual(expect.arrayContaining(named.map(normalize)))
  expect(packedFiles).toContain('dist-studio/index.html')
})

it.skipIf(!isBuilt)('takes less than 180 MB to install (skipped when dist is not built)', () => {
  const own = join(temporaryFolder(), 'recollect')
  installPackage(own)
  const dependencies = Object.entries(lockfile.packages)
    .filter(([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer)
    .map(([path]) => path)
    .filter((path) => existsSync(path))
  expect(dependencies.length).toBeGreaterThan(5)
  // The site is built before packing.
  const documentation = existsSync('dist-docs/index.html') ? 0 : 7e6
  const bytes = [own, ...dependencies].map(measureBytes).reduce((sum, size) => sum + size)
  expect(bytes + documentation).toBeLessThan(180 * 2 ** 20)
})

it('installs without install scripts', () => {
  const scripted = Object.entries(lockfile.packages).filter(
    ([, { dev, hasInstallScript }]) => hasInstallScript && !dev,
  )
  expect(scripted.map(([path]) => path)).toEqual([])
})

it.skipIf(!isBuilt)(
  'runs with its declared dependencies alone (skipped when dist is not built)',
  () => {
    const folder = temporaryFolder()
    installPackage(folder)
    for (const part of dependencyFolders()) {
      const link = join(folder, part)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(resolve(part), link, 'junction')
    }
    const program = `
      import { createEngine } from './dist/index.js'
      const engine = await createEngine({ path: 'memory.db' })
      await engine.warmUp()
      await engine.remember({ owner: 'ada' }, { content: 'Ann got two kittens from the shelter.' })
      const { memories } = await engine.recall({ owner: 'ada' }, { text: 'Which pets does she have?' })
      console.log(memories.length)
      await engine.close()
    `
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(output.trim()).toBe('1')
  },
)

function measureBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
    .reduce((sum, size) => sum + size, 0)
}

function dependencyFolders(): readonly string[] {
  return Object.keys(manifest.dependencies).map((name) => join('node_modules', name))
}

it('names one repository everywhere', () => {
  const home = manifest.repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
  expect(manifest.homepage).toBe(`${home}#readme`)
  expect(manifest.bugs.url).toBe(`${home}/issues`)
  for (const file of ['SECURITY.md', '.github/ISSUE_TEMPLATE/config.yml']) {
    expect(readFileSync(file, 'utf8')).toContain(`${home}/security/advisories/new`)
  }
})

it('describes its changes in the form that the release reads', () => {
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const versions = [...changelog.matchAll(/^## \[([^\]]+)\]/gm)].map((heading) => heading[1])
  expect(versions.length).toBeGreaterThan(1)
  for (const version of versions)
    expect(changelog).toMatch(new RegExp(`^\\[${version}\\]: http`, 'm'))
})
