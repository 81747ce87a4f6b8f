import type { Memory } from '../core/memory.ts'
import type { Change, Store } from '../ports/store.ts'

/** The same store, with an ear at the one door that all writes go through. */
export function watched(store: Store, hear: (changes: readonly Change[]) => void): Store {
  return {
    ...store,
    commit: async (changes: readonly Change[]) => {
      const outcome = await store.commit(changes)
      if (outcome.kind === 'committed') hear(changes)
      return outcome
    },
  }
}

/** Those that were written. */
export function memoriesIn(changes: readonly Change[]): readonly Memory[] {
  return changes.flatMap((change) =>
    change.op === 'put' && change.table === 'memory' ? [change.row] : [],
  )
}
