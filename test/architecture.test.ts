/**
 * Rules about the repository itself: which folder may import which, what `core` and `ports` must not touch, and
 * how long a file may get.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { expect, it } from 'vitest'

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  ports: ['core'],
  engine: ['ports', 'core'],
  adapters: ['ports', 'core'],
  operations: ['engine', 'ports', 'core'],
  doors: ['operations', 'engine', 'ports', 'core'],
  main: ['doors', 'operations', 'engine', 'adapters', 'ports', 'core'],
  index: ['main', 'engine', 'ports', 'core'],
}
/** What several adapters need, and no adapter itself. */
const SHARED_PARTS = 'shared'
const FILE_LINES_MAX = 800
const IMPURE = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.|['"]node:/
const ENVIRONMENT = /\bprocess\.env\b/

type Source = { readonly path: string; readonly text: string }

const sources = filesBelow('src').filter(({ path }) => path.endsWith('.ts'))
const production = sources.filter(({ path }) => !path.endsWith('.test.ts'))

it('[AR1] imports point down, and one adapter never imports another', () => {
  const wrong = production.flatMap((source) =>
    importsOf(source)
      .filter((target) => !isAllowed(source.path, target))
      .map((target) => `${source.path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

it('[AR2] core and ports touch no clock, randomness, environment, platform or package', () => {
  const pure = production.filter(({ path }) => ['core', 'ports'].includes(layerOf(path)))
  const wrong = pure.filter(({ text }) => IMPURE.test(text) || /from '[^.]/.test(text))
  expect(wrong.map(({ path }) => path)).toEqual([])
})

it('[AR3] only the configuration reads the environment', () => {
  const readers = production.filter(({ text }) => ENVIRONMENT.test(text)).map(({ path }) => path)
  expect(readers).toEqual(['main/config.ts'])
})

it('[AR4] no file is longer than one sitting', () => {
  const all = [...sources, ...filesBelow('test'), ...filesBelow('bench'), ...filesBelow('evals')]
  const long = all.filter(
    ({ path, text }) => path.endsWith('.ts') && text.split('\n').length > FILE_LINES_MAX,
  )
  expect(long.map(({ path }) => path)).toEqual([])
})

function isAllowed(from: string, target: string): boolean {
  const [here, there] = [layerOf(from), layerOf(target)]
  if (here === there) {
    const [adapter, other] = [from.split(sep)[1], target.split(sep)[1]]
    return here !== 'adapters' || adapter === other || other === SHARED_PARTS
  }
  return MAY_IMPORT[here]?.includes(there) ?? false
}

/** The first folder, or the name of a file that stands beside the folders. */
function layerOf(path: string): string {
  return (path.split(sep)[0] ?? '').replace(/\.ts$/, '')
}

function importsOf({ path, text }: Source): readonly string[] {
  const specifiers = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map((match) => match[1])
  return specifiers.map((specifier) => join(path, '..', specifier ?? ''))
}

function filesBelow(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.split(sep).includes('node_modules'))
    .map((path) => ({ path: relative(folder, path), text: readFileSync(path, 'utf8') }))
}
