/** Memory in files: the public interface, over an index that is opened when something first needs it. */

import type { OwnerId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import type { IndexedChunk, ListedFile, PageOf, PageRequest } from './file-contents.ts'
import type { FileIndex } from './file-index.ts'
import type {
  FileQuery,
  FileSearch,
  FileSearchResult,
  FileStatus,
  FileText,
  LineRange,
  ProbeResult,
  SyncReport,
} from './file-search.ts'
import type { Workspace } from './file-tree.ts'
import type { NamedRoot, RootInput, Roots } from './roots.ts'

type SyncOptions = NonNullable<Parameters<FileSearch['sync']>[1]>

export interface Files {
  /** Folders and files of an owner that are indexed. */
  readonly roots: FileRoots
  /** What the built-in index holds. */
  readonly contents: IndexContents
  /**
   * The passages that answer a question, best first; none when nothing is relevant.
   *
   * @example
   * const { hits } = (await engine.files?.search('ada', { text: 'release checklist' })) ?? { hits: [] }
   * for (const { path, startLine, snippet } of hits) console.log(`${path}:${startLine} ${snippet}`)
   */
  search(owner: string, query: FileQuery): Promise<FileSearchResult>
  /**
   * Reads a file of the owner's roots, or some of its lines. Empty, with a reason, when there is no such file.
   *
   * @example
   * const file = await engine.files?.readFile('ada', 'notes/plan.md', { from: 10, lines: 20 })
   */
  readFile(owner: string, path: string, range?: LineRange): Promise<FileText>
  /**
   * Roots with their counts and problems, the watcher and the embedding backlog.
   *
   * @example
   * const status = await engine.files?.status('ada')
   */
  status(owner: string): Promise<FileStatus>
  /**
   * Scans all roots now. `force` reads and chunks every file again; `embeds` also waits for the vectors.
   *
   * @example
   * const report = await engine.files?.sync('ada', { embeds: true })
   */
  sync(owner: string, options?: SyncOptions): Promise<SyncReport>
  /**
   * Embeds one text, to see whether the embedder answers.
   *
   * @example
   * const probe = await engine.files?.probeEmbeddingAvailability()
   */
  probeEmbeddingAvailability(): Promise<ProbeResult>
  /**
   * Whether vectors can be stored and searched.
   *
   * @example
   * const probe = await engine.files?.probeVectorAvailability()
   */
  probeVectorAvailability(): Promise<ProbeResult>
  /**
   * The folder that memory may write to; `not_found` when the owner has none. See `createMemoryTool`.
   *
   * @example
   * const workspace = await engine.files?.workspace('ada')
   * await workspace?.append('notes/ideas.md', '- try the new parser')
   */
  workspace(owner: string): Promise<Workspace>
  /**
   * Appends to today's note in the owner's time zone and returns its path.
   *
   * @example
   * await engine.files?.appendToDailyNote('ada', 'Shipped version 2.')
   */
  appendToDailyNote(owner: string, text: string): Promise<{ readonly path: string }>
  /**
   * Writes a note of its own, `memory/<date>-<slug>.md`, and returns its path. An empty slug stands for the time of day;
   * an existing note is kept, and the new one gets a number.
   *
   * @example
   * await engine.files?.createDatedNote('ada', '# Rome\n\nHotel near the river.', 'trip-to-rome')
   */
  createDatedNote(owner: string, text: string, slug: string): Promise<{ readonly path: string }>
  /**
   * Reports that files of an owner were written, so that the next search scans them.
   *
   * @example
   * engine.files?.markDirty('ada')
   */
  markDirty(owner: string): void
  /**
   * Watches the files of every owner from now on, and scans them from time to time.
   *
   * @example
   * await engine.files?.start()
   */
  start(): Promise<void>
}

export interface FileRoots {
  /**
   * Adds a root. An existing root takes the new globs; one that holds the files of another root is refused.
   *
   * @example
   * await engine.files?.roots.add('ada', { kind: 'workspace', path: '/home/ada/notes' })
   */
  add(owner: string, input: RootInput): Promise<NamedRoot>
  /**
   * Removes a root from the index; false when there is none with this id. The files stay.
   *
   * @example
   * const isRemoved = await engine.files?.roots.remove('ada', 'root_4hk2')
   */
  remove(owner: string, id: string): Promise<boolean>
  /**
   * The workspace first, then the others by name.
   *
   * @example
   * const roots = await engine.files?.roots.list('ada')
   */
  list(owner: string): Promise<readonly NamedRoot[]>
}

export interface IndexContents {
  /**
   * Files of a root with their state, by path. `not_found` when there is no such root.
   *
   * @example
   * const page = await engine.files?.contents.files('ada', 'root_4hk2', { limit: 50 })
   */
  files(owner: string, root: string, page: PageRequest): Promise<PageOf<ListedFile>>
  /**
   * Chunks of a file in their order. `not_found` when the file is not indexed.
   *
   * @example
   * const page = await engine.files?.contents.chunks('ada', 'notes/plan.md', { limit: 20 })
   */
  chunks(owner: string, path: string, page: PageRequest): Promise<PageOf<IndexedChunk>>
}

/** The facade with what only the engine calls. */
export interface FileService extends Files {
  /** Erases the index of an owner together with the owner. The files stay. */
  erase(owner: OwnerId): Promise<void>
  close(): Promise<void>
}

export type FilesDependencies = {
  /** Roots are stored with the memories and known without the index. */
  readonly roots: Roots
  readonly openIndex: () => Promise<FileIndex>
  /** Whether an index exists, opened or not. */
  readonly indexExists: () => boolean
}

/**
 * Opens the index on first use: most commands and most owners never search files, and must neither wait for a second
 * database nor have one created.
 */
export function createFiles({ roots, openIndex, indexExists }: FilesDependencies): FileService {
  const index = new LazyIndex({ roots, openIndex, indexExists })
  const parseOwner = (owner: string): OwnerId => parseScope({ owner }).owner
  return {
    roots: {
      add: async (owner, input) => {
        const name = parseOwner(owner)
        const root = await roots.add(name, input)
        await index.onRootsChanged(name)
        return root
      },
      remove: async (owner, id) => {
        const name = parseOwner(owner)
        const isRemoved = await roots.remove(name, id)
        if (isRemoved) await index.onRootsChanged(name)
        return isRemoved
      },
      list: async (owner) => roots.list(parseOwner(owner)),
    },
    contents: {
      files: async (owner, root, page) =>
        (await index.get()).contents.files(parseOwner(owner), root, page),
      chunks: async (owner, path, page) =>
        (await index.get()).contents.chunks(parseOwner(owner), path, page),
    },
    search: async (owner, query) => {
      const name = parseOwner(owner)
      return (await index.refresh(name)).search.search(name, query)
    },
    readFile: async (owner, path, range) =>
      (await index.get()).search.readFile(parseOwner(owner), path, range),
    status: async (owner) => {
      const name = parseOwner(owner)
      return (await index.refresh(name)).search.status(name)
    },
    sync: async (owner, options) => {
      const name = parseOwner(owner)
      return (await index.refresh(name)).search.sync(name, options)
    },
    probeEmbeddingAvailability: async () => (await index.get()).search.probeEmbeddingAvailability(),
    probeVectorAvailability: async () => (await index.get()).search.probeVectorAvailability(),
    workspace: async (owner) => (await index.get()).workspace(parseOwner(owner)),
    appendToDailyNote: async (owner, text) =>
      (await index.get()).appendToDailyNote(parseOwner(owner), text),
    createDatedNote: async (owner, text, slug) =>
      (await index.get()).createDatedNote(parseOwner(owner), text, slug),
    // An index that is opened later scans everything anyway.
    markDirty: (owner) => index.opened?.markDirty(parseOwner(owner)),
    start: () => index.start(),
    erase: (owner) => index.erase(owner),
    close: () => index.close(),
  }
}

class LazyIndex {
  readonly #dependencies: FilesDependencies
  /** The roots of each owner as they were at the last request. */
  readonly #knownRoots = new Map<OwnerId, string>()
  #opening: Promise<FileIndex> | null = null
  #opened: FileIndex | null = null
  #isStarted = false
  #isClosed = false

  constructor(dependencies: FilesDependencies) {
    this.#dependencies = dependencies
  }

  get opened(): FileIndex | null {
    return this.#opened
  }

  async get(): Promise<FileIndex> {
    if (this.#isClosed) throw new AppError('unavailable', 'The engine is closed.')
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null // the next request tries again
      throw error
    })
    return this.#opening
  }

  /** The index, once it has noticed roots that another process added or removed. */
  async refresh(owner: OwnerId): Promise<FileIndex> {
    const index = await this.get()
    const known = this.#knownRoots.get(owner)
    const roots = await this.#readRoots(owner)
    if (known !== undefined && known !== roots) await index.onRootsChanged(owner)
    if (this.#isClosed) throw new AppError('cancelled', 'The engine was closed.')
    return index
  }

  /** Opens the index only where files are watched: a new root must be watched too. */
  async onRootsChanged(owner: OwnerId): Promise<void> {
    if (!this.#isStarted && this.#opening === null) return
    const index = await this.get()
    await this.#readRoots(owner)
    await index.onRootsChanged(owner)
  }

  async start(): Promise<void> {
    if (this.#isStarted || this.#isClosed) return
    this.#isStarted = true
    const { roots, indexExists } = this.#dependencies
    if (this.#opened !== null) await this.#opened.start()
    else if (this.#opening !== null || indexExists() || (await roots.owners()).length > 0) {
      await this.get()
    }
  }

  async erase(owner: OwnerId): Promise<void> {
    this.#knownRoots.delete(owner)
    if (this.#opening !== null || this.#dependencies.indexExists()) {
      await (await this.get()).erase(owner)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await (await this.#opening?.catch(() => null))?.close()
  }

  async #readRoots(owner: OwnerId): Promise<string> {
    const roots = JSON.stringify(await this.#dependencies.roots.list(owner))
    this.#knownRoots.set(owner, roots)
    return roots
  }

  async #open(): Promise<FileIndex> {
    const index = await this.#dependencies.openIndex()
    this.#opened = index
    try {
      if (this.#isStarted) await index.start()
      return index
    } catch (error) {
      this.#opened = null
      await index.close()
      throw error
    }
  }
}
