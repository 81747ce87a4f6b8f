/** The models that the engine itself works with, for whoever wants to use them directly. */

import type { OwnerId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import type { Embedder, EmbeddingModel, EmbedOptions } from './embedder.ts'
import type {
  Completion,
  CompletionRequest,
  LanguageModel,
  ModelProvider,
} from './language-model.ts'
import type { Reranker } from './reranker.ts'

export interface ModelService {
  embed(
    texts: readonly string[],
    options: EmbedOptions,
  ): Promise<{ readonly model: EmbeddingModel; readonly vectors: readonly Float32Array[] }>
  /** Best first. Texts that the model has no opinion on are left out. */
  rerank(
    question: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{
    readonly model: string
    readonly ranked: readonly { readonly index: number; readonly score: number }[]
  }>
  /** One question to a language model, on the account of an owner and behind its guards. */
  complete(owner: string, request: CompletionRequest): Promise<Completion>
  /** Whose language models can be asked, and what else they are called. */
  providers(): Promise<{
    readonly providers: readonly ModelProvider[]
    readonly aliases: readonly string[]
  }>
}

export function createModelService(
  {
    embedder,
    reranker,
    languageModel,
  }: {
    readonly embedder?: Embedder
    readonly reranker?: Reranker
    readonly languageModel?: LanguageModel
  },
  modelFor: (owner: OwnerId) => LanguageModel | null,
): ModelService {
  return {
    complete: async (owner, request) => {
      const model = modelFor(parseScope({ owner }).owner)
      if (model === null) throw new AppError('missing_part', 'There is no language model.')
      return model.complete(request)
    },
    providers: async () => (await languageModel?.providers?.()) ?? { providers: [], aliases: [] },
    embed: async (texts, options) => {
      if (embedder === undefined) {
        throw new AppError(
          'missing_part',
          'There is no embedding model: `RECOLLECT_EMBEDDING_SOURCE`.',
        )
      }
      return {
        model: await embedder.describe(options.signal),
        vectors: await embedder.embed(texts, options),
      }
    },
    rerank: async (question, texts, signal) => {
      if (reranker === undefined) {
        throw new AppError('missing_part', 'There is no reranker: `RECOLLECT_RERANK_URL`.')
      }
      const scores = await reranker.rerank(question, texts, signal)
      return {
        model: reranker.name,
        ranked: scores.toSorted((a, b) => b.score - a.score || a.index - b.index),
      }
    },
  }
}
