/** Removes the lines of forgotten and erased memories from receipts. */
import type { EntryId, MemoryId, OwnerId, TurnId } from '../../domain/ids.ts'
import { hashParts } from '../../lib/hash.ts'
import type { Change } from '../../storage/store.ts'

/** The id of the entry with the receipt lines of a memory or turn. */
export function buildReceiptLinesId(owner: OwnerId, id: MemoryId | TurnId): EntryId {
  return `rct_${hashParts(owner, id)}` as EntryId // derived: a memory or turn has one entry
}

/** The change that removes the lines of a memory or turn from all receipts. */
export function buildRedaction(owner: OwnerId, id: MemoryId | TurnId): Change {
  return {
    op: 'remove',
    table: 'entry',
    scope: { owner },
    id: buildReceiptLinesId(owner, id),
    expect: 'any',
  }
}
