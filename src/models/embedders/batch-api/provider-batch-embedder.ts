/** Batches as a way to get vectors ahead, and an embedder whose documents wait for them. */

import { orCancelled } from '../../../lib/abort.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Prefill } from '../../batch-embedder.ts'
import type { Embedder } from '../../embedder.ts'
import type { EmbeddingCache } from '../embedding-cache.ts'
import { BatchBreaker } from './batch-breaker.ts'
import type { BatchLedger } from './batch-ledger.ts'
import {
  BATCHING_LIMITS,
  type BatchingLimits,
  type EmbedderIdentity,
  type PrefillProgress,
  prefillByBatch,
} from './cache-prefill.ts'
import type { EmbeddingBatches } from './embedding-batches.ts'

export type FillingParts = {
  readonly embedder: Embedder
  readonly identity: Omit<EmbedderIdentity, 'model'>
  /** The one that the embedder looks into. */
  readonly cache: EmbeddingCache
  readonly batches: EmbeddingBatches
  readonly ledger: BatchLedger
  readonly clock: Clock
  readonly limits?: Partial<BatchingLimits>
}

export type Filling = Prefill & {
  /** The same embedder; documents wait while they are held. */
  readonly embedder: Embedder
}

export function openFilling(parts: FillingParts): Filling {
  const { embedder, identity, cache, batches, ledger, clock, limits = {} } = parts
  const breaker = new BatchBreaker()
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
    hold,
    fill: async (texts, { signal } = {}) => {
      // Once given up, there is nothing to wait for.
      if (breaker.because !== null) return
      const model = await embedder.describe(signal)
      try {
        await prefillByBatch({
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
      ...breaker.report(),
      ...(progress === null ? {} : { batchesDone: progress.done, batchesTotal: progress.total }),
    }),
    embedder: {
      describe: (signal) => embedder.describe(signal),
      embed: async (texts, options) => {
        if (options.purpose === 'document') await orCancelled(released, options.signal)
        return embedder.embed(texts, options)
      },
      report: () => embedder.report(),
      close: () => embedder.close(),
    },
  }
}
