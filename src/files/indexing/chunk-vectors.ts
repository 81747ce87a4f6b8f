/** The vectors of an owner's chunks: how many there are, and making those that are missing. */

import type { OwnerId } from '../../domain/ids.ts'
import { toAppError } from '../../lib/errors.ts'
import type { Store } from '../../storage/store.ts'
import type { VectorIndex } from '../../storage/vector-index.ts'
import type { EmbeddingProgress } from '../file-search.ts'
import type { BatchPrefill } from './batch-prefill.ts'
import type { IndexEngine } from './index-engine.ts'
import type { GenerationScope } from './index-rows.ts'

/** A store that may keep vectors beside its rows. */
export type IndexStore = Store & { readonly vectors?: VectorIndex | null }

/** Whether a generation is found by meaning at all, with whichever model. */
export async function hasVectors({ vectors }: IndexStore, home: GenerationScope): Promise<boolean> {
  for (const space of (await vectors?.spaces()) ?? []) {
    if (vectors != null && (await vectors.count(space, home)) > 0) return true
  }
  return false
}

export type Unembedded = {
  /** Chunks without a vector of the present model. */
  readonly count: number
  /** Why, where something is wrong. */
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

/** Gives every chunk of an owner its vector, to the end. Tells why where that fails; null when all went well. */
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
