import { COMMIT_CHANGES_MAX } from '../../domain/limits.ts'
import type { Change, Store } from '../../storage/store.ts'
import { buildRedaction } from './receipt-redaction.ts'
import { buildSuppressionId } from './turn-suppression.ts'

/**
 * Wraps a store so that a commit that removes a memory or a turn also removes its lines from all receipts. Every kind of
 * erasure removes rows by commits: erase, empty trash, retention, deleting turns, sessions and owners. With a turn goes its
 * suppression entry, see `turn-suppression.ts`.
 */
export function createRedactingStore(store: Store): Store {
  return {
    ...store,
    commit: async (changes) => {
      const redactions = changes.flatMap(buildRedactionFor)
      const room = Math.max(0, COMMIT_CHANGES_MAX - changes.length)
      // The rest is removed before the commit, in case of a crash, and again after it, for receipts written in between.
      const excess = redactions.slice(room)
      await commitInParts(store, excess)
      const outcome = await store.commit([...changes, ...redactions.slice(0, room)])
      if (outcome.kind === 'committed') await commitInParts(store, excess)
      return outcome
    },
  }
}

function buildRedactionFor(change: Change): readonly Change[] {
  if (change.op !== 'remove') return []
  if (change.table !== 'memory' && change.table !== 'turn') return []
  const { id, scope, table } = change
  const redaction = buildRedaction(scope.owner, id)
  if (table === 'memory') return [redaction]
  const entry = buildSuppressionId(scope.owner, id)
  return [
    redaction,
    { op: 'remove', table: 'entry', scope: { owner: scope.owner }, id: entry, expect: 'any' },
  ]
}

async function commitInParts(store: Store, changes: readonly Change[]): Promise<void> {
  for (let start = 0; start < changes.length; start += COMMIT_CHANGES_MAX) {
    await store.commit(changes.slice(start, start + COMMIT_CHANGES_MAX))
  }
}
