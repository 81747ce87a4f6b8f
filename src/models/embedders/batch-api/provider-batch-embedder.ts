/** Combines batch prefill with an embedder whose documents wait for it. */

import { raceAbort } from '../../../lib/abort.ts'
import { CircuitBreaker } from '../../../lib/circuit-breaker.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { BatchEmbedder } from '../../batch-embedder.ts'
import type { Embedder } from '../../embedder.ts'
import type { EmbeddingCache } from '../embedding-cache.ts'
import type { BatchLedger } from './batch-ledger.ts'
import {
  BATCHING_LIMITS,
  type BatchingLimits,
  type EmbedderIdentity,
  type PrefillProgress,
  prefillCache,
} from './cache-prefill.ts'
import type { EmbeddingBatches } from './embedding-batches.ts'

export type ProviderBatchEmbedderDependencies = {
  readonly embedder: Embedder
  readonly identity: Omit<EmbedderIdentity, 'model'>
  /** The cache that the embedder reads. */
  readonly cache: EmbeddingCache
  readonly batches: EmbeddingBatches
  readonly ledger: BatchLedger
  readonly clock: Clock
  readonly limits?: Partial<BatchingLimits>
}

export type ProviderBatchEmbedder = BatchEmbedder & {
  /** The same embedder, but documents wait while a hold is active. */
  readonly embedder: Embedder
}

/** After two consecutive failures, this process stops using batches. */
export function createBatchBreaker(clock: Clock): CircuitBreaker {
  return new CircuitBreaker({ clock, failuresMax: 2, resetMs: Number.POSITIVE_INFINITY })
}

export function reportBatchState({ openReason, failures }: CircuitBreaker) {
  const why = openReason === null ? {} : { batchApiDisabledReason: openReason }
  return { batchApiEnabled: openReason === null, batchApiFailures: failures, ...why }
}

export function openProviderBatchEmbedder(
  parts: ProviderBatchEmbedderDependencies,
): ProviderBatchEmbedder {
  const { embedder, identity, cache, batches, ledger, clock, limits = {} } = parts
  const breaker = createBatchBreaker(clock)
  let holds = 0
  let released = Promise.resolve()
  let release = () => {}
  let progress: PrefillProgress | null = null

  const hold = () => {
    if (holds++ === 0) {
      released = new Promise((resolve) => {
        release = resolve
      })
    }
    let isHeld = true
    return () => {
      if (isHeld && --holds === 0) release()
      isHeld = false
    }
  }

  return {
    textsMin: limits.textsMin ?? BATCHING_LIMITS.textsMin,
    deferEmbedding: hold,
    embedAll: async (texts, { signal } = {}) => {
      // Disabled batches must not hold documents back.
      if (breaker.openReason !== null) return
      const model = await embedder.describe(signal)
      try {
        await prefillCache({
          ...{ texts, cache, batches, ledger, breaker, clock, limits },
          identity: { ...identity, model },
          onProgress: (made) => {
            progress = made
          },
          ...(signal === undefined ? {} : { signal }),
        })
      } finally {
        progress = null
      }
    },
    report: () => ({
      ...reportBatchState(breaker),
      ...(progress === null ? {} : { batchesDone: progress.done, batchesTotal: progress.total }),
    }),
    embedder: {
      describe: (signal) => embedder.describe(signal),
      embed: async (texts, options) => {
        if (options.purpose === 'document') await raceAbort(released, options.signal)
        return embedder.embed(texts, options)
      },
      report: () => embedder.report(),
      close: () => embedder.close(),
    },
  }
}
