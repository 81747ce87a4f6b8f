/**
 * The services that embed over the network, as data, and how one of them becomes an embedder that can be relied on:
 * batches, each of them tried again, within the rates, within its time, and checked.
 */
import { AppError } from '../../../domain/errors.ts'
import {
  EMBEDDING_PROVIDERS,
  type EmbeddingProviderName,
  type ProviderModel,
  parseProviderModel,
} from '../../../domain/model-name.ts'
import { parseBaseUrl } from '../../../domain/service-endpoint.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Embedder } from '../../embedder.ts'
import { rateLimited } from '../embedder-rate-limit.ts'
import { limitedInTime } from '../embedder-timeout.ts'
import { accountHash } from '../embedding-cache-key.ts'
import { checked, type RawSource } from '../embedding-validation.ts'
import { batching } from '../request-batcher.ts'
import { retrying } from '../resilient-embedder.ts'
import { cohere } from './cohere-embedder.ts'
import { tokensReadBy } from './embedding-model-limits.ts'
import { gemini } from './gemini-embedder.ts'
import type { RemoteOptions } from './http-embedder.ts'
import { prompted, promptsOf } from './instruction-prefixes.ts'
import { ollama } from './ollama-embedder.ts'
import { openaiCompatible } from './openai-compatible-embedder.ts'
import { voyage } from './voyage-embedder.ts'

export type Provider = {
  readonly open: (options: RemoteOptions) => RawSource
  /** Null where there is no usual address and one must be given. */
  readonly baseUrl: string | null
  /** Environment variables that usually hold the key, the likeliest first. None where no key is needed. */
  readonly keyVariables: readonly string[]
  readonly keyRequired: boolean
  /** Whether queries are embedded otherwise than documents; `byModel`: by models that want it, see `promptsOf`. */
  readonly purposeMatters: boolean | 'byModel'
  /** In one request. */
  readonly textsMax: number
}

const openaiLike = {
  open: openaiCompatible,
  keyVariables: [],
  keyRequired: false,
  purposeMatters: false,
  textsMax: 128,
} as const

/** Serves models of others, as they are. */
const ofAnyModel = { ...openaiLike, purposeMatters: 'byModel' } as const

export const PROVIDERS = {
  openai: {
    ...openaiLike,
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    keyRequired: true,
  },
  gemini: {
    open: gemini,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    keyRequired: true,
    purposeMatters: true,
    textsMax: 100,
  },
  voyage: {
    open: voyage,
    baseUrl: 'https://api.voyageai.com/v1',
    keyVariables: ['VOYAGE_API_KEY'],
    keyRequired: true,
    purposeMatters: true,
    textsMax: 128,
  },
  cohere: {
    open: cohere,
    baseUrl: 'https://api.cohere.com/v2',
    keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
    keyRequired: true,
    purposeMatters: true,
    textsMax: 96,
  },
  mistral: {
    ...openaiLike,
    open: (options) => openaiCompatible({ ...options, dimensionsField: 'output_dimension' }),
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariables: ['MISTRAL_API_KEY'],
    keyRequired: true,
  },
  openrouter: {
    ...ofAnyModel,
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    keyRequired: true,
  },
  ollama: {
    ...ofAnyModel,
    open: ollama,
    baseUrl: 'http://127.0.0.1:11434',
    keyVariables: ['OLLAMA_API_KEY'],
  },
  lmstudio: { ...ofAnyModel, baseUrl: 'http://127.0.0.1:1234/v1' },
  vllm: { ...ofAnyModel, baseUrl: 'http://127.0.0.1:8000/v1', keyVariables: ['VLLM_API_KEY'] },
  'openai-compatible': { ...ofAnyModel, baseUrl: null },
} as const satisfies Record<EmbeddingProviderName, Provider>

export type RemoteConfig = ProviderModel<EmbeddingProviderName> & {
  readonly clock: Clock
  readonly apiKey?: string
  readonly baseUrl?: string
  readonly dimensions?: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly queryMs?: number
  readonly documentMs?: number
  readonly random?: () => number
}

/** `openai/text-embedding-3-small`. Whatever follows the first slash is the model, other slashes included. */
export function parseEmbeddingModel(text: string): ProviderModel<EmbeddingProviderName> {
  return parseProviderModel(text, EMBEDDING_PROVIDERS)
}

/** Nothing is asked yet: a service that is down must not keep anyone from starting. */
export function openRemoteEmbedder(config: RemoteConfig): Embedder {
  const provider: Provider = PROVIDERS[config.provider]
  const raw = provider.open({ ...remoteOptions(config), source: config.provider })
  const tokensMax = tokensReadBy(config.model)
  const told = provider.purposeMatters === 'byModel' ? prompted(raw) : raw
  const sound = checked(told, { tokensMax, host: hostOf(config) })
  const prompt = limitedInTime(sound, config)
  const modest = rateLimited(prompt, config)
  const patient = retrying(modest, config)
  return batching(patient, {
    textsMax: provider.textsMax,
    ...(tokensMax === undefined ? {} : { textTokensMax: tokensMax }),
  })
}

/** Whether queries and documents of the same text have different vectors, for caches. */
export function purposeMatters({ provider, model }: ProviderModel<EmbeddingProviderName>): boolean {
  const matters: Provider['purposeMatters'] = PROVIDERS[provider].purposeMatters
  return matters === 'byModel' ? promptsOf(model) !== null : matters
}

/** Undefined at the usual address of the service. */
function hostOf(config: RemoteConfig): string | undefined {
  const address = parseBaseUrl(addressOf(config), config.provider)
  return address === PROVIDERS[config.provider].baseUrl
    ? undefined
    : accountHash(address).slice(0, HOST_CHARACTERS)
}
const HOST_CHARACTERS = 8

/** Who is asked, for caches that outlive the process. */
export function remoteAccount(config: RemoteConfig): string {
  return accountHash(addressOf(config))
}

export function remoteOptions(config: RemoteConfig): RemoteOptions {
  const { provider, model, apiKey, dimensions } = config
  if (PROVIDERS[provider].keyRequired && !apiKey?.trim()) {
    const [variable] = PROVIDERS[provider].keyVariables
    throw new AppError('invalid_input', `${provider} needs an API key. Set ${variable}.`, {
      provider,
    })
  }
  return {
    model,
    baseUrl: addressOf(config),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(dimensions === undefined ? {} : { dimensions }),
  }
}

function addressOf({ provider, baseUrl }: RemoteConfig): string {
  const address = baseUrl ?? PROVIDERS[provider].baseUrl
  if (address !== null) return address
  throw new AppError('invalid_input', `${provider} needs the address of the server.`, { provider })
}
