/**
 * The services that embed over the network, as data, and how one of them becomes an embedder that can be relied on:
 * batches, each of them tried again, within the rates, within its time, and checked.
 */
import { AppError } from '../../core/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Embedder } from '../../ports/embedder.ts'
import { batching } from './batching.ts'
import { accountHash } from './cache-key.ts'
import { checked, type RawSource } from './checked.ts'
import { limitedInTime } from './limited-in-time.ts'
import { rateLimited } from './rate-limited.ts'
import { cohere } from './remote/cohere.ts'
import { gemini } from './remote/gemini.ts'
import { ollama } from './remote/ollama.ts'
import { openaiCompatible } from './remote/openai-compatible.ts'
import type { RemoteOptions } from './remote/protocol.ts'
import { voyage } from './remote/voyage.ts'
import { retrying } from './retrying.ts'

export type Provider = {
  readonly open: (options: RemoteOptions) => RawSource
  /** Null where there is no usual address and one must be given. */
  readonly baseUrl: string | null
  /** Environment variables that usually hold the key, the likeliest first. None where no key is needed. */
  readonly keyVariables: readonly string[]
  readonly keyRequired: boolean
  /** Whether queries are embedded otherwise than documents. */
  readonly purposeMatters: boolean
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
    ...openaiLike,
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    keyRequired: true,
  },
  ollama: {
    ...openaiLike,
    open: ollama,
    baseUrl: 'http://127.0.0.1:11434',
    keyVariables: ['OLLAMA_API_KEY'],
  },
  lmstudio: { ...openaiLike, baseUrl: 'http://127.0.0.1:1234/v1' },
  vllm: { ...openaiLike, baseUrl: 'http://127.0.0.1:8000/v1', keyVariables: ['VLLM_API_KEY'] },
  'openai-compatible': { ...openaiLike, baseUrl: null },
} as const satisfies Record<string, Provider>

export type ProviderName = keyof typeof PROVIDERS

export type ProviderModel = { readonly provider: ProviderName; readonly model: string }

export type RemoteConfig = ProviderModel & {
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

const MODEL_CHARACTERS_MAX = 200

/** `openai/text-embedding-3-small`. Whatever follows the first slash is the model, other slashes included. */
export function parseProviderModel(text: string): ProviderModel {
  const slash = text.indexOf('/')
  const provider = text.slice(0, Math.max(0, slash))
  const model = text.slice(slash + 1)
  if (slash < 0 || !isProvider(provider)) {
    throw new AppError(
      'invalid_input',
      `"${text}" names no model of a known provider. Write it as provider/model, with one of: ${providerNames().join(', ')}.`,
      { provider },
    )
  }
  if (model.length > MODEL_CHARACTERS_MAX || !/^[^\s\p{C}?#]+$/u.test(model)) {
    throw new AppError('invalid_input', `"${text}" has no usable model after the slash.`, {
      provider,
    })
  }
  return { provider, model }
}

export function providerNames(): readonly ProviderName[] {
  return Object.keys(PROVIDERS) as ProviderName[] // the table's own keys
}

function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name)
}

/** Nothing is asked yet: a service that is down must not keep anyone from starting. */
export function openRemoteEmbedder(config: RemoteConfig): Embedder {
  const provider: Provider = PROVIDERS[config.provider]
  const raw = provider.open({ ...remoteOptions(config), source: config.provider })
  const sound = checked(raw)
  const prompt = limitedInTime(sound, config)
  const modest = rateLimited(prompt, config)
  const patient = retrying(modest, config)
  return batching(patient, { textsMax: provider.textsMax })
}

/** Who is asked, for caches that outlive the process. */
export function remoteAccount(config: RemoteConfig): string {
  return accountHash(addressOf(config), config.apiKey)
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
