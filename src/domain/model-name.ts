/** Qualified model names, `provider/model`. */
import { AppError } from '../lib/errors.ts'

/** Remote embedding services. */
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

/** Remote reranking services. */
export const RERANK_PROVIDERS = ['cohere', 'jina', 'voyage', 'vllm'] as const
export type RerankProviderName = (typeof RERANK_PROVIDERS)[number]

export type QualifiedModel<Name extends string> = {
  readonly provider: Name
  readonly model: string
}

const MODEL_CHARACTERS_MAX = 200

/** Parses `openai/text-embedding-3-small`. Everything after the first slash is the model, other slashes included. */
export function parseQualifiedModel<Name extends string>(
  text: string,
  providers: readonly Name[],
): QualifiedModel<Name> {
  const slash = text.indexOf('/')
  const name = text.slice(0, Math.max(0, slash))
  const model = text.slice(slash + 1)
  const provider = providers.find((each) => each === name)
  if (provider === undefined) {
    throw new AppError(
      'invalid_input',
      `A model name must be provider/model with one of these providers: ${providers.join(', ')}; got "${text}".`,
      { provider: name },
    )
  }
  if (model.length > MODEL_CHARACTERS_MAX || !/^[^\s\p{C}?#]+$/u.test(model)) {
    throw new AppError(
      'invalid_input',
      `A model name must have a model after the slash, without spaces; got "${text}".`,
      { provider },
    )
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
