/** Chooses and builds what turns texts into vectors, and what reranks, from the configuration. */
import { join } from 'node:path'
import { openCacheFile } from '../adapters/embedders/cache-file.ts'
import { cached } from '../adapters/embedders/cached.ts'
import { openLocalEmbedder } from '../adapters/embedders/local/embedder.ts'
import { DEFAULT_MODEL } from '../adapters/embedders/local/options.ts'
import { persisted } from '../adapters/embedders/persisted.ts'
import {
  openRemoteEmbedder,
  PROVIDERS,
  parseProviderModel,
  type RemoteConfig,
  remoteAccount,
} from '../adapters/embedders/source.ts'
import { openStaticEmbedder } from '../adapters/embedders/static/embedder.ts'
import { openLocalReranker } from '../adapters/rerankers/local.ts'
import { openRemoteReranker } from '../adapters/rerankers/remote.ts'
import { packageFolder } from '../adapters/shared/package-folder.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Reranker } from '../ports/reranker.ts'

export const EMBEDDING_SOURCES = ['auto', 'transformers', 'static', 'remote', 'none'] as const
export type EmbeddingSource = (typeof EMBEDDING_SOURCES)[number]

/** Where vectors come from. Everything has a default: the built-in model, offline, without a key. */
export type EmbeddingOptions = {
  /** `auto`: a remote model if one is named and its key is there, else the local one. `none`: words alone. */
  readonly source?: EmbeddingSource
  /** `provider/model`, as `openai/text-embedding-3-small`. */
  readonly remoteModel?: string
  readonly apiKey?: string
  /** Of the remote service, when it is not the usual one. */
  readonly url?: string
  /** The built-in one by default; or the path of a folder, or `owner/name` of a model on the hub. */
  readonly localModel?: string
  /** The one that comes with the package by default; or a folder, or the name of one in `modelFolder`. */
  readonly staticModel?: string
  /** Where models that don't come with the package are kept. */
  readonly modelFolder?: string
  readonly allowDownload?: boolean
  /**
   * A file that keeps the vectors of a remote model across runs, because they cost money. Not for encrypted data:
   * vectors tell of texts. It is emptied whenever memories are erased.
   */
  readonly cacheFile?: string | null
  /** Keeps those of a local model there as well. */
  readonly cachesLocal?: boolean
  readonly cacheEntriesMax?: number
  readonly cacheAgeMsMax?: number
}

export type RerankOptions =
  | { readonly url: string; readonly model: string; readonly apiKey?: string }
  /** A folder with a cross-encoder in ONNX form. */
  | { readonly folder: string }

const STATIC_MODEL = 'static-gte-256'

/** Null when recall should go by words alone. Nothing is loaded and nobody is called before the first text. */
export function openEmbedder(options: EmbeddingOptions): Embedder | null {
  switch (options.source ?? 'auto') {
    case 'none':
      return null
    case 'static':
      return remembered(openStatic(options), options)
    case 'transformers':
      return remembered(openLocal(options), options)
    case 'remote':
      return openRemote(options)
    case 'auto':
      return hasRemote(options) ? openRemote(options) : remembered(openLocal(options), options)
  }
}

/** The embedder that made a space whose model is still at hand: those that come with the package. */
export function openFormerEmbedder(signature: string, options: EmbeddingOptions): Embedder | null {
  if (signature.startsWith(`transformers:${DEFAULT_MODEL}:`)) {
    return remembered(openLocalEmbedder({}), options)
  }
  return signature.startsWith(`static:${STATIC_MODEL}@`)
    ? remembered(openStatic({}), options)
    : null
}

export function openReranker(options: RerankOptions): Reranker {
  return 'folder' in options
    ? openLocalReranker({ folder: options.folder })
    : openRemoteReranker(options)
}

function openLocal({ localModel, modelFolder, allowDownload }: EmbeddingOptions): Embedder {
  return openLocalEmbedder({
    ...(localModel === undefined ? {} : { model: localModel }),
    ...(modelFolder === undefined ? {} : { cacheFolder: modelFolder }),
    ...(allowDownload === undefined ? {} : { allowDownload }),
  })
}

function openStatic({ staticModel, modelFolder }: EmbeddingOptions): Embedder {
  if (staticModel === undefined) {
    return openStaticEmbedder({ folder: join(packageFolder(), 'models', STATIC_MODEL) })
  }
  const isPath = /[\\/]/.test(staticModel)
  const folder = isPath || modelFolder === undefined ? staticModel : join(modelFolder, staticModel)
  return openStaticEmbedder({ folder })
}

function hasRemote({ remoteModel, apiKey }: EmbeddingOptions): boolean {
  if (remoteModel === undefined) return false
  const { provider } = parseProviderModel(remoteModel)
  return apiKey !== undefined || !PROVIDERS[provider].keyRequired
}

function openRemote(options: EmbeddingOptions): Embedder {
  const { remoteModel, apiKey, url } = options
  if (remoteModel === undefined) {
    throw new AppError(
      'invalid_input',
      'A remote embedding model is named as provider/model, for example openai/text-embedding-3-small.',
    )
  }
  const config: RemoteConfig = {
    ...parseProviderModel(remoteModel),
    clock: systemClock,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(url === undefined ? {} : { baseUrl: url }),
  }
  const { purposeMatters } = PROVIDERS[config.provider]
  return remembered(openRemoteEmbedder(config), options, {
    account: remoteAccount(config),
    purposeMatters,
  })
}

/** What was embedded once is not embedded again soon; with a file, not in later runs either. */
function remembered(
  embedder: Embedder,
  { cacheFile, cachesLocal, cacheEntriesMax, cacheAgeMsMax }: EmbeddingOptions,
  about: { readonly account: string; readonly purposeMatters: boolean } = LOCAL,
): Embedder {
  const kept =
    cacheFile == null || (about === LOCAL && cachesLocal !== true)
      ? embedder
      : persisted(embedder, {
          cache: openCacheFile({ path: cacheFile, clock: systemClock }),
          ...about,
        })
  return cached(kept, {
    clock: systemClock,
    purposeMatters: about.purposeMatters,
    ...(cacheEntriesMax === undefined ? {} : { entriesMax: cacheEntriesMax }),
    ...(cacheAgeMsMax === undefined ? {} : { ageMsMax: cacheAgeMsMax }),
  })
}

/** A model may have a prompt of its own for questions, so the two are kept apart. */
const LOCAL = { account: 'local', purposeMatters: true }
