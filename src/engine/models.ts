/** The models that the engine itself works with, for whoever wants to use them directly. */
import { AppError } from '../core/errors.ts'
import type { EmbeddingModel, EmbedOptions } from '../ports/embedder.ts'
import type { EnginePorts } from './ports.ts'

export interface Models {
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
}

export function createModels({
  embedder,
  reranker,
}: Pick<EnginePorts, 'embedder' | 'reranker'>): Models {
  return {
    embed: async (texts, options) => {
      if (embedder === undefined) {
        throw new AppError('missing_part', 'There is no embedding model: `RECOLLECT_EMBEDDING`.')
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
