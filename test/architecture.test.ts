/** Rules of the repository itself: dependency direction, import cycles, purity, and names and sizes of files and folders. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { expect, it } from 'vitest'

const FOUNDATION = ['domain', 'text', 'lib']
const PORTS = ['storage', 'models', 'telemetry', ...FOUNDATION]

/** What each module may import, besides itself. Subfolders that implement a port are modules of their own. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  text: ['lib'],
  domain: ['text', 'lib'],
  telemetry: FOUNDATION,
  storage: FOUNDATION,
  models: ['storage', ...FOUNDATION],
  'files/ports': FOUNDATION,

  admin: PORTS,
  jobs: PORTS,
  memory: PORTS,
  recall: ['memory', ...PORTS],
  learning: ['recall', 'memory', 'jobs', 'admin', ...PORTS],
  conversations: ['learning', 'recall', 'memory', 'jobs', 'admin', ...PORTS],
  files: ['recall', 'memory', 'files/ports', ...PORTS],
  portability: ['files', 'files/ports', 'learning', 'recall', 'memory', 'jobs', 'admin', ...PORTS],
}
const FEATURES = ['admin', 'jobs', 'files', 'files/ports', ...Object.keys(MAY_IMPORT)]
const IMPLEMENTATIONS: Readonly<Record<string, readonly string[]>> = {
  'storage/sqlite': ['storage', ...FOUNDATION],
  'storage/postgres': ['storage', ...FOUNDATION],
  'storage/in-memory': ['storage', ...FOUNDATION],
  'storage/vector-replica': ['storage', ...FOUNDATION],
  'storage/qdrant': ['storage', ...FOUNDATION],
  'storage/lancedb': ['storage', ...FOUNDATION],
  'models/runtime': FOUNDATION,
  'models/embedders': ['models', 'models/runtime', 'storage', ...FOUNDATION],
  'models/rerankers': ['models', 'models/runtime', ...FOUNDATION],
  'models/llm': ['models', ...FOUNDATION],
  'models/providers': ['models', ...FOUNDATION],
  'files/local': ['files/ports', ...FOUNDATION],
  'files/qmd': ['files/ports', ...FOUNDATION],
}
/** The entries of the package. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  index: ['app', 'api', 'engine', ...FEATURES],
  server: ['app'],
  client: ['lib'],
  integrations: ['client', 'engine', 'lib'],
  testing: ['engine', 'models/embedders', 'storage/in-memory', ...FEATURES],
}
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  ...MAY_IMPORT,
  ...IMPLEMENTATIONS,
  engine: FEATURES,
  api: ['engine', ...FEATURES],
  app: ['api', 'engine', ...FEATURES, ...Object.keys(IMPLEMENTATIONS)],
  ...ENTRIES,
}
const FILE_PORTS = /^files\/file(-tree|-search)?\.ts$/

const PURE = ['domain', 'text']
const IMPURE = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.|['"]node:/
const ENVIRONMENT = /\bprocess\.env\b/
const COMMENT = /\/\*[\s\S]*?\*\//g
const FILE_LINES_MAX = 800
/** Built by `scripts/api-types.mjs`. */
const GENERATED = ['client/api-types.ts']

type Source = { readonly path: string; readonly text: string }

const sources = readFolder('src').filter(({ path }) => path.endsWith('.ts'))
const production = sources.filter(({ path }) => !path.endsWith('.test.ts'))
const imports = new Map(production.map((source) => [source.path, importsOf(source)]))

it('[AR1] imports follow the direction of the modules, and no implementation imports another', () => {
  const wrong = [...imports].flatMap(([path, targets]) =>
    targets
      .filter((target) => !isAllowed(moduleOf(path), moduleOf(target)))
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

it('[AR2] domain and text touch no clock, randomness, environment, platform or package', () => {
  const pure = production.filter(({ path }) => PURE.includes(moduleOf(path)))
  const wrong = pure.filter(({ text }) => IMPURE.test(text) || /from '[^.]/.test(text))
  expect(wrong.map(({ path }) => path)).toEqual([])
})

it('[AR3] only the configuration reads the environment', () => {
  const readers = production
    .filter(({ text }) => ENVIRONMENT.test(text.replace(COMMENT, '')))
    .map(({ path }) => path)
  expect(readers).toEqual(['app/config/config.ts'])
})

it('[AR4] no file is longer than 800 lines', () => {
  const all = [...sources, ...readFolder('test'), ...readFolder('bench'), ...readFolder('evals')]
  const long = all.filter(
    ({ path, text }) =>
      path.endsWith('.ts') && !GENERATED.includes(path) && text.split('\n').length > FILE_LINES_MAX,
  )
  expect(long.map(({ path }) => path)).toEqual([])
})

/** Nouns of the field that end like a gerund. */
const NOUNS = [
  ...[
    'chunking',
    'decoding',
    'embedding',
    'encoding',
    'fencing',
    'grounding',
    'indexing',
    'learning',
    'mapping',
  ],
  ...['merging', 'pooling', 'ranking', 'rendering', 'routing', 'setting', 'stemming', 'string'],
  ...['substring', 'testing', 'tracing', 'wording'],
]
/** Function words and participles that say nothing about the contents of a file. */
const VAGUE_WORDS = [
  ...['alone', 'asked', 'at', 'by', 'elsewhere', 'found', 'given', 'heard', 'in', 'kept', 'left'],
  ...['of', 'on', 'said', 'told', 'with', 'without'],
]

it('[AR10] files have names of nouns: no gerunds, participles or function words', () => {
  const wrong = production.map(({ path }) => path).filter((path) => !isNoun(fileNameOf(path)))
  expect(wrong).toEqual([])
})

/** Files that may exist in several features: the list of a folder, and the types of a feature. */
const SHARED_NAMES = ['index', 'types']

it('[AR10] files of different features have different names', () => {
  const features = new Map<string, Set<string>>()
  for (const { path } of production.filter((source) => source.path.includes('/'))) {
    const name = fileNameOf(path)
    const [feature = ''] = path.split('/')
    features.set(name, (features.get(name) ?? new Set()).add(feature))
  }
  const repeated = [...features].filter(([, { size }]) => size > 1).map(([name]) => name)
  expect(repeated.filter((name) => !SHARED_NAMES.includes(name))).toEqual([])
})

const FOLDER_FILES_MAX = 15

/** Flat lists of small modules. Lower a number when its folder shrinks. */
const LARGE_FOLDERS: Readonly<Record<string, number>> = {
  lib: 31,
  domain: 20,
  memory: 17,
  'api/gateway/formats/tools': 16,
}

it('[AR11] no folder has more than 15 source files', () => {
  const counts = new Map<string, number>()
  for (const { path } of production) {
    const folder = posix.dirname(path)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const crowded = [...counts].filter(
    ([folder, count]) => count > (LARGE_FOLDERS[folder] ?? FOLDER_FILES_MAX),
  )
  expect(crowded).toEqual([])
})

/** The pure part of a feature: decisions, prompts, codecs and parsers, and the stages of ranking. */
const PURE_FILES = [
  /^[^/]+\/.*(^|[-/])(decide|decision|policy|prompt|parse|parser)\.ts$/,
  /^(admin|memory|portability|storage)\/.*-codec\.ts$/,
  /^recall\/(question|ranking)\//,
  /^learning\/patterns\/languages\//,
  /^conversations\/gate\/languages\//,
  /^files\/chunking\//,
  /^api\/gateway\/formats\//,
]

it('[AR12] pure files of features touch no clock, randomness, environment or platform', () => {
  const pure = production.filter(({ path }) => PURE_FILES.some((pattern) => pattern.test(path)))
  expect(pure.length).toBeGreaterThan(60)
  expect(pure.filter(({ text }) => IMPURE.test(text)).map(({ path }) => path)).toEqual([])
})

it('[AR14] ARCHITECTURE.md names files and folders that exist', () => {
  const text = readFileSync('ARCHITECTURE.md', 'utf8')
  const paths = [...text.matchAll(/`((?:src|test|studio|bench|evals)\/[\w./-]*)`/g)].flatMap(
    ([, path]) => path ?? [],
  )
  expect(paths.length).toBeGreaterThan(60)
  expect([...new Set(paths)].filter((path) => !existsSync(path))).toEqual([])
})

it('[AR9] no import cycle, types included', () => {
  expect(findCycles(imports)).toEqual([])
})

function fileNameOf(path: string): string {
  return posix.basename(path, '.ts')
}

/** The last word names what a file holds; words before it may describe it, as in `bounded-queue`. */
function isNoun(name: string): boolean {
  const words = name.replace('in-memory', 'memory').split('-')
  const head = words.at(-1) ?? ''
  const isVerbal = /(ing|ed)$/.test(head) && !NOUNS.includes(head) && !head.endsWith('feed')
  return !isVerbal && !words.some((word) => VAGUE_WORDS.includes(word))
}

function isAllowed(from: string, to: string): boolean {
  return from === to || (ALLOWED[from]?.includes(to) ?? false)
}

function moduleOf(path: string): string {
  if (FILE_PORTS.test(path)) return 'files/ports'
  const [first = '', second = ''] = path.split('/')
  const nested = `${first}/${second}`
  return nested in IMPLEMENTATIONS ? nested : first.replace(/\.ts$/, '')
}

/** Relative imports, type imports and dynamic imports included. */
function importsOf({ path, text }: Source): readonly string[] {
  const specifiers = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)]
  return specifiers.map(([, specifier = '']) => posix.join(posix.dirname(path), specifier))
}

/** Strongly connected components of more than one file (Tarjan). */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): readonly string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (node: string): void => {
    const order = index.size
    index.set(node, order)
    low.set(node, order)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) {
        low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0))
      }
    }
    if (low.get(node) !== order) return
    const component = stack.splice(stack.indexOf(node))
    if (component.length > 1) cycles.push(component.sort())
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return cycles
}

function readFolder(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.split(sep).includes('node_modules'))
    .map((path) => ({
      path: relative(folder, path).split(sep).join('/'),
      text: readFileSync(path, 'utf8'),
    }))
}
