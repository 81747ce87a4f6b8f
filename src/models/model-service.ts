/** Direct access to the engine's own models. */

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
  /**
   * @example
   * const { vectors } = await engine.admin.models.embed(['tea'], { purpose: 'query' })
   */
  embed(
    texts: readonly string[],
    options: EmbedOptions,
  ): Promise<{ readonly model: EmbeddingModel; readonly vectors: readonly Float32Array[] }>
  /**
   * Best first. Texts that the reranker does not score are left out.
   *
   * @example
   * const { ranked } = await engine.admin.models.rerank(
   *   'what does Ada drink?',
   *   ['Ada drinks tea.', 'Ada lives in Paris.'],
   *   AbortSignal.timeout(5_000),
   * )
   */
  rerank(
    question: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{
    readonly model: string
    readonly ranked: readonly { readonly index: number; readonly score: number }[]
  }>
  /**
   * One request to the language model, charged to the budget of an owner.
   *
   * @example
   * const { text } = await engine.admin.models.complete('ada', {
   *   model: 'openai/gpt-6-luna',
   *   messages: [{ role: 'user', content: 'Say hello.' }],
   *   json: false,
   *   outputTokensMax: 100,
   *   signal: AbortSignal.timeout(30_000),
   * })
   */
  complete(owner: string, request: CompletionRequest): Promise<Completion>
  /**
   * Providers of language models, and the aliases of models.
   *
   * @example
   * const { providers, aliases } = await engine.admin.models.providers()
   */
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
      if (model === null) throw new AppError('missing_part', 'No language model is configured.')
      return model.complete(request)
    },
    providers: async () => (await languageModel?.providers?.()) ?? { providers: [], aliases: [] },
    embed: async (texts, options) => {
      if (embedder === undefined) {
        throw new AppError(
          'missing_part',
          'No embedding model is configured. Set `RECOLLECT_EMBEDDING_SOURCE`.',
        )
      }
      return {
        model: await embedder.describe(options.signal),
        vectors: await embedder.embed(texts, options),
      }
    },
    rerank: async (question, texts, signal) => {
      if (reranker === undefined) {
        throw new AppError('missing_part', 'No reranker is configured. Set `RECOLLECT_RERANK_URL`.')
      }
      const scores = await reranker.rerank(question, texts, signal)
      return {
        model: reranker.name,
        ranked: scores.toSorted((a, b) => b.score - a.score || a.index - b.index),
      }
    },
  }
}
