import { embeddingText } from '../../domain/embedding-text.ts'
import type { Memory } from '../../domain/memory.ts'
import { type SearchDocument, turnDocument } from '../../domain/search-document.ts'
import type { Change, Store } from '../store.ts'

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

/**
 * Those that were written and need their vector made: new ones, and those of which something has changed that is kept
 * beside a vector. To have others go through the model again would cost time, or money, for the same numbers: fading,
 * merging and forgetting change a great many memories, and none of their words.
 */
export function embeddedAnew(changes: readonly Change[]): readonly SearchDocument[] {
  const before = new Map<Memory['id'], Memory>()
  for (const change of changes) {
    if (change.op === 'put' && change.table === 'revision') {
      before.set(change.row.memory.id, change.row.memory)
    }
  }
  return changes.flatMap((change) => {
    if (change.op === 'put' && change.table === 'turn') return [turnDocument(change.row)]
    if (change.op !== 'put' || change.table !== 'memory') return []
    const { row, expect } = change
    const previous = before.get(row.id)
    // Only what this very row replaces tells: an import brings revisions along of memories that are new here.
    const isReplaced = typeof expect === 'object' && previous?.version === expect.version
    return isReplaced && hasSameVector(previous, row) ? [] : [row]
  })
}

function hasSameVector(before: Memory, after: Memory): boolean {
  return (
    embeddingText(before) === embeddingText(after) &&
    before.place.owner === after.place.owner &&
    before.place.user === after.place.user &&
    before.place.session === after.place.session &&
    before.type === after.type &&
    before.expiresAt === after.expiresAt
  )
}
