/**
 * Remote embedding services as data, and the composition of a reliable embedder from one: batching, retries, rate limits,
 * timeouts and validation.
 */

import {
  EMBEDDING_PROVIDERS,
  type EmbeddingProviderName,
  parseQualifiedModel,
  type QualifiedModel,
} from '../../../domain/model-name.ts'
import { parseBaseUrl } from '../../../domain/service-endpoint.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Embedder } from '../../embedder.ts'
import { hashAccount } from '../embedding-cache-key.ts'
import { createValidatedEmbedder, type EmbeddingSource } from '../embedding-validation.ts'
import { withRequestBatches } from '../request-batcher.ts'
import { createResilientEmbedder } from '../resilient-embedder.ts'
import { createCohereEmbedder } from './cohere-embedder.ts'
import { getModelTokensMax } from './embedding-model-limits.ts'
import { createGeminiEmbedder } from './gemini-embedder.ts'
import type { RemoteEmbedderOptions } from './http-embedder.ts'
import { findInstructionPrefixes, withInstructionPrefixes } from './instruction-prefixes.ts'
import { createOllamaEmbedder } from './ollama-embedder.ts'
import { createOpenaiCompatibleEmbedder } from './openai-compatible-embedder.ts'
import { createVoyageEmbedder } from './voyage-embedder.ts'

export type EmbeddingProvider = {
  readonly open: (options: RemoteEmbedderOptions) => EmbeddingSource
  /** Null for services without a default URL. */
  readonly baseUrl: string | null
  /** Environment variables that usually hold the key, most common first. Empty when no key is needed. */
  readonly apiKeyVariables: readonly string[]
  readonly requiresApiKey: boolean
  /** Whether queries and documents are embedded differently; `byModel`: for models with prompts, see `promptsOf`. */
  readonly isPurposeSpecific: boolean | 'byModel'
  /** Limit per request. */
  readonly textsMax: number
}

const openaiLike = {
  open: createOpenaiCompatibleEmbedder,
  apiKeyVariables: [],
  requiresApiKey: false,
  isPurposeSpecific: false,
  textsMax: 128,
} as const

/** Serves models of other makers unchanged. */
const ofAnyModel = { ...openaiLike, isPurposeSpecific: 'byModel' } as const

export const EMBEDDING_PROVIDER_TABLE = {
  openai: {
    ...openaiLike,
    baseUrl: 'https://api.openai.com/v1',
    apiKeyVariables: ['OPENAI_API_KEY'],
    requiresApiKey: true,
  },
  gemini: {
    open: createGeminiEmbedder,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    apiKeyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    requiresApiKey: true,
    isPurposeSpecific: true,
    textsMax: 100,
  },
  voyage: {
    open: createVoyageEmbedder,
    baseUrl: 'https://api.voyageai.com/v1',
    apiKeyVariables: ['VOYAGE_API_KEY'],
    requiresApiKey: true,
    isPurposeSpecific: true,
    textsMax: 128,
  },
  cohere: {
    open: createCohereEmbedder,
    baseUrl: 'https://api.cohere.com/v2',
    apiKeyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
    requiresApiKey: true,
    isPurposeSpecific: true,
    textsMax: 96,
  },
  mistral: {
    ...openaiLike,
    open: (options) =>
      createOpenaiCompatibleEmbedder({ ...options, dimensionsField: 'output_dimension' }),
    baseUrl: 'https://api.mistral.ai/v1',
    apiKeyVariables: ['MISTRAL_API_KEY'],
    requiresApiKey: true,
  },
  openrouter: {
    ...ofAnyModel,
    baseUrl: 'https://openrouter.ai/api/v1',
    apiKeyVariables: ['OPENROUTER_API_KEY'],
    requiresApiKey: true,
  },
  ollama: {
    ...ofAnyModel,
    open: createOllamaEmbedder,
    baseUrl: 'http://127.0.0.1:11434',
    apiKeyVariables: ['OLLAMA_API_KEY'],
  },
  lmstudio: { ...ofAnyModel, baseUrl: 'http://127.0.0.1:1234/v1' },
  vllm: { ...ofAnyModel, baseUrl: 'http://127.0.0.1:8000/v1', apiKeyVariables: ['VLLM_API_KEY'] },
  'openai-compatible': { ...ofAnyModel, baseUrl: null },
} as const satisfies Record<EmbeddingProviderName, EmbeddingProvider>

export type RemoteEmbedderConfig = QualifiedModel<EmbeddingProviderName> & {
  readonly clock: Clock
  readonly apiKey?: string
  readonly baseUrl?: string
  readonly dimensions?: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly queryTimeoutMs?: number
  readonly documentTimeoutMs?: number
  readonly random?: () => number
}

/** `openai/text-embedding-3-small`. Everything after the first slash is the model. */
export function parseEmbeddingModel(text: string): QualifiedModel<EmbeddingProviderName> {
  return parseQualifiedModel(text, EMBEDDING_PROVIDERS)
}

/** Sends no request: an unreachable service must not prevent startup. */
export function openRemoteEmbedder(config: RemoteEmbedderConfig): Embedder {
  const provider: EmbeddingProvider = EMBEDDING_PROVIDER_TABLE[config.provider]
  const raw = provider.open({ ...toRemoteEmbedderOptions(config), source: config.provider })
  const tokensMax = getModelTokensMax(config.model)
  const told = provider.isPurposeSpecific === 'byModel' ? withInstructionPrefixes(raw) : raw
  const sound = createValidatedEmbedder(told, { tokensMax, host: computeHostId(config) })
  return withRequestBatches(createResilientEmbedder(sound, config), {
    textsMax: provider.textsMax,
    ...(tokensMax === undefined ? {} : { textTokensMax: tokensMax }),
  })
}

/** For caches: whether queries and documents of equal text get different vectors. */
export function isPurposeSpecific({
  provider,
  model,
}: QualifiedModel<EmbeddingProviderName>): boolean {
  const matters: EmbeddingProvider['isPurposeSpecific'] =
    EMBEDDING_PROVIDER_TABLE[provider].isPurposeSpecific
  return matters === 'byModel' ? findInstructionPrefixes(model) !== null : matters
}

/** Undefined for the default URL. */
function computeHostId(config: RemoteEmbedderConfig): string | undefined {
  const address = parseBaseUrl(resolveBaseUrl(config), config.provider)
  return address === EMBEDDING_PROVIDER_TABLE[config.provider].baseUrl
    ? undefined
    : hashAccount(address).slice(0, HOST_CHARACTERS)
}
const HOST_CHARACTERS = 8

/** Hash of the account, for persistent caches. */
export function hashRemoteAccount(config: RemoteEmbedderConfig): string {
  return hashAccount(resolveBaseUrl(config))
}

export function toRemoteEmbedderOptions(config: RemoteEmbedderConfig): RemoteEmbedderOptions {
  const { provider, model, apiKey, dimensions } = config
  if (EMBEDDING_PROVIDER_TABLE[provider].requiresApiKey && !apiKey?.trim()) {
    const [variable] = EMBEDDING_PROVIDER_TABLE[provider].apiKeyVariables
    throw new AppError('invalid_input', `${provider} needs an API key. Set ${variable}.`, {
      provider,
    })
  }
  return {
    model,
    baseUrl: resolveBaseUrl(config),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(dimensions === undefined ? {} : { dimensions }),
  }
}

function resolveBaseUrl({ provider, baseUrl }: RemoteEmbedderConfig): string {
  const address = baseUrl ?? EMBEDDING_PROVIDER_TABLE[provider].baseUrl
  if (address !== null) return address
  throw new AppError('invalid_input', `${provider} needs the address of the server.`, { provider })
}
