import { renderEmbeddingText } from '../../domain/embedding-text.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Change, Store } from '../store.ts'

/** Wraps a store and calls `onCommit` after every successful commit. */
export function withCommitHook(
  store: Store,
  onCommit: (changes: readonly Change[]) => void,
): Store {
  return {
    ...store,
    commit: async (changes: readonly Change[]) => {
      const outcome = await store.commit(changes)
      if (outcome.kind === 'committed') onCommit(changes)
      return outcome
    },
  }
}

export function isVectorUnchanged(before: Memory, after: Memory): boolean {
  return (
    renderEmbeddingText(before) === renderEmbeddingText(after) &&
    before.place.owner === after.place.owner &&
    before.place.user === after.place.user &&
    before.place.session === after.place.session &&
    before.type === after.type &&
    before.expiresAt === after.expiresAt
  )
}
