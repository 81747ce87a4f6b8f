import { renderEmbeddingText } from '../../domain/embedding-text.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Change, Store } from '../store.ts'

/** The same store, with an ear at the one door that all writes go through. */
export function withCommitHook(store: Store, hear: (changes: readonly Change[]) => void): Store {
  return {
    ...store,
    commit: async (changes: readonly Change[]) => {
      const outcome = await store.commit(changes)
      if (outcome.kind === 'committed') hear(changes)
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
