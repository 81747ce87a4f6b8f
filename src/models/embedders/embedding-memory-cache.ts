/**
 * LRU cache of recent vectors: recall embeds the same questions repeatedly, and writes embed what recall has just
 * embedded. Concurrent calls for equal texts share one request.
 */

import { throwIfAborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import { SharedTask } from '../../lib/single-flight.ts'
import type { Embedder, EmbeddingPurpose, EmbedOptions } from '../embedder.ts'
import { computeCacheKey } from './embedding-cache-key.ts'

export type MemoryCacheOptions = {
  readonly clock: Clock
  /** 0 disables the cache. */
  readonly entriesMax?: number
  /** 0 disables the cache. */
  readonly ttlMs?: number
  /** Whether queries and documents get different vectors. Default: true. */
  readonly isPurposeSpecific?: boolean
}

const ENTRIES_MAX = 1_000
const AGE_MS_MAX = 5 * 60_000

type Vectors = ReadonlyMap<string, Float32Array>
type InFlightCall = SharedTask<Vectors>

export function withMemoryCache(embedder: Embedder, options: MemoryCacheOptions): Embedder {
  const {
    entriesMax = ENTRIES_MAX,
    ttlMs: ageMsMax = AGE_MS_MAX,
    isPurposeSpecific: purposeMatters = true,
  } = options
  if (entriesMax === 0 || ageMsMax === 0) return embedder
  const recent = new LruCache<string, Float32Array>({
    ...{ entriesMax, ttlMs: ageMsMax, now: () => options.clock.now() },
  })
  const flights = new Map<string, InFlightCall>()
  let hits = 0
  let misses = 0

  /** Embeds texts by key; concurrent calls for the same keys join this request. */
  function launch(texts: ReadonlyMap<string, string>, purpose: EmbeddingPurpose): InFlightCall {
    const flight: InFlightCall = new SharedTask(async (signal) => {
      try {
        const vectors = await embedder.embed([...texts.values()], { purpose, signal })
        const byKey = new Map([...texts.keys()].map((key, at) => [key, vectors[at]] as const))
        return keepAll(byKey)
      } finally {
        for (const key of texts.keys()) if (flights.get(key) === flight) flights.delete(key)
      }
    })
    for (const key of texts.keys()) flights.set(key, flight)
    return flight
  }

  function keepAll(byKey: ReadonlyMap<string, Float32Array | undefined>): Vectors {
    const kept = new Map<string, Float32Array>()
    for (const [key, vector] of byKey) {
      if (vector === undefined) continue
      recent.set(key, vector)
      kept.set(key, vector)
    }
    return kept
  }

  async function embed(texts: readonly string[], { purpose, signal }: EmbedOptions) {
    throwIfAborted(signal)
    if (texts.length === 0) return []
    const model = await embedder.describe(signal)
    const origin = { model, purpose: purposeMatters ? purpose : null, account: '' }
    const keys = texts.map((text) => computeCacheKey(origin, text))

    const found = new Map<string, Float32Array>()
    const missing = new Map<string, string>()
    const joined = new Map<InFlightCall, Map<string, string>>()
    for (const [at, key] of keys.entries()) {
      const text = texts[at] ?? ''
      const known = found.get(key) ?? recent.get(key)
      const flight = flights.get(key)
      if (known !== undefined) found.set(key, known)
      else if (flight !== undefined) addToFlight(joined, flight, key, text)
      else if (!missing.has(key)) {
        missing.set(key, text)
        misses++
        continue
      }
      hits++
    }

    const waits = [...joined].map(async ([flight, asked]) => {
      // The shared request may have failed or been aborted because of another text: retry with our own.
      const answer = await flight.join(signal).catch(() => {
        throwIfAborted(signal)
        return launch(asked, purpose).join(signal)
      })
      for (const [key, vector] of answer) found.set(key, vector)
    })
    if (missing.size > 0) {
      const own = launch(missing, purpose).join(signal)
      waits.push(
        own.then((answer) => {
          for (const [key, vector] of answer) found.set(key, vector)
        }),
      )
    }
    await Promise.all(waits)
    // Copies, because callers may modify vectors. Every key has a vector, or the call has thrown.
    return keys.map((key) => (found.get(key) as Float32Array).slice())
  }

  return {
    describe: (signal) => embedder.describe(signal),
    embed,
    report: () => {
      const report = embedder.report()
      const facts = { cacheHits: hits, cacheMisses: misses, cacheSize: recent.size }
      return { ...report, facts: { ...report.facts, ...facts } }
    },
    close: () => {
      recent.clear()
      return embedder.close()
    },
  }
}

function addToFlight(
  joined: Map<InFlightCall, Map<string, string>>,
  flight: InFlightCall,
  key: string,
  text: string,
): void {
  const asked = joined.get(flight) ?? new Map<string, string>()
  asked.set(key, text)
  joined.set(flight, asked)
}
