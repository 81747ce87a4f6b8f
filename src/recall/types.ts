import type { MemoryDependencies } from '../memory/types.ts'
import type { Embedder } from '../models/embedder.ts'
import type { Reranker } from '../models/reranker.ts'

export type RecallDependencies = MemoryDependencies & {
  readonly reranker?: Reranker
  /** The embedder of a vector space from an earlier configuration, which serves searches while the new space is built. */
  readonly getFormerEmbedder?: (signature: string) => Embedder | null
}
