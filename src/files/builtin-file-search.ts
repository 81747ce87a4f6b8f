/** Built-in file search: a separate engine in which each chunk of a file is a memory. */

import type { IdGenerator, OwnerId } from '../domain/ids.ts'
import { raceAbort } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { LruCache } from '../lib/lru-cache.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { BatchEmbedder } from '../models/batch-embedder.ts'
import type { FileProblem } from './file.ts'
import type { FileOptions, FileTimings } from './file-options.ts'
import type {
  FileQuery,
  FileSearch,
  FileSearchResult,
  FileStatus,
  ProbeResult,
} from './file-search.ts'
import type { FileTree } from './file-tree.ts'
import { BatchPrefill } from './indexing/batch-prefill.ts'
import { countUnembedded, type IndexStore } from './indexing/chunk-vectors.ts'
import { FileSync, type SyncOptions } from './indexing/file-sync.ts'
import { readGenerations } from './indexing/generations.ts'
import type { IndexEngine } from './indexing/index-engine.ts'
import { loadIndexedFiles } from './indexing/index-scan.ts'
import { readScanLog } from './indexing/scan-log.ts'
import type { Roots } from './roots.ts'
import { searchIndex } from './search/index-search.ts'
import { readTextRange } from './text-range.ts'

export type BuiltinFileSearchDependencies = {
  readonly clock: Clock
  readonly ids: IdGenerator
  /** The location of the index, and its engine, which is closed together with the search. */
  readonly innerStore: IndexStore
  readonly inner: IndexEngine
  readonly tree: FileTree
  readonly roots: Roots
  readonly settingsOf: (owner: OwnerId) => Promise<FileOptions>
  readonly pace: FileTimings
  /** How changes in an owner's roots are detected, and whether they are detected immediately. */
  readonly watchingOf: (owner: OwnerId) => FileStatus['watching']
  readonly isWatched: (owner: OwnerId) => boolean
  readonly prefill?: BatchEmbedder
  /** The last problem of the `MEMORY.md` sync in an owner's workspace. */
  readonly troubleOf?: (owner: OwnerId) => FileProblem | null
}

export type BuiltinFileSearch = FileSearch & {
  /** Marks a root, or all roots, as possibly changed. */
  markDirty(owner: OwnerId, root?: string): void
  /** Scans changed roots without the time limit of `sync`. */
  syncIfDirty(owner: OwnerId, options?: SyncOptions): Promise<void>
  /** Erases the index of an owner. */
  forget(owner: OwnerId): Promise<void>
}

const BACKEND = 'builtin'
const SESSIONS_MAX = 10_000

export function createBuiltinFileSearch(parts: BuiltinFileSearchDependencies): BuiltinFileSearch {
  const { inner, innerStore: store, tree, roots, settingsOf, pace } = parts
  const ports = {
    store,
    clock: parts.clock,
    ids: parts.ids,
    onCommitted: inner.applyExternalCommit,
  }
  const keepers = new Map<OwnerId, FileSync>()
  const keeperOf = (owner: OwnerId): FileSync => {
    const known = keepers.get(owner)
    if (known !== undefined) return known
    const prefilling =
      parts.prefill === undefined ? null : new BatchPrefill(parts.prefill, inner, store)
    const keeper = new FileSync({ ports, inner, tree, roots, settingsOf, prefilling }, owner)
    keepers.set(owner, keeper)
    return keeper
  }

  let closing: Promise<void> | undefined
  const close = async () => {
    await Promise.all([...keepers.values()].map((keeper) => keeper.close()))
    await inner.close()
  }

  const sessions = new LruCache<string, true>({ entriesMax: SESSIONS_MAX })
  const isFirstQuery = (owner: OwnerId, session: string): boolean => {
    const key = JSON.stringify([owner, session])
    const isFirst = sessions.get(key) === undefined
    sessions.set(key, true)
    return isFirst
  }

  /** Why the answer may miss recent changes; null when it is current, or need not be. */
  const upToDate = async (
    owner: OwnerId,
    { session }: FileQuery,
    settings: FileOptions,
  ): Promise<string | null> => {
    const isStarting = session !== undefined && isFirstQuery(owner, session)
    const isWanted = settings.syncsOnSearch || (settings.syncsOnSessionStart && isStarting)
    if (!isWanted) return null
    const keeper = keeperOf(owner)
    const isHeard = parts.isWatched(owner) && keeper.lookMs > pace.cheapLookMs
    if (isHeard && !keeper.isDirty()) return null
    const looked = await withTimeout(pace.searchWaitMs, () => keeper.sync({}))
    if (looked.kind === 'done') return null
    return `Recent file changes are not indexed yet: ${looked.reason}`
  }

  const answered = async (owner: OwnerId, query: FileQuery): Promise<FileSearchResult> => {
    const settings = await settingsOf(owner)
    const late = await upToDate(owner, query, settings)
    const asking = { inner, store, roots, clock: parts.clock, settings }
    const found = await searchIndex(asking, owner, query)
    return { ...found, fallbackReason: found.fallbackReason ?? late, backend: BACKEND }
  }

  return {
    markDirty: (owner, root) => keeperOf(owner).touch(root),
    syncIfDirty: async (owner, options = {}) => {
      await keeperOf(owner).sync(options)
    },
    forget: async (owner) => {
      await keepers.get(owner)?.close()
      keepers.delete(owner)
      await inner.eraseOwner(owner)
    },
    search: async (owner, query) => {
      const { signal } = query
      const answer = answered(owner, query)
      return signal === undefined ? answer : raceAbort(answer, signal)
    },
    readFile: async (owner, path, range) =>
      readTextRange(
        { tree, roots: await roots.list(owner), settings: await settingsOf(owner) },
        path,
        range,
      ),
    sync: async (owner, options = {}) => keeperOf(owner).sync({ ...options, isThorough: true }),
    status: (owner) => buildStatus(parts, keeperOf(owner), owner),
    probeEmbeddingAvailability: async () => probeEmbedder(inner),
    probeVectorAvailability: async (): Promise<ProbeResult> =>
      inner.canSearchVectors()
        ? { ok: true, error: null }
        : { ok: false, error: 'The store holds no vectors.' },
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

async function buildStatus(
  {
    roots,
    innerStore: store,
    inner,
    watchingOf,
    troubleOf,
    prefill,
  }: BuiltinFileSearchDependencies,
  keeper: FileSync,
  owner: OwnerId,
): Promise<FileStatus> {
  const generations = await readGenerations({ store }, owner)
  const home = generations === null ? null : { owner, user: generations.live.name }
  const files =
    home === null ? new Map<string, never[]>() : await loadIndexedFiles({ store }, { home })
  const looks = await readScanLog(store, owner)
  const wordsOnly = await countUnembedded(inner, store, home)
  const all = [...files.values()].flat()
  const countOf = (some: readonly { readonly chunks: number }[]) => ({
    files: some.length,
    chunks: some.reduce((sum, { chunks }) => sum + chunks, 0),
  })
  const { failure } = keeper
  const ofMirror = troubleOf?.(owner) ?? null
  return {
    backend: BACKEND,
    roots: (await roots.list(owner)).map(({ id, kind, path }) => {
      const look = looks.get(id)
      return {
        ...{ id, kind, path },
        ...countOf(files.get(id) ?? []),
        isDirty: keeper.isDirty(id),
        lastSyncAt: look?.at ?? null,
        problems: [
          ...(failure === null ? [] : [failure]),
          ...(ofMirror === null || kind !== 'workspace' ? [] : [ofMirror]),
          ...(look?.problems ?? []),
        ],
      }
    }),
    bySource: {
      memory: countOf(all.filter(({ source }) => source === 'memory')),
      sessions: countOf(all.filter(({ source }) => source === 'sessions')),
    },
    watching: watchingOf(owner),
    provider: inner.getEmbedder()?.source ?? null,
    model: inner.getEmbedder()?.model ?? null,
    withoutVector: wordsOnly.count,
    withoutVectorReason: wordsOnly.reason,
    rebuilding: keeper.progress,
    facts: {
      ...prefill?.report(),
      generation: generations?.live.name ?? 'none',
      recipe: generations?.live.chunkerVersion ?? '',
    },
  }
}

async function probeEmbedder(inner: IndexEngine): Promise<ProbeResult> {
  if (inner.getEmbedder() === null) {
    return {
      ok: false,
      error: 'No embedding model is configured; only lexical search is available.',
    }
  }
  try {
    await inner.embed(['probe'], { purpose: 'query' })
    return { ok: true, error: null }
  } catch (error) {
    return { ok: false, error: error instanceof AppError ? error.message : String(error) }
  }
}
