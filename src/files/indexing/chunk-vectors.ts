/** Counts an owner's chunk vectors and computes missing ones. */

import type { OwnerId } from '../../domain/ids.ts'
import { toAppError } from '../../lib/errors.ts'
import type { Store } from '../../storage/store.ts'
import type { VectorIndex } from '../../storage/vector-index.ts'
import type { EmbeddingProgress } from '../file-search.ts'
import type { BatchPrefill } from './batch-prefill.ts'
import type { IndexEngine } from './index-engine.ts'
import type { GenerationScope } from './index-rows.ts'

/** A store, possibly with a vector index. */
export type IndexStore = Store & { readonly vectors?: VectorIndex | null }

/** Whether any embedding space has vectors of the generation. */
export async function hasVectors({ vectors }: IndexStore, home: GenerationScope): Promise<boolean> {
  for (const space of (await vectors?.spaces()) ?? []) {
    if (vectors != null && (await vectors.count(space, home)) > 0) return true
  }
  return false
}

export type Unembedded = {
  /** The number of chunks without a vector of the current model. */
  readonly count: number
  /** The failure, if any. */
  readonly reason: string | null
}

export async function countUnembedded(
  inner: IndexEngine,
  store: IndexStore,
  home: GenerationScope | null,
): Promise<Unembedded> {
  const index = await inner.getIndexStatus()
  if (home === null || index === null) return { count: 0, reason: null }
  const { total } = await store.countMemories(home, {})
  const present = index.buildingSpace ?? index.space
  const space = (await store.vectors?.spaces())?.find(({ signature }) => signature === present)
  const embedded = space === undefined ? 0 : ((await store.vectors?.count(space, home)) ?? 0)
  const count = Math.max(0, total - embedded)
  return { count, reason: count === 0 ? null : index.reason }
}

/** Embeds all chunks of an owner. Resolves to the reason of a failure, or null. */
export async function embedChunks(
  { inner, prefilling }: { readonly inner: IndexEngine; readonly prefilling: BatchPrefill | null },
  owner: OwnerId,
  signal: AbortSignal,
  onProgress: (progress: EmbeddingProgress) => void,
): Promise<string | null> {
  if (inner.getEmbedder() === null) return null
  try {
    await prefilling?.done()
    await inner.reindex({ owner, signal, onProgress })
    return null
  } catch (error) {
    if (signal.aborted) throw error
    return toAppError(error).message
  }
}
