/** Memory in files as a program has it: an index on a real database, over real files in temporary folders. */
import { onTestFinished } from 'vitest'
import { toIndexEngine } from '../../src/app/file-composition.ts'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { INDEX_COMMIT_CHANGES_MAX } from '../../src/domain/limits.ts'
import type { Memory } from '../../src/domain/memory.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import { createFileIndex, type FileIndexDependencies } from '../../src/files/file-index.ts'
import { FILE_DEFAULTS, type FileOptions } from '../../src/files/file-options.ts'
import type { FileTree } from '../../src/files/file-tree.ts'
import { createFiles, type FileService } from '../../src/files/files.ts'
import { type ChunkMetadata, readChunkMetadata } from '../../src/files/indexing/index-rows.ts'
import { createRoots } from '../../src/files/roots.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import type { OpenConnection } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { openSqliteStore, type SqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { owner } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { treeOf } from './file-support.ts'

export const ADA = owner('ada')

export type Opened = {
  readonly files: FileService
  readonly inner: Engine
  readonly innerStore: SqliteStore
  readonly store: Store
  readonly path: string
  /** What is set from now on. */
  set(settings: Partial<FileOptions>): void
}

export type OpenOptions = Partial<Omit<FileIndexDependencies, 'store'>> & {
  readonly path?: string
  readonly store?: Store
  readonly tree?: FileTree
  readonly embedder?: Embedder
  readonly formerEmbedder?: (signature: string) => Embedder | null
  readonly settings?: Partial<FileOptions>
  readonly wrapStore?: (store: SqliteStore) => SqliteStore
  readonly openConnection?: OpenConnection
}

export async function openFiles(options: OpenOptions = {}): Promise<Opened> {
  const { path = temporaryFile('files.db'), embedder, settings = {}, wrapStore, ...parts } = options
  const { formerEmbedder, openConnection } = options
  const clock = options.clock ?? systemClock
  const store = options.store ?? createInMemoryStore()
  const opened = await openSqliteStore({
    ...{ path, now: Date.now, commitChangesMax: INDEX_COMMIT_CHANGES_MAX },
    ...(openConnection === undefined ? {} : { openConnection }),
  })
  const innerStore = wrapStore?.(opened) ?? opened
  const ids = createIdGenerator()
  const inner = createEngineWith({
    store: innerStore,
    clock,
    ids,
    settings: {},
    ...(embedder === undefined ? {} : { embedder, vectors: innerStore.vectors }),
    ...(formerEmbedder === undefined ? {} : { getFormerEmbedder: formerEmbedder }),
  })
  let current: FileOptions = { ...FILE_DEFAULTS, ...settings }
  const files = createFiles({
    roots: createRoots({ store, clock }),
    indexExists: () => true,
    openIndex: async () =>
      createFileIndex({
        tree: treeOf(),
        workspaceOf: () => {
          throw new Error('this test writes to no workspace')
        },
        ...parts,
        ...{ store, clock, ids, innerStore, inner: toIndexEngine(inner) },
        settingsOf: async () => current,
      }),
  })
  onTestFinished(() => files.close())
  return {
    ...{ files, inner, innerStore, store, path },
    set: (changed) => {
      current = { ...current, ...changed }
    },
  }
}

export type IndexedChunk = ChunkMetadata & { readonly id: string; readonly text: string }

/** All that is kept of an owner's files, in every generation. */
export async function everyChunk(store: Store, of = ADA): Promise<readonly Memory[]> {
  const rows: Memory[] = []
  let after: string | null = null
  do {
    const page: { readonly rows: readonly Memory[]; readonly next: string | null } =
      await store.find(
        'memory',
        { owner: of },
        {
          where: {},
          limit: 1_000,
          order: 'oldest',
          ...(after === null ? {} : { after }),
        },
      )
    rows.push(...page.rows)
    after = page.next
  } while (after !== null)
  return rows
}

/** The chunks that answer, by the path of their file, in their order. */
export async function chunksByPath(
  { innerStore }: Pick<Opened, 'innerStore'>,
  of = ADA,
): Promise<Readonly<Record<string, readonly IndexedChunk[]>>> {
  const byPath: Record<string, IndexedChunk[]> = {}
  for (const row of await everyChunk(innerStore, of)) {
    const facts = readChunkMetadata(row)
    byPath[facts.path] ??= []
    byPath[facts.path]?.push({ ...facts, id: row.id, text: row.content })
  }
  return byPath
}

/** The paths of what a question finds, best first. */
export async function found(
  { files }: Pick<Opened, 'files'>,
  text: string,
  options: { readonly minScore?: number; readonly maxResults?: number } = {},
): Promise<readonly string[]> {
  return (await files.search(ADA, { text, ...options })).hits.map(({ path }) => path)
}

/** Markdown of so many sections, each long enough for a chunk of its own. */
export function sections(count: number, word = 'section'): string {
  return Array.from({ length: count }, (_, index) => {
    const sentence = `This is ${word} number ${index + 1}, which speaks at length of ${word}${index + 1}. `
    return `## ${word} ${index + 1}\n\n${sentence.repeat(22)}\n`
  }).join('\n')
}
