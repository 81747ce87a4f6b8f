/** The container image, as far as reading its files can tell: no registry of images is needed for that. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'

/** Parts of the package that are for people and not for the program. */
const READ_BY_PEOPLE: ReadonlySet<string> = new Set(['docs', 'deploy', 'CHANGELOG.md'])
const INSTALLED_FROM = ['package.json', 'package-lock.json', '.npmrc']

const packageFile = z
  .object({ files: z.array(z.string()), scripts: z.object({ build: z.string() }) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))
const compilerFile = z
  .object({ extends: z.string(), include: z.array(z.string()) })
  .parse(JSON.parse(readFileSync('tsconfig.build.json', 'utf8')))

type Copy = { readonly from: string | null; readonly paths: readonly string[] }

/** What each stage copies, in the order of the stages. */
const [building = [], running = []] = readFileSync('Dockerfile', 'utf8')
  .split(/^FROM .*$/m)
  .slice(1)
  .map(copiesIn)

function copiesIn(stage: string): readonly Copy[] {
  return [...stage.matchAll(/^COPY (?:--from=(\S+) )?(.+) \S+$/gm)].map(([, from, paths = '']) => ({
    from: from ?? null,
    paths: paths.split(' ').map((path) => normalize(path.replace(/^\/app\//, ''))),
  }))
}

function pathsOf(copies: readonly Copy[], from: Copy['from']): readonly string[] {
  return copies.flatMap((copy) => (copy.from === from ? copy.paths : []))
}

it('[AR8] the image is built from all that its build reads', () => {
  const named = packageFile.scripts.build.split(' ').filter((word) => existsSync(word))
  // The configuration of the Studio stands in the folder that is built.
  const read = named.map((path) => (dirname(path) === '.' ? path : dirname(path)))
  const needed = [...INSTALLED_FROM, ...read, compilerFile.extends, ...compilerFile.include]
  expect(named).toHaveLength(4)
  expect(pathsOf(building, null)).toEqual(expect.arrayContaining(needed.map(normalize)))
})

it('[AR8] the image holds all of the package that runs', () => {
  const built = packageFile.files.filter((path) => path.startsWith('dist'))
  const remaining = packageFile.files.filter(
    (path) => !built.includes(path) && !READ_BY_PEOPLE.has(path),
  )
  expect(pathsOf(running, 'build')).toEqual(expect.arrayContaining(['node_modules', ...built]))
  expect(pathsOf(running, null)).toEqual(expect.arrayContaining(['package.json', ...remaining]))
})

it('[AR8] nothing that is copied into the image is left out of what it is built from', () => {
  const rules = readFileSync('.dockerignore', 'utf8').split('\n').filter(Boolean)
  const isIgnored = (path: string) =>
    rules.reduce((ignored, rule) => {
      const pattern = rule.replace(/^!/, '')
      const isMeant = pattern === path || (pattern === '*.md' && path.endsWith('.md'))
      return isMeant ? !rule.startsWith('!') : ignored
    }, false)
  const copied = [...pathsOf(building, null), ...pathsOf(running, null)]
  expect(copied.filter((path) => isIgnored(path) || !existsSync(path))).toEqual([])
})
