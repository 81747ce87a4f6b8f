/**
 * Tombstones keep a forgotten memory from being written again by work that was already under way, such as a
 * distillation that had read the conversation or a retried request. A tombstone blocks statements that were made before
 * the memory was forgotten, by content and by key; later statements are accepted. It holds hashes bound to owner and
 * user, so it can outlive the erased memory.
 */

import { hashParts } from '../lib/hash.ts'
import type { Instant } from '../lib/time.ts'
import { normalizeStatement } from '../text/fingerprint.ts'
import type { TombstoneId } from './ids.ts'
import type { Memory, Tombstone } from './memory.ts'
import type { Place } from './scope.ts'

/** The ids of the tombstones that would block a statement with this content and key. */
export function getBlockingTombstoneIds(
  place: Place,
  statement: { readonly content: string; readonly key: string | null },
): readonly TombstoneId[] {
  const byContent = buildTombstoneId(place, 'content', normalizeStatement(statement.content))
  return statement.key === null
    ? [byContent]
    : [byContent, buildTombstoneId(place, 'key', statement.key)]
}

/** The tombstones of a forgotten memory; `known` are the stored ones, which get a new version. */
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
  return `tmb_${hashParts(place.owner, place.user, kind, value)}` as TombstoneId // derived: a statement always has the same tombstone
}
