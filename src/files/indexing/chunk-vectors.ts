/** The vectors of an owner's chunks: how many there are, and making those that are missing. */
import { toAppError } from '../../domain/errors.ts'
import type { OwnerId } from '../../domain/ids.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Store } from '../../storage/store.ts'
import type { VectorIndex } from '../../storage/vector-index.ts'
import type { EmbeddingProgress } from '../file-search.ts'
import type { Prefilling } from './batch-prefill.ts'
import type { Home } from './index-rows.ts'

/** A store that may keep vectors beside its rows. */
export type IndexStore = Store & { readonly vectors?: VectorIndex | null }

/** Whether a generation is found by meaning at all, with whichever model. */
export async function hasVectors({ vectors }: IndexStore, home: Home): Promise<boolean> {
  for (const space of (await vectors?.spaces()) ?? []) {
    if (vectors != null && (await vectors.count(space, home)) > 0) return true
  }
  return false
}

export type Unembedded = {
  /** Chunks without a vector of the present model. */
  readonly count: number
  /** Why, where something is wrong. */
  readonly because: string | null
}

export async function unembedded(
  inner: Engine,
  store: IndexStore,
  home: Home | null,
): Promise<Unembedded> {
  const { index } = await inner.status()
  if (home === null || index === null) return { count: 0, because: null }
  const { total } = await store.tally(home, {})
  const present = index.filling ?? index.space
  const space = (await store.vectors?.spaces())?.find(({ signature }) => signature === present)
  const embedded = space === undefined ? 0 : ((await store.vectors?.count(space, home)) ?? 0)
  const count = Math.max(0, total - embedded)
  return { count, because: count === 0 ? null : index.because }
}

/** Gives every chunk of an owner its vector, to the end. Tells why where that fails; null when all went well. */
export async function embedAll(
  { inner, prefilling }: { readonly inner: Engine; readonly prefilling: Prefilling | null },
  owner: OwnerId,
  signal: AbortSignal,
  onProgress: (progress: EmbeddingProgress) => void,
): Promise<string | null> {
  if (inner.parts().embedder === null) return null
  try {
    await prefilling?.done()
    await inner.reindex({ owner, signal, onProgress })
    return null
  } catch (error) {
    if (signal.aborted) throw error
    return toAppError(error).message
  }
}
