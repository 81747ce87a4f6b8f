/** Index inspection: the files of a root with their state, and the chunks of a file. */

import { parseEntries } from '../domain/entries/entry.ts'
import type { DocumentId, OwnerId } from '../domain/ids.ts'
import { AppError } from '../lib/errors.ts'
import type { Instant } from '../lib/time.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Store } from '../storage/store.ts'
import type { Chunk, FileProblem, FileSource } from './file.ts'
import { readGenerations } from './indexing/generations.ts'
import type { IndexEngine } from './indexing/index-engine.ts'
import { type GenerationScope, readChunkMetadata, toFileRecord } from './indexing/index-rows.ts'
import { readScanLog } from './indexing/scan-log.ts'
import { type NamedRoot, type Roots, resolveDisplayPath, toDisplayPath } from './roots.ts'

/** `partial`: some content could not be read. `skipped`: none could. */
export const FILE_STATES = ['indexed', 'partial', 'skipped'] as const

export type ListedFile = {
  /** The path that `readFile` accepts. */
  readonly path: string
  readonly state: (typeof FILE_STATES)[number]
  readonly source: FileSource
  readonly chunks: number
  /** Null for an unreadable file. */
  readonly sizeBytes: number | null
  readonly modifiedAt: Instant | null
  readonly indexedAt: Instant | null
  readonly problem: FileProblem | null
}

export type IndexedChunk = Chunk & {
  /** False while the chunk is found by lexical search only. */
  readonly hasVector: boolean
}

/** `after` is the `next` of the previous page. */
export type PageRequest = { readonly limit: number; readonly after?: string }

export type PageOf<Item> = {
  readonly items: readonly Item[]
  readonly total: number
  readonly next: string | null
}

export interface FileContents {
  /** Sorted by path. `not_found` for an unknown root. */
  files(owner: OwnerId, root: string, page: PageRequest): Promise<PageOf<ListedFile>>
  /** In file order. `not_found` for a file that is not indexed. */
  chunks(owner: OwnerId, path: string, page: PageRequest): Promise<PageOf<IndexedChunk>>
}

type FileContentsDependencies = {
  readonly innerStore: Store
  readonly inner: IndexEngine
  readonly roots: Roots
}

type IndexedFileRow = ListedFile & { readonly document: DocumentId | null }

export function createFileContents(parts: FileContentsDependencies): FileContents {
  const { innerStore: store, inner, roots } = parts
  return {
    files: async (owner, id, page) => {
      const root = (await roots.list(owner)).find((each) => each.id === id)
      if (root === undefined) {
        throw new AppError('not_found', `Root ${id} not found.`, { id })
      }
      const all = await listFiles(store, owner, root)
      const rest = all.filter(({ path }) => path > (page.after ?? ''))
      const items = rest.slice(0, page.limit)
      return {
        items: items.map(({ document: _, ...file }) => file),
        total: all.length,
        next: rest.length > items.length ? (items.at(-1)?.path ?? null) : null,
      }
    },
    chunks: async (owner, path, page) => {
      const home = await toGenerationScope(store, owner)
      const at = resolveDisplayPath(await roots.list(owner), path)
      const files = at === null ? [] : await listFiles(store, owner, at.root)
      const found = files.find(
        (each) => at !== null && each.path === toDisplayPath(at.root, at.path),
      )
      if (home === null || found === undefined || found.document === null) {
        throw new AppError('not_found', `${path} is not indexed.`, { path })
      }
      const all = await listChunks(inner, home, found.document)
      const from = Number(page.after ?? 0)
      const items = all.slice(from, from + page.limit)
      const to = from + items.length
      return { items, total: all.length, next: to < all.length ? String(to) : null }
    },
  }
}

async function toGenerationScope(store: Store, owner: OwnerId): Promise<GenerationScope | null> {
  const generations = await readGenerations({ store }, owner)
  return generations === null ? null : { owner, user: generations.live.name }
}

/** Includes unreadable files that the last scan recorded. */
async function listFiles(
  store: Store,
  owner: OwnerId,
  root: NamedRoot,
): Promise<readonly IndexedFileRow[]> {
  const files = new Map<string, IndexedFileRow>()
  const look = (await readScanLog(store, owner)).get(root.id)
  for (const trouble of look?.problems ?? []) {
    if (trouble.path !== root.path) files.set(trouble.path, toSkippedFile(root, trouble))
  }
  const home = await toGenerationScope(store, owner)
  if (home !== null) {
    const query = { where: { kinds: ['file'] }, order: 'oldest' } as const
    for await (const page of pages(store, 'entry', home, query)) {
      for (const entry of parseEntries('file', page)) {
        const record = toFileRecord(entry)
        if (record.root !== root.id) continue
        const path = toDisplayPath(root, record.path)
        const trouble = record.trouble ?? files.get(path)?.problem ?? null
        const { source, chunks: pieces, sizeBytes, modifiedAt, document } = record
        const read = trouble === null ? 'indexed' : 'partial'
        files.set(path, {
          ...{ path, source, chunks: pieces, sizeBytes, modifiedAt, document, problem: trouble },
          state: trouble !== null && pieces === 0 ? 'skipped' : read,
          indexedAt: entry.at,
        })
      }
    }
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function toSkippedFile({ kind }: NamedRoot, trouble: FileProblem): IndexedFileRow {
  return {
    ...{ path: trouble.path, state: 'skipped', problem: trouble, chunks: 0, document: null },
    source: kind === 'sessions' ? 'sessions' : 'memory',
    ...{ sizeBytes: null, modifiedAt: null, indexedAt: null },
  }
}

async function listChunks(
  inner: IndexEngine,
  home: GenerationScope,
  document: DocumentId,
): Promise<readonly IndexedChunk[]> {
  const { memories } = await inner.listVectors({ ...home, session: document })
  return memories
    .toSorted((a, b) => (a.memory.id < b.memory.id ? -1 : 1))
    .map(({ memory, vector }) => {
      const { headings, lineFirst, lineLast } = readChunkMetadata(memory)
      const hasVector = vector !== null
      return { headings, lineFirst, lineLast, text: memory.content, hasVector }
    })
}
