import type { OperationContext } from '../operation.ts'

/**
 * How the cache of embeddings does. All owners share it, so that whoever sees its counters could find out by a question
 * of their own whether somebody else has asked the same: only superadmins see them.
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
