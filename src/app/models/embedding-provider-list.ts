/**
 * Embedding providers to choose from: each service, whether its key is configured, and well-known
 * models.
 */

import type { EmbeddingProvider } from '../../api/operations/operation.ts'
import { EMBEDDING_PROVIDERS, type EmbeddingProviderName } from '../../domain/model-name.ts'
import { DEFAULT_MODEL } from '../../models/embedders/local/local-embedder-options.ts'
import { EMBEDDING_PROVIDER_TABLE } from '../../models/embedders/remote/embedding-providers.ts'
import { type Environment, providerKeysIn } from '../config/config.ts'

type Model = readonly [name: string, dimensions: number | null]

/** Suggestions; any other name works as well. */
const MODELS: { readonly [Name in EmbeddingProviderName]: readonly Model[] } = {
  openai: [
    ['text-embedding-3-small', 1536],
    ['text-embedding-3-large', 3072],
  ],
  gemini: [['gemini-embedding-001', 3072]],
  voyage: [
    ['voyage-3.5', 1024],
    ['voyage-3.5-lite', 1024],
  ],
  cohere: [
    ['embed-v4.0', 1536],
    ['embed-multilingual-v3.0', 1024],
  ],
  mistral: [['mistral-embed', 1024]],
  openrouter: [['openai/text-embedding-3-small', 1536]],
  ollama: [
    ['nomic-embed-text', 768],
    ['mxbai-embed-large', 1024],
    ['bge-m3', 1024],
  ],
  lmstudio: [['text-embedding-nomic-embed-text-v1.5', 768]],
  vllm: [['BAAI/bge-m3', 1024]],
  'openai-compatible': [],
}

/** Included in the package, so it never needs a key. */
const BUILT_IN: readonly EmbeddingProvider[] = [
  {
    provider: 'transformers',
    hasKey: true,
    models: [{ id: `transformers/${DEFAULT_MODEL}`, name: DEFAULT_MODEL, dimensions: 384 }],
  },
  {
    provider: 'static',
    hasKey: true,
    models: [{ id: 'static/static-gte-256', name: 'static-gte-256', dimensions: 256 }],
  },
]

export function listEmbeddingProviders(environment: Environment): readonly EmbeddingProvider[] {
  const usual = providerKeysIn(environment)
  const remote = EMBEDDING_PROVIDERS.map((name) => ({
    provider: name,
    hasKey:
      !EMBEDDING_PROVIDER_TABLE[name].requiresApiKey ||
      name in usual ||
      hasOwnKey(name, environment),
    models: MODELS[name].map(([model, dimensions]) => ({
      id: `${name}/${model}`,
      name: model,
      dimensions,
    })),
  }))
  return [...BUILT_IN, ...remote]
}

/**
 * The key from our own variable belongs to the service of the model configured with it, or else in
 * the settings.
 */
function hasOwnKey(name: EmbeddingProviderName, environment: Environment): boolean {
  const { RECOLLECT_EMBEDDING_API_KEY: ours, RECOLLECT_EMBEDDING_MODEL: model } = environment
  return Boolean(ours) && (!model || model.startsWith(`${name}/`))
}
