/** Models of services, named as `provider/model`. */
import { AppError } from '../lib/errors.ts'

/** The services that embed over the network; how each is asked stands in `adapters/embedders/source.ts`. */
export const EMBEDDING_PROVIDERS = [
  'openai',
  'gemini',
  'voyage',
  'cohere',
  'mistral',
  'openrouter',
  'ollama',
  'lmstudio',
  'vllm',
  'openai-compatible',
] as const
export type EmbeddingProviderName = (typeof EMBEDDING_PROVIDERS)[number]

/** The services that rerank; see `adapters/rerankers/source.ts`. */
export const RERANK_PROVIDERS = ['cohere', 'jina', 'voyage', 'vllm'] as const
export type RerankProviderName = (typeof RERANK_PROVIDERS)[number]

export type QualifiedModel<Name extends string> = {
  readonly provider: Name
  readonly model: string
}

const MODEL_CHARACTERS_MAX = 200

/** `openai/text-embedding-3-small`. Whatever follows the first slash is the model, other slashes included. */
export function parseQualifiedModel<Name extends string>(
  text: string,
  providers: readonly Name[],
): QualifiedModel<Name> {
  const slash = text.indexOf('/')
  const named = text.slice(0, Math.max(0, slash))
  const model = text.slice(slash + 1)
  const provider = providers.find((each) => each === named)
  if (provider === undefined) {
    throw new AppError(
      'invalid_input',
      `"${text}" names no model of a known provider. Write it as provider/model, with one of: ${providers.join(', ')}.`,
      { provider: named },
    )
  }
  if (model.length > MODEL_CHARACTERS_MAX || !/^[^\s\p{C}?#]+$/u.test(model)) {
    throw new AppError('invalid_input', `"${text}" has no usable model after the slash.`, {
      provider,
    })
  }
  return { provider, model }
}

export function isModelOfProviders(text: string, providers: readonly string[]): boolean {
  try {
    parseQualifiedModel(text, providers)
    return true
  } catch {
    return false
  }
}
