/** The public API: its names, where a diff of the snapshot is the review, and the examples of its methods. */
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, posix, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

/** What a program imports, and the source behind it. */
const ENTRIES = {
  recollect: 'index.ts',
  'recollect/ai-sdk': 'integrations/ai-sdk.ts',
  'recollect/langchain': 'integrations/langchain.ts',
  'recollect/llamaindex': 'integrations/llamaindex.ts',
  'recollect/mastra': 'integrations/mastra.ts',
  'recollect/openai-agents': 'integrations/openai-agents.ts',
  'recollect/client': 'client/index.ts',
  'recollect/server': 'server.ts',
  'recollect/testing': 'testing/index.ts',
}

it.each(Object.entries(ENTRIES))(
  '[AR6] %s exports exactly the names that were decided on',
  async (name, path) => {
    const module: object = await import(`../src/${path}`)
    const source = readSource(path)
    const types = [
      ...source.matchAll(/^export type \{([^}]*)\}/gm),
      ...source.matchAll(/\btype (\w+)/g),
    ].flatMap((match) => (match[1] ?? '').split(',').map((each) => each.trim()))
    const typeNames = [...new Set(types)].filter((each) => /^[A-Z]/.test(each)).sort()
    expect({ values: Object.keys(module).sort(), types: typeNames }).toMatchSnapshot(name)
  },
)

it('[AR15.1] the manifest names every entry', () => {
  const { exports }: { exports: object } = JSON.parse(readFileSync('package.json', 'utf8'))
  const named = Object.keys(exports).filter((path) => path !== './package.json')
  expect(named.map((path) => path.replace(/^\./, 'recollect')).sort()).toEqual(
    Object.keys(ENTRIES).sort(),
  )
})

type Method = { readonly name: string; readonly example: string | null }

it('[AR13] every method of the engine and its namespaces has an example', () => {
  const methods = listMethods('engine/engine.ts', 'Engine')
  expect(methods.length).toBeGreaterThan(110)
  expect(methods.filter(({ example }) => example === null).map(({ name }) => name)).toEqual([])
})

it('[AR13.3] every function and method of the other entries has an example', () => {
  const undocumented = [
    ...listMethods('client/rest-client.ts', 'Client'),
    ...FUNCTIONS.flatMap(listFunctions),
  ].filter(({ example }) => example === null)
  expect(undocumented.map(({ name }) => name)).toEqual([])
})

it('[AR13] the examples are type-checked', async () => {
  const examples = [
    ...listMethods('engine/engine.ts', 'Engine'),
    ...listMethods('client/rest-client.ts', 'Client'),
    ...FUNCTIONS.flatMap(listFunctions),
  ].flatMap(({ example }) => example ?? [])
  const introductions = Object.values(ENTRIES).flatMap((path) => readExamples(readSource(path)))
  const folder = temporaryFolder()
  for (const [index, example] of [...examples, ...introductions].entries())
    writeFileSync(join(folder, `example-${index}.ts`), renderExample(example, folder))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: resolve('tsconfig.json'),
      compilerOptions: { types: ['node'], typeRoots: [resolve('node_modules/@types')] },
      include: ['*.ts'],
      exclude: [],
    }),
  )
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
    (error: { readonly stdout: string }) => error,
  )
  expect(stdout).toBe('')
}, 120_000)

/** Sources whose exported functions and classes are part of the other entries. */
const FUNCTIONS = [
  'app/embedded-server.ts',
  'client/rest-client.ts',
  'integrations/ai-sdk.ts',
  'integrations/langchain.ts',
  'integrations/llamaindex.ts',
  'integrations/mastra.ts',
  'integrations/openai-agents.ts',
  'testing/conformance.ts',
  'testing/fake-clock.ts',
  'testing/scripted-model.ts',
  'testing/test-engine.ts',
]

function listFunctions(path: string): readonly Method[] {
  const exported = [
    ...readSource(path).matchAll(
      /^(?:\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\n)?export (?:async )?(?:function|class) (\w+)/gm,
    ),
  ]
  return exported
    .map(([, comment = '', name = '']) => ({ name, example: readExamples(comment)[0] ?? null }))
    .filter(({ name }) => name !== 'countingIds')
}

function readSource(path: string): string {
  return readFileSync(posix.join('src', path), 'utf8')
}

/**
 * Methods of an interface with their examples, those of namespaces and extended interfaces included. Interfaces are
 * followed where they are the type of a property or stand in `extends`, and not where a method returns them.
 */
function listMethods(path: string, name: string, seen = new Set<string>()): readonly Method[] {
  if (seen.has(name)) return []
  seen.add(name)
  const source = readSource(path)
  const [, heritage = '', body = ''] =
    new RegExp(`^export interface ${name}\\b([^{]*)\\{(?:\\}|\\n([\\s\\S]*?)^\\})`, 'm').exec(
      source,
    ) ?? []
  const own = [...body.matchAll(/^ {2}(?:\/\*\*([\s\S]*?)\*\/\n {2})?([a-zA-Z]+)\(/gm)].map(
    ([, comment = '', method = '']): Method => ({
      name: `${name}.${method}`,
      example: readExamples(comment)[0] ?? null,
    }),
  )
  const properties = [...body.matchAll(/^ {2}readonly [a-zA-Z]+: ([^\n]+)$/gm)].map(
    ([, type]) => type,
  )
  const followed = [heritage, ...properties].join(' ').matchAll(/\b[A-Z]\w+/g)
  const nested = [...followed].flatMap(([type]) => {
    const target = findInterface(path, source, type)
    return target === null ? [] : listMethods(target, type, seen)
  })
  return [...own, ...nested]
}

/** The file that declares an interface that this source names; null for types and for other names. */
function findInterface(path: string, source: string, name: string): string | null {
  const declares = (text: string) => new RegExp(`^export interface ${name}\\b`, 'm').test(text)
  if (declares(source)) return path
  for (const [, names = '', specifier = ''] of source.matchAll(
    /^import (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm,
  )) {
    if (!new RegExp(`\\b${name}\\b`).test(names)) continue
    const target = posix.join(posix.dirname(path), specifier)
    return declares(readSource(target)) ? target : null
  }
  return null
}

function readExamples(text: string): readonly string[] {
  return [...text.matchAll(/^\s*\* @example\n((?:^\s*\*(?!\/).*\n?)+)/gm)].map(([, lines = '']) =>
    lines.replace(/^\s*\* ?/gm, '').trim(),
  )
}

/** Each example becomes a module with a function. `engine`, `client` and the public types are in scope. */
function renderExample(example: string, folder: string): string {
  const pathOf = (entry: string) =>
    relative(folder, resolve('src', ENTRIES[entry as keyof typeof ENTRIES] ?? entry)) // or the type-check fails
  const lines = example.split('\n')
  const imports = lines
    .filter((line) => line.startsWith('import '))
    .map((line) => line.replace(/'(recollect[^']*)'/, (_, entry: string) => `'${pathOf(entry)}'`))
  const body = lines
    .filter((line) => !line.startsWith('import '))
    .map((line) => line.replace(/^declare const (\w+): (.*)$/, 'const $1 = null as never as $2'))
  const types = ['Change', 'ConversationRequest', 'PreparedRequest', 'RequestOutcome', 'Store']
  return [
    ...imports,
    ...types.map((type) => `type ${type} = import('${pathOf('recollect')}').${type}`),
    `export async function run(engine: import('${pathOf('recollect')}').Engine, client: import('${pathOf('recollect/client')}').Client) {`,
    // An example may create its own.
    '{',
    ...body,
    '}',
    '}',
    '',
  ].join('\n')
}
