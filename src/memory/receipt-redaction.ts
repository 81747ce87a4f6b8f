import type { EntryId, MemoryId, OwnerId, TurnId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import { hashParts } from '../lib/hash.ts'
import type { Change, Store } from '../storage/store.ts'
import { suppressionId } from './turn-suppression.ts'

/**
 * Wraps a store so that every commit that removes a memory or a turn also removes its lines from all receipts. Erasing,
 * emptying the trash, retention, forgetting turns and sessions and erasing owners all remove rows by commits. With a turn goes
 * the entry that names the forgotten facts which keep it disabled.
 */
export function createRedactingStore(store: Store): Store {
  return {
    ...store,
    commit: async (changes) => {
      const redactions = changes.flatMap(buildRedactionFor)
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

function buildRedactionFor(change: Change): readonly Change[] {
  if (change.op !== 'remove') return []
  if (change.table !== 'memory' && change.table !== 'turn') return []
  const { id, scope, table } = change
  const redacted = buildRedaction(scope.owner, id)
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

/** The id of the row that holds the lines of a memory or turn. */
export function buildReceiptLinesId(owner: OwnerId, id: MemoryId | TurnId): EntryId {
  return `rct_${hashParts(owner, id)}` as EntryId // derived: the same memory has the same row
}

/** Removes the lines of a memory or turn from all receipts, in the commit that the change is part of. */
export function buildRedaction(owner: OwnerId, id: MemoryId | TurnId): Change {
  return {
    op: 'remove',
    table: 'entry',
    scope: { owner },
    id: buildReceiptLinesId(owner, id),
    expect: 'any',
  }
}
