import { renderEmbeddingText } from '../../domain/embedding-text.ts'
import type { Memory } from '../../domain/memory.ts'
import { type ErrorCode, toAppError } from '../../lib/errors.ts'
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

/** Failures of the store itself, which concern every write. */
const STORE_FAILURES: ReadonlySet<ErrorCode> = new Set([
  ...(['read_only', 'disk_full', 'busy', 'damaged', 'locked', 'unavailable'] as const),
])

/** Remembers how the last write failed, while none has succeeded since. */
export class WriteMonitor {
  #failure: ErrorCode | null = null

  get failure(): ErrorCode | null {
    return this.#failure
  }

  watch(store: Store): Store {
    return {
      ...store,
      commit: async (changes: readonly Change[]) => {
        try {
          const outcome = await store.commit(changes)
          this.#failure = null
          return outcome
        } catch (thrown) {
          const { code } = toAppError(thrown)
          if (STORE_FAILURES.has(code)) this.#failure = code
          throw thrown
        }
      },
    }
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
