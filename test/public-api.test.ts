/** The public API: its names, where a diff of the snapshot is the review, and the examples of its methods. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, posix, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import * as library from '../src/index.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

it('[AR6] exports exactly the names that were decided on', () => {
  expect(Object.keys(library).sort()).toMatchInlineSnapshot(`
    [
      "AppError",
      "DOCUMENT_TYPES",
      "ERRORS",
      "LancePlugin",
      "MEMORY_CATEGORIES",
      "MEMORY_STATUSES",
      "MEMORY_TYPES",
      "SETTINGS",
      "TRUST_LEVELS",
      "createEngine",
      "createMemoryTool",
      "estimateTokens",
      "formatCitation",
      "isMemoryDocument",
    ]
  `)
})

it('[AR6] exports exactly the types that were decided on', () => {
  const source = readFileSync('src/index.ts', 'utf8')
  const types = [
    ...source.matchAll(/^export type \{([^}]*)\}/gm),
    ...source.matchAll(/\btype (\w+)/g),
  ].flatMap((match) => (match[1] ?? '').split(',').map((name) => name.trim()))
  expect([...new Set(types)].filter((name) => /^[A-Z]/.test(name)).sort()).toMatchInlineSnapshot(`
    [
      "Change",
      "Citation",
      "CommitOutcome",
      "ConversationRequest",
      "DocumentType",
      "DraftInput",
      "EditInput",
      "Embedder",
      "EmbeddingModel",
      "EmbeddingOptions",
      "Engine",
      "EngineOptions",
      "EngineStatus",
      "ErrorCode",
      "FileHit",
      "FileQuery",
      "FileSearchResult",
      "FileStatus",
      "FileText",
      "Files",
      "FilesOptions",
      "HistoryEntry",
      "ImportResult",
      "IndexProgress",
      "IndexStatus",
      "LanguageModel",
      "LearnResult",
      "ListQuery",
      "Memory",
      "MemoryCategory",
      "MemoryStatus",
      "MemoryToolCommand",
      "MemoryToolHandlers",
      "MemoryType",
      "NamedRoot",
      "Place",
      "PluginDraft",
      "PluginEntry",
      "PluginHit",
      "PluginOptions",
      "PreparedRequest",
      "Provenance",
      "RecallQuery",
      "RecallResult",
      "RecalledMemory",
      "ReindexOptions",
      "RememberResult",
      "RequestOutcome",
      "RerankOptions",
      "Reranker",
      "RetrieverReport",
      "Revision",
      "RootInput",
      "Scope",
      "ScopeInput",
      "SearchDocument",
      "SearchSource",
      "SettingName",
      "SourceHit",
      "SourceSearchQuery",
      "SourceSearchResult",
      "Store",
      "SyncReport",
      "Tombstone",
      "Trust",
      "Turn",
      "TurnRole",
      "VectorIndex",
      "Workspace",
    ]
  `)
})

type Method = { readonly name: string; readonly example: string | null }

it('[AR13] every method of the engine and its namespaces has an example', () => {
  const methods = listMethods('engine/engine.ts', 'Engine')
  expect(methods.length).toBeGreaterThan(110)
  expect(methods.filter(({ example }) => example === null).map(({ name }) => name)).toEqual([])
})

it('[AR13] the examples are type-checked', async () => {
  const examples = [
    ...listMethods('engine/engine.ts', 'Engine').flatMap(({ example }) => example ?? []),
    ...readExamples(readSource('index.ts')),
  ]
  const folder = temporaryFolder()
  writeFileSync(
    join(folder, 'examples.ts'),
    renderExamples(examples, relative(folder, resolve('src/index.ts'))),
  )
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: resolve('tsconfig.json'),
      compilerOptions: { types: ['node'], typeRoots: [resolve('node_modules/@types')] },
      include: ['examples.ts'],
      exclude: [],
    }),
  )
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
    (error: { readonly stdout: string }) => error,
  )
  expect(stdout).toBe('')
}, 120_000)

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

/** Each example becomes a function. `engine` and the public types are in scope. */
function renderExamples(examples: readonly string[], library: string): string {
  const imports = new Set<string>()
  const functions = examples.map((example, index) => {
    const lines = example.split('\n')
    for (const line of lines.filter((each) => each.startsWith('import ')))
      imports.add(line.replace("'recollect'", `'${library}'`))
    const body = lines.filter((line) => !line.startsWith('import '))
    return `export async function example${index}() {\n${body.map((line) => `  ${line}`).join('\n')}\n}`
  })
  const types = [
    'Change',
    'ConversationRequest',
    'Engine',
    'PreparedRequest',
    'RequestOutcome',
    'Store',
  ]
  return [
    ...imports,
    `import type { ${types.join(', ')} } from '${library}'`,
    'declare const engine: Engine',
    ...functions,
    '',
  ].join('\n')
}
