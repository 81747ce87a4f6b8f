/** Opens memory in files: its index, an engine on that, and the program that searches instead where one is set. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError, toAppError } from '../domain/errors.ts'
import { INDEX_COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { createEngineOn } from '../engine/engine.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import { createFailover } from '../files/failover-file-search.ts'
import { FILE_DEFAULTS, type FileSettings } from '../files/file-options.ts'
import type { FileSearch } from '../files/file-search.ts'
import { createFiles, type Files } from '../files/files.ts'
import type { FilesSurroundings } from '../files/files-host.ts'
import { createLazyFiles } from '../files/lazy-files.ts'
import { createFileTree } from '../files/local/local-file-tree.ts'
import { createWorkspace } from '../files/local/local-workspace.ts'
import { openQmdSearch, type QmdSearch } from '../files/qmd/qmd-file-search.ts'
import { createRoots, pathOutside } from '../files/roots.ts'
import { systemTimers } from '../lib/interval-timers.ts'
import type { Embedder } from '../models/embedder.ts'
import type { Filling } from '../models/embedders/batch-api/provider-batch-embedder.ts'
import { type EmbeddingCache, persisted } from '../models/embedders/embedding-cache.ts'
import { readingToTheEnd } from '../models/embedders/long-text.ts'
import { openCacheFile } from '../models/embedders/sqlite-embedding-cache.ts'
import { fileKind, openSqliteFile } from '../storage/sqlite/connection/database-file.ts'
import type { DatabaseKey } from '../storage/sqlite/connection/sqlite-driver.ts'
import type { SqliteStore } from '../storage/sqlite/sqlite-store.ts'
import { type Environment, processEnvironment } from './config/config.ts'
import { createIds } from './id-generator.ts'
import { systemClock } from './system-clock.ts'

export type FilesOptions = {
  /** The index, a SQLite file, made when it is first needed. It can be made again from the files. */
  readonly path: string
  /** The key that the index is encrypted with. Default: that of the memories. */
  readonly key?: DatabaseKey | null
  /** How `qmd` is called, where the setting `fileBackend` names it. Default: `qmd`. */
  readonly qmdCommand?: readonly string[]
  /** What `qmd` finds its way by. Default: that of this process. */
  readonly environment?: Environment
}

const QMD_FOLDER = 'qmd'
const BATCHES_FOLDER = 'batches'
const VECTORS_FILE = 'file-vectors.db'

/** Shared by all owners, whose folders have other names. */
const QMD_MODELS = 'models'

/** Of the built-in model, which takes long. Static ones don't, and remote ones have a file of their own. */
const KEPT_SOURCE = 'transformers'

/** What the index shares with the memories. */
type Parts = Pick<EnginePorts, 'embedder' | 'formerEmbedder' | 'vectorForm'> & {
  /** Batches that fill the cache of the embedder, where it has both; `folder` is where they are noted. */
  readonly openFilling?: (embedder: Embedder, folder: string) => Filling | null
}

/** For an engine with these parts. Nothing is opened before it is needed. */
export function filesFor(
  options: FilesOptions,
  parts: Parts,
): (surroundings: FilesSurroundings) => Files {
  return (surroundings) =>
    createLazyFiles({
      roots: createRoots({ store: surroundings.store, clock: systemClock }),
      exists: () => existsSync(options.path),
      open: () => open(options, parts, surroundings),
    })
}

async function open(
  options: FilesOptions,
  parts: Parts,
  { store, settingsOf, memories, onMemoriesChanged }: FilesSurroundings,
): Promise<Files> {
  const settings = await settingsOf(null)
  const isEncrypted = options.key != null
  if (settings.fileBackend === 'qmd' && isEncrypted) throw refusedQmd()
  const innerStore = await openIndex(options)
  const { embedder, openFilling, ...rest } = parts
  const filling =
    settings.fileEmbeddingBatches && embedder !== undefined
      ? (openFilling?.(embedder, join(dirname(options.path), BATCHES_FOLDER)) ?? null)
      : null
  const cache = isEncrypted ? null : openVectorCache(options, embedder)
  const inner = createEngineOn({
    ...rest,
    store: innerStore,
    clock: systemClock,
    ids: createIds(),
    settings: {},
    ...(embedder === undefined || innerStore.vectors === null
      ? {}
      : { embedder: borrowed(filling?.embedder ?? embedder, cache), vectors: innerStore.vectors }),
  })
  const fileBytesMax = settings.fileSizeMaxBytes
  const tree = createFileTree({ clock: systemClock, fileBytesMax })
  let qmd: QmdSearch | null = null
  const withQmd = (builtin: FileSearch) => {
    qmd = openQmdSearch(
      {
        ...{ clock: systemClock, tree, pathOutside, every: systemTimers.every },
        rootsOf: (owner) => files.roots.list(owner),
        settingsOf: async (owner) => toFileSettings(await settingsOf(owner)),
        readFile: (owner, path, range) => builtin.readFile(owner, path, range),
      },
      {
        stateFolder: join(dirname(options.path), QMD_FOLDER),
        mode: settings.fileQmdMode,
        modelFolder: join(dirname(options.path), QMD_FOLDER, QMD_MODELS),
        environment: options.environment ?? processEnvironment(),
        ...(options.qmdCommand === undefined ? {} : { command: options.qmdCommand }),
      },
    )
    const failClosed = settings.fileBackendFailClosed
    const both = { primary: qmd, primaryName: 'qmd', fallback: builtin }
    return createFailover({ ...both, clock: systemClock, failClosed })
  }
  const files = createFiles({
    ...{ store, inner, innerStore, tree, clock: systemClock, ids: createIds() },
    workspaceOf: ({ path }) => createWorkspace({ path, clock: systemClock, fileBytesMax }),
    settingsOf: async (owner) => toFileSettings(await settingsOf(owner)),
    ...{ memories, onMemoriesChanged },
    ...(filling === null ? {} : { prefill: filling }),
    ...(settings.fileBackend === 'qmd' ? { searchWith: withQmd } : {}),
  })
  return {
    ...files,
    append: async (owner, text) => {
      const added = await files.append(owner, text)
      qmd?.touch(owner)
      return added
    },
    touch: (owner) => {
      files.touch(owner)
      qmd?.touch(owner)
    },
    forget: async (owner) => {
      await files.forget(owner)
      await qmd?.forget(owner)
      await cache?.clear()
    },
  }
}

/** Vectors that outlive the pieces they were made for: what is moved, rotated or made anew is not embedded again. */
function openVectorCache(
  { path }: FilesOptions,
  embedder: Embedder | undefined,
): EmbeddingCache | null {
  if (path === ':memory:' || embedder?.report().source !== KEPT_SOURCE) return null
  return openCacheFile({ path: join(dirname(path), VECTORS_FILE), clock: systemClock })
}

function refusedQmd(): AppError {
  return new AppError(
    'invalid_input',
    'The memories are encrypted, and qmd keeps texts of files as they are. Set `fileBackend` to `builtin`.',
    { setting: 'fileBackend' },
  )
}

/** One that can't be read is put aside and made again: nothing is in it that isn't in the files. */
async function openIndex({ path, key = null }: FilesOptions): Promise<SqliteStore> {
  const isOnDisk = path !== ':memory:'
  if (isOnDisk) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // One that was made before the memories were encrypted.
  if (key !== null && existsSync(path) && fileKind(path) === 'plain') removeIndex(path)
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
    renameSync(path, `${path}${PUT_ASIDE}`)
    for (const end of BESIDE) rmSync(`${path}${end}`, { force: true })
    return openOnce()
  }
}

const PUT_ASIDE = '.damaged'
const BESIDE = ['-wal', '-shm', '-journal', '.key-check']

/** The index and all that is kept beside it. */
export function removeIndex(path: string): void {
  const vectors = join(dirname(path), VECTORS_FILE)
  for (const end of ['', ...BESIDE, PUT_ASIDE]) {
    rmSync(`${path}${end}`, { force: true })
    rmSync(`${vectors}${end}`, { force: true })
  }
  rmSync(join(dirname(path), QMD_FOLDER), { recursive: true, force: true })
}

/** The same model for both, closed by the one that opened it. Of a piece of a file every word counts. */
function borrowed(embedder: Embedder, cache: EmbeddingCache | null): Embedder {
  const kept = cache === null ? embedder : keepingDocuments(embedder, cache)
  return { ...readingToTheEnd(kept), close: async () => cache?.close() }
}

/** Questions seldom come twice, and are not worth a write each. */
function keepingDocuments(embedder: Embedder, cache: EmbeddingCache): Embedder {
  const kept = persisted(embedder, { cache, account: 'local' })
  return {
    ...kept,
    embed: (texts, options) =>
      (options.purpose === 'query' ? embedder : kept).embed(texts, options),
  }
}

export function toFileSettings(settings: Settings): FileSettings {
  const { fileChunkTokens: chunkTokens, fileChunkOverlap } = settings
  return {
    ...FILE_DEFAULTS,
    chunkTokens,
    chunkOverlap: Math.min(fileChunkOverlap, chunkTokens - 1),
    minScore: settings.fileMinScore,
    maxResults: settings.fileMaxResults,
    fusion: settings.fileFusion,
    halfLifeDays: settings.fileDecayHalfLifeDays,
    mmrLambda: settings.fileMmrLambda,
    redactsMails: settings.redactMails,
    isMirrored: settings.fileMirror,
    timeZone: settings.timeZone,
  }
}
