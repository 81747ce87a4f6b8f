/**
 * Writes the state of the primary to a replica. There is one procedure for every occasion: read the
 * current state of some memories, then write it. It is idempotent, so it may run late, repeatedly,
 * or in several processes at once.
 */
import { hashEmbeddingText } from '../../domain/embedding-text.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { DOCUMENT_TYPES, type SearchDocument } from '../../domain/search-document.ts'
import { sha256 } from '../../lib/hash.ts'
import type { Instant } from '../../lib/time.ts'
import type { Store } from '../store.ts'
import type { VectorIndex, VectorSpace } from '../vector-index.ts'
import type { VectorReplica } from '../vector-replica.ts'

export type ReplicaWriterDependencies = {
  readonly store: Store
  readonly vectors: VectorIndex
  readonly replica: VectorReplica
  /** Memories that expired before this were removed and must not be written again. */
  readonly expiredRemovedBefore: Instant | null
}

/**
 * Writes the current state of these memories of one owner, and removes those that are deleted or in the trash. Rows are
 * read before vectors: if a text changes in between, the stored hash is older than the vector,
 * which a comparison detects. In the other order it would not.
 */
export async function syncMemories(
  { store, vectors, replica, expiredRemovedBefore: cleanedBefore }: ReplicaWriterDependencies,
  space: VectorSpace,
  owner: OwnerId,
  ids: readonly MemoryId[],
): Promise<void> {
  const scope = { owner }
  const where = { ids, types: DOCUMENT_TYPES }
  const { rows } = await store.findDocuments(scope, { where, limit: ids.length })
  const known = await vectors.vectorsOf(space, scope, ids)
  const points = rows.flatMap((row) => {
    const vector = known.get(row.id)
    if (vector === undefined || isWithheld(row, cleanedBefore)) return []
    const { id, place, type, expiresAt } = row
    return [
      {
        id,
        place,
        type,
        expiresAt,
        vector,
        textHash: computePointHash(hashEmbeddingText(row), row),
      },
    ]
  })
  const present = new Set(points.map(({ id }) => id))
  const gone = ids.filter((id) => !present.has(id))
  if (points.length > 0) await replica.upsert(space, points)
  if (gone.length > 0) await replica.remove(space, owner, gone)
}

/**
 * The hash stored with a point covers the text and every field that the replica filters by. A
 * comparison thereby finds points whose memory moved or changed its expiry while the replica was
 * unavailable.
 */
export function computePointHash(
  textHash: string,
  {
    place: { user, session },
    type,
    expiresAt,
  }: Pick<SearchDocument, 'place' | 'type' | 'expiresAt'>,
): string {
  const rest = sha256(JSON.stringify([user, session, type, expiresAt])).slice(0, REST_DIGITS)
  return `${textHash}-${rest}`
}
const REST_DIGITS = 12

/** Memories in the trash, which return when they are restored, and expired ones that were removed. */
export function isWithheld(
  { status, expiresAt }: Pick<SearchDocument, 'status' | 'expiresAt'>,
  cleanedBefore: Instant | null,
): boolean {
  if (status === 'forgotten') return true
  return cleanedBefore !== null && expiresAt !== null && expiresAt < cleanedBefore
}
