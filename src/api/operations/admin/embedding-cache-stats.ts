import type { OperationContext } from '../operation.ts'

/**
 * Statistics of the embedding cache. Superadmins only: the cache is shared, so its counters would
 * reveal whether another owner has embedded the same text.
 */
export function readEmbeddingCacheStats({ engine, caller }: OperationContext) {
  const { embedder } = engine.admin.getComponents()
  const facts = caller.role === 'superadmin' ? (embedder?.facts ?? {}) : {}
  return {
    hits: Number(facts.cacheHits ?? 0),
    misses: Number(facts.cacheMisses ?? 0),
    size: Number(facts.cacheSize ?? 0),
  }
}
