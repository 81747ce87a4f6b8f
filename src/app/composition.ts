/**
 * Composition root: connects adapters to the engine. Only this file and its siblings import both.
 */
import { existsSync } from 'node:fs'
import { createStoredSettings } from '../admin/stored-settings.ts'
import { VECTOR_ENCODINGS, type VectorEncoding } from '../domain/embedding-text.ts'
import { parseSettings, type Settings } from '../domain/settings/settings.ts'
import { createEngineWith, type Engine } from '../engine/engine.ts'
import { AppError } from '../lib/errors.ts'
import type { Embedder } from '../models/embedder.ts'
import { openSqliteEmbeddingCache } from '../models/embedders/sqlite-embedding-cache.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { Reranker } from '../models/reranker.ts'
import { openProviderReranker } from '../models/rerankers/reranker-providers.ts'
import { assertMigrationComplete } from '../portability/store-migration/migration-marker.ts'
import { openPostgresStore, type PostgresStoreOptions } from '../storage/postgres/postgres-store.ts'
import { openSqliteFile } from '../storage/sqlite/connection/database-file.ts'
import type { DatabaseKey } from '../storage/sqlite/connection/sqlite-driver.ts'
import { loadKeyFile, parsePassphrase } from '../storage/sqlite/encryption/encryption-key.ts'
import type { VectorSearchEngine } from '../storage/sqlite/sqlite-store.ts'
import type { Store } from '../storage/store.ts'
import type { VectorIndex } from '../storage/vector-index.ts'
import type { CountTokens } from '../text/tokens.ts'
import { openReplicatedStore, type VectorStoreOptions } from './database/vector-store-selection.ts'
import { createFilesFactory, type FilesOptions } from './file-composition.ts'
import { foreignDrivers } from './foreign-drivers.ts'
import { createIdGenerator } from './id-generator.ts'
import {
  type EmbeddingOptions,
  openBatchPrefill,
  openConfiguredEmbedder,
  openPreviousEmbedder,
  openReranker,
  type ProviderKeys,
  type RerankOptions,
} from './models/model-selection.ts'
import { systemClock } from './system-clock.ts'

/**
 * The store: one of `path`, `postgres` and `store`; without any, memories are lost when the process
 * ends.
 */
export type EngineOptions = {
  /** A SQLite file, created when missing. */
  readonly path?: string
  /** The key of an encrypted file; a new file is encrypted when it is set. */
  readonly key?: { readonly file: string } | { readonly passphrase: string }
  /** `full` survives a power failure at the cost of an fsync per write. Default: `normal`. */
  readonly durability?: 'normal' | 'full'
  /** A connection string. Needs the package `pg`. */
  readonly postgres?: string
  /** PostgreSQL options: limits, replicas, row-level security. */
  readonly postgresOptions?: Omit<PostgresStoreOptions, 'connectionString'>
  /** Any other store; the engine closes it. */
  readonly store?: Store & { readonly vectors?: VectorIndex | null }
  /** The embedder; the built-in model by default. `false`: lexical search only. */
  readonly embedding?: EmbeddingOptions | Embedder | false
  /** `int8` stores vectors in a quarter of the space. Default: `float32`. */
  readonly vectorForm?: VectorEncoding
  /**
   * SQLite's vector search; `sqlite-vec` needs the package of that name, and is slower. Default:
   * `built-in`.
   */
  readonly vectorSearch?: VectorSearchEngine
  /**
   * Options of the vector replica that are not settings; `vectorStore.backend` and
   * `vectorStore.qdrantUrl` are.
   */
  readonly vectorStore?: VectorStoreOptions
  /** Memory limit for SQLite's vectors during searches. Default: 512 MiB. */
  readonly vectorMemoryBytes?: number
  /**
   * Reranks the best candidates together with the question. Default: the model of the setting
   * `recall.rerankModel`.
   */
  readonly rerank?: RerankOptions | Reranker
  /** API keys by provider, as `{ openai: 'sk-…' }`, for models that stored settings name. */
  readonly providerKeys?: ProviderKeys
  /**
   * Distills conversations into memories; the setting `learning.extractionModel` names its model.
   * Default: none.
   */
  readonly languageModel?: LanguageModel
  /** Counts tokens as the target model does. Default: an estimate. */
  readonly countTokens?: CountTokens
  /** Memory in files: the location of its index. Default: disabled. */
  readonly files?: FilesOptions
  /** Overrides of the defaults in the settings table. */
  readonly settings?: { readonly [name: string]: unknown }
}

const OPTIONS: ReadonlySet<string> = new Set<keyof EngineOptions>([
  'path',
  'key',
  'durability',
  'postgres',
  'postgresOptions',
  'store',
  'embedding',
  'vectorForm',
  'vectorSearch',
  'vectorMemoryBytes',
  'vectorStore',
  'rerank',
  'providerKeys',
  'languageModel',
  'countTokens',
  'files',
  'settings',
])

export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  const stray = Object.keys(options).find((name) => !OPTIONS.has(name))
  if (stray !== undefined) {
    // A misspelled `path` would store everything in memory, and lose it.
    throw new AppError('invalid_input', `createEngine has no option "${stray}".`, { option: stray })
  }
  const { vectorForm = 'float32', countTokens, languageModel } = options
  if (!VECTOR_ENCODINGS.includes(vectorForm)) {
    throw new AppError('invalid_input', `vectorForm must be one of ${VECTOR_ENCODINGS.join(', ')}.`)
  }
  const settings = parseSettings(options.settings ?? {})
  const store = await openStore(options)
  let tiered: ReturnType<typeof openReplicatedStore> | null = null
  try {
    await assertMigrationComplete(store)
    const stored = await storedSettings(store)
    const { embedding, embedder } = chooseEmbedding(options, stored)
    const reranker = chooseReranker(options, stored)
    const vectors = store.vectors ?? null
    if (vectors !== null && embedder !== null) {
      tiered = openReplicatedStore(store, vectors, settings, {
        isEncrypted: options.key !== undefined,
        ...options.vectorStore,
      })
    }
    const meaning = {
      vectorEncoding: vectorForm,
      ...(embedder === null
        ? {}
        : {
            embedder,
            getFormerEmbedder: (signature: string) =>
              openPreviousEmbedder(signature, embedding ?? {}),
          }),
    }
    return createEngineWith({
      store,
      ...(vectors === null ? {} : { vectors }),
      ...(store.vectorsUnavailableReason == null
        ? {}
        : { vectorsUnavailableReason: store.vectorsUnavailableReason }),
      ...tiered,
      clock: systemClock,
      ids: createIdGenerator(),
      settings,
      foreignDrivers,
      ...meaning,
      ...(reranker === undefined ? {} : { reranker }),
      ...(languageModel === undefined ? {} : { languageModel }),
      onErased: () => clearEmbeddingCache(embedding?.cacheFile ?? null),
      ...(options.files === undefined
        ? {}
        : {
            files: createFilesFactory(withKey(options.files, options.key), {
              ...meaning,
              openFilling: (model, folder) =>
                embedding === null ? null : openBatchPrefill(embedding, model, folder),
            }),
          }),
      ...(countTokens === undefined ? {} : { countTokens }),
    })
  } catch (error) {
    await tiered?.vectors.close()
    await store.close()
    throw error
  }
}

/** The stored system settings that determine how the engine is built. */
async function storedSettings(store: Store): Promise<Settings> {
  const ports = { store, clock: systemClock, ids: createIdGenerator(), settings: {} }
  return createStoredSettings(ports).resolve(null)
}

/** Without options when the caller passes an embedder, or disables it. */
function chooseEmbedding({ embedding = {}, providerKeys = {} }: EngineOptions, stored: Settings) {
  if (embedding === false) return { embedding: null, embedder: null }
  if ('embed' in embedding) return { embedding: null, embedder: embedding }
  return openConfiguredEmbedder(embedding, stored, providerKeys)
}

function chooseReranker(
  { rerank, providerKeys = {} }: EngineOptions,
  { 'recall.rerankModel': rerankProviderModel }: Settings,
): Reranker | undefined {
  if (rerank !== undefined) return 'rerank' in rerank ? rerank : openReranker(rerank)
  return rerankProviderModel === ''
    ? undefined
    : openProviderReranker(rerankProviderModel, providerKeys)
}

type OpenedStore = Store & {
  readonly vectors?: VectorIndex | null
  readonly vectorsUnavailableReason?: string | null
}

async function openStore({
  path,
  key,
  durability,
  postgres,
  postgresOptions,
  store,
  vectorSearch,
  vectorMemoryBytes,
}: EngineOptions): Promise<OpenedStore> {
  if ([path, postgres, store].filter((place) => place !== undefined).length > 1) {
    throw new AppError('invalid_input', 'Set only one of path, postgres and store.')
  }
  if (store !== undefined) return store
  if (postgres !== undefined)
    return openPostgresStore({ ...postgresOptions, connectionString: postgres })
  return openSqliteFile({
    path: path ?? ':memory:',
    now: () => systemClock.now(),
    key: key === undefined ? null : toDatabaseKey(key),
    ...(durability === undefined ? {} : { durability }),
    ...(vectorSearch === undefined ? {} : { vectorSearchEngine: vectorSearch }),
    ...(vectorMemoryBytes === undefined ? {} : { vectorCacheBytes: vectorMemoryBytes }),
  })
}

function toDatabaseKey(key: NonNullable<EngineOptions['key']>): DatabaseKey {
  return 'file' in key ? loadKeyFile(key.file) : parsePassphrase(key.passphrase)
}

/** Data derived from files is as secret as memories. */
function withKey(files: FilesOptions, key: EngineOptions['key']): FilesOptions {
  if (files.key !== undefined || key === undefined) return files
  return { ...files, key: toDatabaseKey(key) }
}

/**
 * Vectors reveal texts, and the cache cannot tell which belong to erased memories: it is emptied.
 */
async function clearEmbeddingCache(cacheFile: string | null): Promise<void> {
  if (cacheFile === null || !existsSync(cacheFile)) return
  const cache = openSqliteEmbeddingCache({ path: cacheFile, clock: systemClock })
  try {
    await cache.clear()
  } catch (error) {
    throw new AppError(
      'unavailable',
      `The memory was erased, but vectors of its text may remain in ${cacheFile}. Delete that file.`,
      {},
      error,
    )
  } finally {
    await cache.close()
  }
}
