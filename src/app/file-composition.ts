/**
 * Composes memory in files: the index, an engine on top of it, and the external search program
 * where one is configured.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OwnerId } from '../domain/ids.ts'
import { INDEX_COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { createEngineWith, type Engine } from '../engine/engine.ts'
import type { EngineDependencies } from '../engine/engine-dependencies.ts'
import { createFailoverFileSearch } from '../files/failover-file-search.ts'
import {
  connectMemories,
  createFileIndex,
  type FileIndex,
  type FilesHost,
} from '../files/file-index.ts'
import { FILE_DEFAULTS, type FileOptions } from '../files/file-options.ts'
import type { FileSearch } from '../files/file-search.ts'
import type { FileTree } from '../files/file-tree.ts'
import { createFiles, type FileService } from '../files/files.ts'
import type { IndexEngine } from '../files/indexing/index-engine.ts'
import { createFileTree } from '../files/local/local-file-tree.ts'
import { createWorkspace } from '../files/local/local-workspace.ts'
import { openQmdFileSearch, type QmdFileSearch } from '../files/qmd/qmd-file-search.ts'
import { createRoots, toDisplayPath } from '../files/roots.ts'
import { systemIntervalTimers } from '../lib/clock.ts'
import { AppError, toAppError } from '../lib/errors.ts'
import { MINUTE_MS } from '../lib/time.ts'
import type { Embedder } from '../models/embedder.ts'
import type { ProviderBatchEmbedder } from '../models/embedders/batch-api/provider-batch-embedder.ts'
import { type EmbeddingCache, withEmbeddingCache } from '../models/embedders/embedding-cache.ts'
import { withLongText } from '../models/embedders/long-text.ts'
import { openSqliteEmbeddingCache } from '../models/embedders/sqlite-embedding-cache.ts'
import { detectFileKind, openSqliteFile } from '../storage/sqlite/connection/database-file.ts'
import type { DatabaseKey } from '../storage/sqlite/connection/sqlite-driver.ts'
import type { SqliteStore } from '../storage/sqlite/sqlite-store.ts'
import type { Store } from '../storage/store.ts'
import { type Environment, processEnvironment } from './config/config.ts'
import { createIdGenerator } from './id-generator.ts'
import { systemClock } from './system-clock.ts'

export type FilesOptions = {
  /** The index, a SQLite file, created on first use. It can be rebuilt from the files. */
  readonly path: string
  /** The encryption key of the index. Default: that of the memories. */
  readonly key?: DatabaseKey | null
  /** The `qmd` executable, where the setting `files.searchBackend` selects it. Default: `qmd`. */
  readonly qmdCommand?: readonly string[]
  /** The environment of `qmd`. Default: that of this process. */
  readonly environment?: Environment
}

const QMD_FOLDER = 'qmd'
const BATCHES_FOLDER = 'batches'
const VECTORS_FILE = 'file-vectors.db'

/** Shared by all owners, whose folders have other names. */
const QMD_MODELS = 'models'

/**
 * For the built-in model, which is slow. Static models are fast, and remote ones have their own
 * cache file.
 */
const CACHED_SOURCE = 'transformers'

/** The parts that the index shares with the memories. */
type Parts = Pick<EngineDependencies, 'embedder' | 'getFormerEmbedder' | 'vectorEncoding'> & {
  /**
   * Embedding batches that fill the embedder's cache, where both are available; `folder` records
   * them.
   */
  readonly openFilling?: (embedder: Embedder, folder: string) => ProviderBatchEmbedder | null
}

/** For an engine with these parts. Everything is opened on first use. */
export function createFilesFactory(
  options: FilesOptions,
  parts: Parts,
): (host: FilesHost) => FileService {
  return (host) =>
    createFiles({
      roots: createRoots({ store: host.dependencies.store, clock: systemClock }),
      indexExists: () => existsSync(options.path),
      openIndex: () => openFileIndex(options, parts, host),
    })
}

/** An engine as the file index uses it: on the index's own store, where each chunk is a memory. */
export function toIndexEngine(engine: Engine): IndexEngine {
  return {
    recall: (scope, query) => engine.recall(scope, { ...query, reach: 'owner' }),
    embed: engine.admin.models.embed,
    listVectors: engine.admin.overview.vectors,
    getIndexStatus: async () => (await engine.status()).index,
    getEmbedder: () => engine.admin.getComponents().embedder,
    canSearchVectors: () => engine.admin.getComponents().vectors !== 'none',
    warmUp: engine.warmUp,
    reindex: engine.admin.reindex,
    eraseOwner: engine.admin.eraseOwner,
    applyExternalCommit: engine.admin.applyExternalCommit,
    close: engine.close,
  }
}

async function openFileIndex(
  options: FilesOptions,
  { embedder, openFilling, ...embedding }: Parts,
  host: FilesHost,
): Promise<FileIndex> {
  const settings = await host.resolveSettings(null)
  const isEncrypted = options.key != null
  const usesQmd = settings['files.searchBackend'] === 'qmd'
  if (usesQmd && isEncrypted) throw qmdEncryptionError()
  const innerStore = await openIndexStore(options)
  const prefill =
    settings['files.batchEmbeddingEnabled'] && embedder !== undefined
      ? (openFilling?.(embedder, join(dirname(options.path), BATCHES_FOLDER)) ?? null)
      : null
  const cachesVectors = settings['files.vectorCacheEnabled'] && !isEncrypted
  const cache = cachesVectors ? openVectorCache(options, embedder) : null
  const inner = createEngineWith({
    ...embedding,
    ...{ store: innerStore, clock: systemClock, ids: createIdGenerator(), settings: {} },
    ...(embedder === undefined || innerStore.vectors === null
      ? {}
      : {
          embedder: sharedEmbedder(prefill?.embedder ?? embedder, cache),
          vectors: innerStore.vectors,
        }),
  })
  const fileBytesMax = settings['files.sizeBytesMax']
  const tree = createFileTree({ clock: systemClock, fileBytesMax })
  const { store } = host.dependencies
  const settingsOf = async (owner: OwnerId) => toFileSettings(await host.resolveSettings(owner))
  let qmd: QmdFileSearch | null = null
  const searchWithQmd = (builtin: FileSearch) => {
    qmd = openQmd(options, settings, { store, tree, settingsOf, builtin })
    const failClosed = settings['files.failClosed']
    const backends = { primary: qmd, primaryName: 'qmd', fallback: builtin }
    return createFailoverFileSearch({ ...backends, clock: systemClock, failClosed })
  }
  return createFileIndex({
    ...{ store, innerStore, tree, settingsOf, clock: systemClock, ids: createIdGenerator() },
    ...connectMemories(host),
    pace: {
      isWatching: settings['files.watch'],
      debounceMs: settings['files.watchDebounceMs'],
      intervalMs: settings['files.syncIntervalMinutes'] * MINUTE_MS,
    },
    inner: toIndexEngine(inner),
    workspaceOf: ({ path }) => createWorkspace({ path, clock: systemClock, fileBytesMax }),
    ...(prefill === null ? {} : { prefill }),
    ...(usesQmd ? { searchWith: searchWithQmd } : {}),
    onWritten: (owner) => qmd?.touch(owner),
    onErased: async (owner) => {
      await qmd?.forget(owner)
      await cache?.clear()
    },
  })
}

function openQmd(
  { path, environment, qmdCommand }: FilesOptions,
  settings: Settings,
  index: {
    readonly store: Store
    readonly tree: FileTree
    readonly settingsOf: (owner: OwnerId) => Promise<FileOptions>
    readonly builtin: FileSearch
  },
): QmdFileSearch {
  const roots = createRoots({ store: index.store, clock: systemClock })
  const stateFolder = join(dirname(path), QMD_FOLDER)
  return openQmdFileSearch(
    {
      ...{ clock: systemClock, tree: index.tree, toExternalPath: toDisplayPath },
      scheduleEvery: systemIntervalTimers.every,
      listRoots: roots.list,
      loadDefaults: index.settingsOf,
      readFile: index.builtin.readFile,
    },
    {
      ...{ stateFolder, modelFolder: join(stateFolder, QMD_MODELS) },
      mode: settings['files.qmdMode'],
      times: {
        searchMs: settings['files.qmdTimeoutMs'],
        updateEveryMs: settings['files.qmdUpdateMinutes'] * MINUTE_MS,
      },
      environment: environment ?? processEnvironment(),
      ...(qmdCommand === undefined ? {} : { command: qmdCommand }),
    },
  )
}

/** Vectors that outlive their chunks: moved, rotated or recreated files are not embedded again. */
function openVectorCache(
  { path }: FilesOptions,
  embedder: Embedder | undefined,
): EmbeddingCache | null {
  if (path === ':memory:' || embedder?.report().source !== CACHED_SOURCE) return null
  return openSqliteEmbeddingCache({ path: join(dirname(path), VECTORS_FILE), clock: systemClock })
}

function qmdEncryptionError(): AppError {
  return new AppError(
    'invalid_input',
    'The memories are encrypted, and qmd stores texts of files unencrypted. Set `files.searchBackend` to `builtin`.',
    { setting: 'files.searchBackend' },
  )
}

/** An unreadable index is moved aside and recreated: everything in it comes from the files. */
async function openIndexStore({ path, key = null }: FilesOptions): Promise<SqliteStore> {
  const isOnDisk = path !== ':memory:'
  if (isOnDisk) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // An index that was created before the memories were encrypted.
  if (key !== null && existsSync(path) && detectFileKind(path) === 'plain') removeIndex(path)
  const openOnce = () =>
    openSqliteFile({
      ...{ path, key, now: () => systemClock.now() },
      commitChangesMax: INDEX_COMMIT_CHANGES_MAX,
    })
  try {
    return await openOnce()
  } catch (error) {
    const { code } = toAppError(error)
    if (!isOnDisk || (code !== 'damaged' && code !== 'locked')) throw error
    renameSync(path, `${path}${DAMAGED_SUFFIX}`)
    for (const end of SIDE_FILES) rmSync(`${path}${end}`, { force: true })
    return openOnce()
  }
}

const DAMAGED_SUFFIX = '.damaged'
const SIDE_FILES = ['-wal', '-shm', '-journal', '.key-check']

/** The index and all files next to it. */
export function removeIndex(path: string): void {
  const vectors = join(dirname(path), VECTORS_FILE)
  for (const end of ['', ...SIDE_FILES, DAMAGED_SUFFIX]) {
    rmSync(`${path}${end}`, { force: true })
    rmSync(`${vectors}${end}`, { force: true })
  }
  rmSync(join(dirname(path), QMD_FOLDER), { recursive: true, force: true })
}

/** One model for both, closed by its opener. For file chunks, every word counts. */
function sharedEmbedder(embedder: Embedder, cache: EmbeddingCache | null): Embedder {
  const cached = cache === null ? embedder : keepingDocuments(embedder, cache)
  return { ...withLongText(cached), close: async () => cache?.close() }
}

/** Questions rarely repeat, so caching them is not worth a write each. */
function keepingDocuments(embedder: Embedder, cache: EmbeddingCache): Embedder {
  const cached = withEmbeddingCache(embedder, { cache, account: 'local' })
  return {
    ...cached,
    embed: (texts, options) =>
      (options.purpose === 'query' ? embedder : cached).embed(texts, options),
  }
}

export function toFileSettings(settings: Settings): FileOptions {
  const { 'files.chunkTokens': chunkTokens, 'files.chunkOverlapTokens': fileChunkOverlap } =
    settings
  return {
    ...FILE_DEFAULTS,
    chunkTokens,
    chunkOverlap: Math.min(fileChunkOverlap, chunkTokens - 1),
    minScore: settings['files.minScore'],
    maxResults: settings['files.resultsMax'],
    fusion: settings['files.fusion'],
    halfLifeDays: settings['files.halfLifeDays'],
    mmrLambda: settings['files.mmrLambda'],
    redactsEmails: settings['files.redactEmails'],
    isMemoryFileEnabled: settings['files.memoryFileSync'],
    timeZone: settings['files.timeZone'],
    sessionBytes: settings['files.sessionDeltaBytes'],
    sessionMessages: settings['files.sessionDeltaMessages'],
    candidateMultiplier: settings['files.candidateMultiplier'],
    snippetCharactersMax: settings['files.snippetCharactersMax'],
    resultCharactersMax: settings['files.resultCharactersMax'],
    syncsOnSearch: settings['files.syncOnSearch'],
    syncsOnSessionStart: settings['files.syncOnSessionStart'],
  }
}
