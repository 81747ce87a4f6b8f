/** What is published: all that the README links, all that runs, and nothing that only development needs. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { normalize } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'

const manifest = z
  .object({
    version: z.string(),
    homepage: z.url(),
    bugs: z.object({ url: z.url() }),
    repository: z.object({ url: z.string() }),
    bin: z.record(z.string(), z.string()),
    exports: z.record(z.string(), z.record(z.string(), z.string())),
    publishConfig: z.object({ access: z.literal('public'), provenance: z.literal(true) }),
  })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))
const isBuilt = existsSync('dist/index.js')

const packed = z
  .array(z.object({ files: z.array(z.object({ path: z.string() })) }))
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
  .flatMap(({ files }) => files.map(({ path }) => path))

it('contains every file that the README links', () => {
  const readme = readFileSync('README.md', 'utf8')
  const targets = [...readme.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map((link) => link[1] ?? '')
  const paths = targets.filter((target) => !/^[a-z]+:/.test(target)).map(normalize)
  expect(paths.length).toBeGreaterThan(10)
  const missing = paths.filter(
    (path) => !packed.some((file) => file === path || file.startsWith(`${path}/`)),
  )
  expect(missing).toEqual([])
})

it('contains no sources, tests or build information', () => {
  const unwanted =
    /^(?:src|test|bench|evals|scripts|studio|examples|\.\w+)\/|\.tsbuildinfo$|\.test\./
  expect(packed.filter((path) => unwanted.test(path))).toEqual([])
})

it.skipIf(!isBuilt)('contains what its manifest names (skipped when dist is not built)', () => {
  const named = [manifest.bin, ...Object.values(manifest.exports)].flatMap(Object.values)
  expect(packed).toEqual(expect.arrayContaining(named.map(normalize)))
  expect(packed).toContain('dist-studio/index.html')
})

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
