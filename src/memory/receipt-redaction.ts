import { redaction } from '../conversations/receipts/receipt-lines.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import type { Change, Store } from '../storage/store.ts'
import { suppressionId } from './turn-suppression.ts'

/**
 * Wraps a store so that every commit that removes a memory or a turn also removes its lines from all receipts. Erasing,
 * emptying the trash, retention, forgetting turns and sessions and erasing owners all remove rows by commits. With a turn goes
 * the entry that names the forgotten facts which keep it disabled.
 */
export function redactingStore(store: Store): Store {
  return {
    ...store,
    commit: async (changes) => {
      const redactions = changes.flatMap(redactionOf)
      const room = Math.max(0, COMMIT_CHANGES_MAX - changes.length)
      // What doesn't fit is removed before, so that a crash leaves none of it, and after, for receipts written in between.
      const surplus = redactions.slice(room)
      await commitInParts(store, surplus)
      const outcome = await store.commit([...changes, ...redactions.slice(0, room)])
      if (outcome.kind === 'committed') await commitInParts(store, surplus)
      return outcome
    },
  }
}

function redactionOf(change: Change): readonly Change[] {
  if (change.op !== 'remove') return []
  if (change.table !== 'memory' && change.table !== 'turn') return []
  const { id, scope, table } = change
  const redacted = redaction(scope.owner, id)
  if (table === 'memory') return [redacted]
  const entry = suppressionId(scope.owner, id)
  return [
    redacted,
    { op: 'remove', table: 'entry', scope: { owner: scope.owner }, id: entry, expect: 'any' },
  ]
}

async function commitInParts(store: Store, changes: readonly Change[]): Promise<void> {
  for (let start = 0; start < changes.length; start += COMMIT_CHANGES_MAX) {
    await store.commit(changes.slice(start, start + COMMIT_CHANGES_MAX))
  }
}
