/** Selects and builds the embedder and the reranker from the configuration. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Settings } from '../../domain/settings/settings.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { findPackageFolder } from '../../lib/package-folder.ts'
import type { Embedder } from '../../models/embedder.ts'
import { openBatchLedger } from '../../models/embedders/batch-api/batch-ledger.ts'
import { openEmbeddingBatches } from '../../models/embedders/batch-api/batch-providers.ts'
import {
  openProviderBatchEmbedder,
  type ProviderBatchEmbedder,
} from '../../models/embedders/batch-api/provider-batch-embedder.ts'
import { withEmbeddingCache } from '../../models/embedders/embedding-cache.ts'
import { withMemoryCache } from '../../models/embedders/embedding-memory-cache.ts'
import { createFallbackEmbedder } from '../../models/embedders/fallback-embedder.ts'
import { openLocalEmbedder } from '../../models/embedders/local/local-embedder.ts'
import { isShippedModel } from '../../models/embedders/local/local-embedder-options.ts'
import {
  hashRemoteAccount,
  isPurposeSpecific,
  openRemoteEmbedder,
  parseEmbeddingModel,
  type RemoteEmbedderConfig,
} from '../../models/embedders/remote/embedding-providers.ts'
import { openSqliteEmbeddingCache } from '../../models/embedders/sqlite-embedding-cache.ts'
import { openStaticEmbedder } from '../../models/embedders/static/static-embedder.ts'
import { createUnavailableEmbedder } from '../../models/embedders/unavailable-embedder.ts'
import type { Reranker } from '../../models/reranker.ts'
import { openLocalReranker } from '../../models/rerankers/local-reranker.ts'
import { openRemoteReranker } from '../../models/rerankers/remote-reranker.ts'
import { systemClock } from '../system-clock.ts'

export const EMBEDDING_SOURCES = ['auto', 'transformers', 'static', 'remote', 'none'] as const
export type EmbeddingSource = (typeof EMBEDDING_SOURCES)[number]

/** Embedder options. Everything has a default: the built-in model, offline, without a key. */
export type EmbeddingOptions = {
  /**
   * `auto`: a remote model if one is configured with a key, else the local one. `none`: lexical
   * search only.
   */
  readonly source?: EmbeddingSource
  /** `provider/model`, for example `openai/text-embedding-3-small`. */
  readonly remoteModel?: string
  readonly apiKey?: string
  /** The URL of the remote service, when it is not the default. */
  readonly url?: string
  /** The rate limits of the remote service; calls wait for their turn. Default: no limit. */
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  /** The built-in model by default; or a folder, or `owner/name` of a model on the hub. */
  readonly localModel?: string
  /** The included model by default; or a folder, or the name of one in `modelFolder`. */
  readonly staticModel?: string
  /** The folder of models that are not included in the package. */
  readonly modelFolder?: string
  readonly allowDownload?: boolean
  /**
   * A file that caches the vectors of a remote model across runs, because they cost money. Not for
   * encrypted data: vectors reveal texts. It is emptied whenever memories are erased.
   */
  readonly cacheFile?: string | null
  /** Caches those of a local model there as well. */
  readonly cachesLocal?: boolean
  /** The maximum size of the cache. Default: 256 MiB. */
  readonly cacheFileBytesMax?: number
  readonly cacheEntriesMax?: number
  readonly cacheAgeMsMax?: number
  /** A remote model, with its key, that is used when `remoteModel` cannot be used at all. */
  readonly fallback?: { readonly model: string; readonly apiKey?: string }
}

export type RerankOptions =
  | { readonly url: string; readonly model: string; readonly apiKey?: string }
  /** A folder with a cross-encoder in ONNX format. */
  | { readonly folder: string }

/** API keys by provider, for models that are configured separately from their keys. */
export type ProviderKeys = { readonly [provider: string]: string }

/** The embedding settings in the store. */
type StoredChoice = Pick<
  Settings,
  | 'embedding.source'
  | 'embedding.model'
  | 'embedding.fallbackModel'
  | 'embedding.localEnabled'
  | 'embedding.staticEnabled'
>
/** The fallback of `auto`. */
type LocalFallbacks = Pick<StoredChoice, 'embedding.localEnabled' | 'embedding.staticEnabled'>

const STATIC_MODEL = 'static-gte-256'
const ALL_FALLBACKS: LocalFallbacks = {
  'embedding.localEnabled': true,
  'embedding.staticEnabled': true,
}

/** Fills the options that the process was started without from the stored settings. */
function withStored(
  options: EmbeddingOptions,
  stored: StoredChoice,
  keys: ProviderKeys,
): EmbeddingOptions {
  const source = options.source ?? stored['embedding.source']
  const { 'embedding.model': remoteModel, 'embedding.fallbackModel': fallbackModel } = stored
  const own = { ...options, source, ...toFallback(options, fallbackModel, keys) }
  if (options.remoteModel !== undefined || remoteModel === '') return own
  const apiKey = options.apiKey ?? keys[parseEmbeddingModel(remoteModel).provider]
  return { ...own, remoteModel, ...(apiKey === undefined ? {} : { apiKey }) }
}

function toFallback(
  { fallback }: EmbeddingOptions,
  model: string,
  keys: ProviderKeys,
): Pick<EmbeddingOptions, 'fallback'> {
  if (fallback !== undefined || model === '') return fallback === undefined ? {} : { fallback }
  const apiKey = keys[parseEmbeddingModel(model).provider]
  return { fallback: { model, ...(apiKey === undefined ? {} : { apiKey }) } }
}

/**
 * The embedder for these options. Where settings chose an unusable remote model, the process still
 * starts: otherwise nobody could change them.
 */
export function openConfiguredEmbedder(
  options: EmbeddingOptions,
  stored: StoredChoice,
  keys: ProviderKeys,
): { readonly embedding: EmbeddingOptions; readonly embedder: Embedder | null } {
  const embedding = withStored(options, stored, keys)
  const isSaid = options.source !== undefined && options.remoteModel !== undefined
  const because = embedding.source === 'remote' && !isSaid ? remoteFault(embedding) : null
  return {
    embedding,
    embedder:
      because === null
        ? openEmbedder(embedding, stored)
        : createUnavailableEmbedder(modelNameIn(embedding), because),
  }
}

/** Null for lexical search only. Models load, and services are called, on the first text. */
export function openEmbedder(options: EmbeddingOptions, allowed = ALL_FALLBACKS): Embedder | null {
  switch (options.source ?? 'auto') {
    case 'none':
      return null
    case 'static':
      return withCache(openStatic(options), options)
    case 'transformers':
      return withCache(openLocal(options), options)
    case 'remote':
      return openFirst([openRemote(options), ...openRemoteFallback(options)])
    case 'auto':
      return openAuto(options, allowed)
  }
}

/**
 * The remote model if it is configured and usable; else its fallback, whose report has the reason.
 */
function openAuto(options: EmbeddingOptions, allowed: LocalFallbacks): Embedder | null {
  const { remoteModel } = options
  const others = [...openRemoteFallback(options), ...openLocalModels(options, allowed)]
  if (remoteModel === undefined) return openFirst(others)
  const because = remoteFault(options)
  if (because === null) return openFirst([openRemote(options), ...others])
  const fallback = openFirst(others)
  if (fallback === null) return createUnavailableEmbedder(modelNameIn(options), because)
  return withReport(fallback, { fallbackFor: remoteModel, fallbackReason: because })
}

function openLocalModels(options: EmbeddingOptions, allowed: LocalFallbacks): readonly Embedder[] {
  return [
    ...(allowed['embedding.localEnabled'] ? [withCache(openLocal(options), options)] : []),
    ...(allowed['embedding.staticEnabled'] ? [withCache(openStatic(options), options)] : []),
  ]
}

function openRemoteFallback(options: EmbeddingOptions): readonly Embedder[] {
  const { fallback, apiKey: _, url: __, ...rest } = options
  if (fallback === undefined) return []
  const { model: remoteModel, apiKey } = fallback
  const own = { ...rest, remoteModel, ...(apiKey === undefined ? {} : { apiKey }) }
  return remoteFault(own) === null ? [openRemote(own)] : []
}

/** Null without any. */
function openFirst([first, ...others]: readonly Embedder[]): Embedder | null {
  if (first === undefined) return null
  return others.length === 0 ? first : createFallbackEmbedder([first, ...others])
}

/** The same embedder with an extended report. */
function withReport(embedder: Embedder, facts: Readonly<Record<string, string>>): Embedder {
  return {
    describe: (signal) => embedder.describe(signal),
    embed: (texts, call) => embedder.embed(texts, call),
    report: () => {
      const report = embedder.report()
      return { ...report, facts: { ...report.facts, ...facts } }
    },
    close: () => embedder.close(),
  }
}

/** The known properties of the remote model, whether or not it is usable. */
function modelNameIn({ remoteModel = '' }: EmbeddingOptions) {
  const slash = remoteModel.indexOf('/')
  if (slash < 1) return { source: 'remote', model: remoteModel }
  return { source: remoteModel.slice(0, slash), model: remoteModel.slice(slash + 1) }
}

const SIGNATURE = /^(?<source>[^:]+):(?<model>.+):\d+(?::\w+)?$/

/**
 * The embedder that created a space, where its model is still available: included in the package,
 * in the model folder, or from the service that is configured now. A service that is no longer
 * configured gets no more texts.
 */
export function openPreviousEmbedder(
  signature: string,
  options: EmbeddingOptions,
): Embedder | null {
  const { source = '', model = '' } = SIGNATURE.exec(signature)?.groups ?? {}
  if (source === 'transformers') return openPreviousLocal(model, options)
  if (source === 'static') return openPreviousStatic(model, options)
  if (modelNameIn(options).source !== source || !usesRemote(options)) return null
  return openRemote({ ...options, remoteModel: `${source}/${nameIn(model)}` })
}

function openPreviousLocal(model: string, options: EmbeddingOptions): Embedder | null {
  if (isShippedModel(model)) return withCache(openLocalEmbedder({ model }), options)
  const { modelFolder, localModel } = options
  const folder = previousModelFolder(model, modelFolder, localModel)
  if (folder === null) return null
  // A model of the hub is called by its full name, one in a folder by the folder's name.
  const base = model.includes('/')
    ? { ...options, localModel: nameIn(model) }
    : { localModel: folder }
  return withCache(openNamedLocal({ ...base, allowDownload: false }), options)
}

function openPreviousStatic(model: string, options: EmbeddingOptions): Embedder | null {
  if (model.startsWith(`${STATIC_MODEL}@`)) return withCache(openStatic({}), options)
  const folder = previousModelFolder(model, options.modelFolder, options.staticModel)
  return folder === null ? null : withCache(openStatic({ staticModel: folder }), options)
}

/**
 * The model folder, or the folder of the current model. Its content is compared when it is opened.
 */
function previousModelFolder(
  model: string,
  modelFolder: string | undefined,
  present: string | undefined,
): string | null {
  const beside = present === undefined ? undefined : dirname(present)
  const places = [modelFolder, beside].filter((place) => place !== undefined)
  const folders = places.map((place) => resolve(place, nameIn(model)))
  return folders.find((folder) => existsSync(folder)) ?? null
}

/**
 * A model in a folder is named after it, with a hash of its content after an `@`; one of a service,
 * after its URL.
 */
function nameIn(model: string): string {
  return model.replace(/@[^@]*$/, '')
}

export function openReranker(options: RerankOptions): Reranker {
  return 'folder' in options
    ? openLocalReranker({ folder: options.folder })
    : openRemoteReranker(options)
}

/** A configured model that is not on disk gives way to the built-in one, and the report says so. */
function openLocal(options: EmbeddingOptions): Embedder {
  const { localModel, allowDownload = false } = options
  const named = openNamedLocal(options)
  if (localModel === undefined || isShippedModel(localModel) || allowDownload) return named
  const { localModel: _, ...builtIn } = options
  return createFallbackEmbedder([named, openNamedLocal(builtIn)])
}

function openNamedLocal({ localModel, modelFolder, allowDownload }: EmbeddingOptions): Embedder {
  return openLocalEmbedder({
    ...(localModel === undefined ? {} : { model: localModel }),
    ...(modelFolder === undefined ? {} : { cacheFolder: modelFolder }),
    ...(allowDownload === undefined ? {} : { allowDownload }),
  })
}

function openStatic({ staticModel, modelFolder }: EmbeddingOptions): Embedder {
  if (staticModel === undefined) {
    return openStaticEmbedder({ folder: join(findPackageFolder(), 'models', STATIC_MODEL) })
  }
  const isPath = /[\\/]/.test(staticModel)
  const folder = isPath || modelFolder === undefined ? staticModel : join(modelFolder, staticModel)
  return openStaticEmbedder({ folder })
}

/** Why the remote model is unusable; null when it is usable. */
function remoteFault(options: EmbeddingOptions): string | null {
  try {
    openRemoteEmbedder(remoteConfig(options))
    return null
  } catch (thrown) {
    const { code, message } = toAppError(thrown)
    if (code === 'invalid_input') return message
    throw thrown
  }
}

function usesRemote(options: EmbeddingOptions): boolean {
  const { source = 'auto' } = options
  return (source === 'remote' || source === 'auto') && remoteFault(options) === null
}

function openRemote(options: EmbeddingOptions): Embedder {
  const config = remoteConfig(options)
  return withCache(openRemoteEmbedder(config), options, {
    account: hashRemoteAccount(config),
    isPurposeSpecific: isPurposeSpecific(config),
  })
}

function remoteConfig(options: EmbeddingOptions): RemoteEmbedderConfig {
  const { remoteModel, apiKey, url, requestsPerMinute, tokensPerMinute } = options
  if (remoteModel === undefined) {
    throw new AppError(
      'invalid_input',
      'A remote embedding model must have the form provider/model, for example openai/text-embedding-3-small.',
    )
  }
  return {
    ...parseEmbeddingModel(remoteModel),
    clock: systemClock,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(url === undefined ? {} : { baseUrl: url }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
  }
}

/** The batch API of the embedding service; null where it has none, or without a vector cache. */
export function openBatchPrefill(
  options: EmbeddingOptions,
  embedder: Embedder,
  folder: string,
): ProviderBatchEmbedder | null {
  const { cacheFile } = options
  if (cacheFile == null || !usesRemote(options)) return null
  const config = remoteConfig(options)
  const batches = openEmbeddingBatches(config)
  if (batches === null) return null
  return openProviderBatchEmbedder({
    ...{ embedder, batches, clock: systemClock },
    identity: { account: hashRemoteAccount(config), isPurposeSpecific: isPurposeSpecific(config) },
    cache: openSqliteEmbeddingCache({ path: cacheFile, clock: systemClock }),
    ledger: openBatchLedger(folder),
  })
}

/** Caches vectors in memory; with a file, across runs. */
function withCache(
  embedder: Embedder,
  { cacheFile, cachesLocal, cacheFileBytesMax, cacheEntriesMax, cacheAgeMsMax }: EmbeddingOptions,
  about: { readonly account: string; readonly isPurposeSpecific: boolean } = LOCAL,
): Embedder {
  const base =
    cacheFile == null || (about === LOCAL && cachesLocal !== true)
      ? embedder
      : withEmbeddingCache(embedder, {
          cache: openSqliteEmbeddingCache({
            path: cacheFile,
            clock: systemClock,
            ...(cacheFileBytesMax === undefined ? {} : { bytesMax: cacheFileBytesMax }),
          }),
          ...about,
        })
  return withMemoryCache(base, {
    clock: systemClock,
    isPurposeSpecific: about.isPurposeSpecific,
    ...(cacheEntriesMax === undefined ? {} : { entriesMax: cacheEntriesMax }),
    ...(cacheAgeMsMax === undefined ? {} : { ttlMs: cacheAgeMsMax }),
  })
}

/** A model may have a separate prompt for queries, so the two are cached separately. */
const LOCAL = { account: 'local', isPurposeSpecific: true }
