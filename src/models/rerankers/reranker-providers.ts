/** Rerank services that share an API, as data. */

import {
  parseQualifiedModel,
  RERANK_PROVIDERS,
  type RerankProviderName,
} from '../../domain/model-name.ts'
import { AppError } from '../../lib/errors.ts'
import type { Reranker } from '../reranker.ts'
import { openRemoteReranker } from './remote-reranker.ts'

type Provider = {
  readonly url: string
  /** Environment variables that usually hold the key, most common first. */
  readonly apiKeyVariables: readonly string[]
  readonly requiresApiKey: boolean
}

export const RERANKER_PROVIDERS: Readonly<Record<RerankProviderName, Provider>> = {
  cohere: {
    url: 'https://api.cohere.com/v2',
    apiKeyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
    requiresApiKey: true,
  },
  jina: { url: 'https://api.jina.ai/v1', apiKeyVariables: ['JINA_API_KEY'], requiresApiKey: true },
  voyage: {
    url: 'https://api.voyageai.com/v1',
    apiKeyVariables: ['VOYAGE_API_KEY'],
    requiresApiKey: true,
  },
  vllm: {
    url: 'http://127.0.0.1:8000/v1',
    apiKeyVariables: ['VLLM_API_KEY'],
    requiresApiKey: false,
  },
}

/** Sends no request. Without its key, the reranker reports why it is unusable. */
export function openProviderReranker(
  name: string,
  keys: { readonly [provider: string]: string },
): Reranker {
  const { provider, model } = parseQualifiedModel(name, RERANK_PROVIDERS)
  const { url, apiKeyVariables, requiresApiKey } = RERANKER_PROVIDERS[provider]
  const apiKey = keys[provider]
  if (apiKey === undefined && requiresApiKey) {
    return unusable(provider, model, `${provider} needs an API key. Set ${apiKeyVariables[0]}.`)
  }
  const reranker = openRemoteReranker({ url, model, ...(apiKey === undefined ? {} : { apiKey }) })
  return { ...reranker, provider }
}

function unusable(provider: string, name: string, because: string): Reranker {
  return {
    ...{ name, provider, unavailableReason: because },
    rerank: async () => {
      throw new AppError('missing_part', because, { provider })
    },
    close: async () => {},
  }
}
