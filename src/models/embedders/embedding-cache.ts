/**
 * Persists vectors so that a service is not paid twice for the same text. When the cache fails, the source is used and
 * the report names the reason.
 */

import { throwIfAborted } from '../../lib/abort.ts'
import { toAppError } from '../../lib/errors.ts'
import type { Embedder, EmbedOptions } from '../embedder.ts'
import { computeCacheKey } from './embedding-cache-key.ts'

export type CacheEntry = { readonly key: string; readonly vector: Float32Array }

/** Vectors by opaque keys. Entries may be lost at any time, and calls may fail. */
export interface EmbeddingCache {
  /** Returns the entries that exist. */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>
  put(entries: readonly CacheEntry[]): Promise<void>
  /** Removes all entries, for example when memories are erased. */
  clear(): Promise<void>
  report(): Readonly<Record<string, string | number | boolean>>
  close(): Promise<void>
}

export type EmbeddingCacheOptions = {
  readonly cache: EmbeddingCache
  /** Hash of the account; see `hashAccount`. */
  readonly account: string
  /** Whether queries and documents get different vectors. Default: true. */
  readonly isPurposeSpecific?: boolean
}

const UNIT_TOLERANCE = 1e-3

export function withEmbeddingCache(embedder: Embedder, options: EmbeddingCacheOptions): Embedder {
  const { cache, account, isPurposeSpecific: purposeMatters = true } = options
  let hits = 0
  let misses = 0
  let failures = 0
  let failure: string | null = null

  async function orElse<Result>(work: () => Promise<Result>, instead: Result): Promise<Result> {
    try {
      const result = await work()
      failure = null
      return result
    } catch (thrown) {
      failures++
      failure = toAppError(thrown).message
      return instead
    }
  }

  async function embed(texts: readonly string[], call: EmbedOptions) {
    throwIfAborted(call.signal)
    if (texts.length === 0) return []
    const model = await embedder.describe(call.signal)
    const origin = { model, purpose: purposeMatters ? call.purpose : null, account }
    const textByKey = new Map(texts.map((text) => [computeCacheKey(origin, text), text]))
    const kept = await orElse(() => cache.get([...textByKey.keys()]), new Map())
    const found = new Map<string, Float32Array>()
    for (const [key, vector] of kept) {
      if (textByKey.has(key) && isUnit(vector, model.dimensions)) found.set(key, vector)
    }
    const missing = [...textByKey.keys()].filter((key) => !found.has(key))
    hits += found.size
    misses += missing.length
    throwIfAborted(call.signal)
    if (missing.length > 0) {
      const asked = missing.map((key) => textByKey.get(key) ?? '')
      const vectors = await embedder.embed(asked, call)
      const entries = missing.flatMap((key, at): readonly CacheEntry[] => {
        const vector = vectors[at]
        return vector === undefined ? [] : [{ key, vector }]
      })
      for (const { key, vector } of entries) found.set(key, vector)
      await orElse(() => cache.put(entries), undefined)
    }
    // Copies, because equal texts would share one. Every key has a vector, or the call has thrown.
    return texts.map((text) => (found.get(computeCacheKey(origin, text)) as Float32Array).slice())
  }

  return {
    describe: (signal) => embedder.describe(signal),
    embed,
    report: () => {
      const report = embedder.report()
      const counts = {
        persistentCacheHits: hits,
        persistentCacheMisses: misses,
        persistentCacheFailures: failures,
      }
      const failing = failure === null ? {} : { persistentCacheError: failure }
      return { ...report, facts: { ...report.facts, ...cache.report(), ...counts, ...failing } }
    },
    close: async () => {
      await orElse(() => cache.close(), undefined)
      await embedder.close()
    },
  }
}

/** What was damaged on the disk is seldom of length one. */
function isUnit(vector: Float32Array, dimensions: number): boolean {
  if (vector.length !== dimensions) return false
  let squares = 0
  for (const number of vector) squares += number * number
  return Math.abs(squares - 1) < UNIT_TOLERANCE
}
