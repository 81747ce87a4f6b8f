/**
 * Tombstones: what keeps a forgotten memory from coming back.
 *
 * Work that was under way when a memory was forgotten (a distillation that had read the conversation, a retried
 * request) would write it again. A tombstone blocks whatever was said before the forgetting, by content and by
 * key; what is said again afterwards is new and welcome. It holds hashes bound to owner and user, so it can stay
 * after the memory itself has been erased.
 */

import { hashParts } from '../lib/hash.ts'
import type { Instant } from '../lib/time.ts'
import { normalizeStatement } from '../text/fingerprint.ts'
import type { TombstoneId } from './ids.ts'
import type { Memory, Tombstone } from './memory.ts'
import type { Place } from './scope.ts'

/** The tombstones that would block a statement with this content and key. */
export function getBlockingTombstoneIds(
  place: Place,
  statement: { readonly content: string; readonly key: string | null },
): readonly TombstoneId[] {
  const byContent = buildTombstoneId(place, 'content', normalizeStatement(statement.content))
  return statement.key === null
    ? [byContent]
    : [byContent, buildTombstoneId(place, 'key', statement.key)]
}

/** What forgetting a memory leaves behind, given the tombstones that are already there. */
export function buildTombstones(
  memory: Memory,
  known: readonly Tombstone[],
  now: Instant,
): readonly Tombstone[] {
  return getBlockingTombstoneIds(memory.place, memory).map((id) => ({
    id,
    place: { ...memory.place, session: null },
    version: (known.find((tombstone) => tombstone.id === id)?.version ?? 0) + 1,
    forgottenAt: now,
  }))
}

function buildTombstoneId(place: Place, kind: 'content' | 'key', value: string): TombstoneId {
  const hash = hashParts(place.owner, place.user, kind, value)
  return `tmb_${hash}` as TombstoneId // derived, not drawn: the same statement always has the same one
}
