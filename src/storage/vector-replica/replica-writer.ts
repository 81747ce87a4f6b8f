/**
 * Makes a mirror the same as the index of the memories. Whatever the occasion, the way is one: read what is true of some
 * memories now, and write that. So it may be done again, late, or by several processes at once.
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
  /** What expired before this was cleaned away, and is not to be put back. */
  readonly expiredRemovedBefore: Instant | null
}

/**
 * Writes what is true of these memories of one owner, and takes away what is not. Rows are read before vectors: if a
 * text changes in between, the mark is older than the vector, which a comparison sees. The other way round it would not.
 */
export async function syncMemories(
  {
    store,
    vectors,
    replica: mirror,
    expiredRemovedBefore: cleanedBefore,
  }: ReplicaWriterDependencies,
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
    if (vector === undefined || isExpiredRemoved(row, cleanedBefore)) return []
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
  if (points.length > 0) await mirror.upsert(space, points)
  if (gone.length > 0) await mirror.remove(space, owner, gone)
}

/**
 * What a mirror is told as the hash of a text: that, and of all else that it filters by. So a comparison finds a point
 * whose memory has moved or got another expiry while the mirror could not be told.
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

export function isExpiredRemoved(
  { expiresAt }: Pick<SearchDocument, 'expiresAt'>,
  cleanedBefore: Instant | null,
): boolean {
  return cleanedBefore !== null && expiresAt !== null && expiresAt < cleanedBefore
}
