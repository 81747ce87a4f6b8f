/** How a point looks in Qdrant, and how some of them are asked for. */
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { getField } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { isZeroVector } from '../../lib/vector-math.ts'
import type { ReplicaFilter, ReplicaPoint } from '../vector-replica.ts'
import { VECTOR_NAME } from './collection-schema.ts'
import { toPointId } from './point-ids.ts'
import { createInvalidResponseError } from './qdrant-client.ts'

/**
 * Stands for no user and no session: no name is empty. It is found by the index as every name is, which the absence of a
 * field is only in late versions.
 */
const NONE = ''

/** What is asked for of a point that was found. */
export const HIT_PAYLOAD_FIELDS = ['memory', 'text_hash']

export const LIST_PAYLOAD_FIELDS = ['memory', 'owner', 'text_hash']

type QdrantCondition = Readonly<Record<string, unknown>>
export type QdrantFilter = {
  readonly must?: readonly QdrantCondition[]
  readonly must_not?: readonly QdrantCondition[]
}

export function toQdrantPoint({ place, id, type, expiresAt, textHash, vector }: ReplicaPoint) {
  return {
    id: toPointId(id),
    vector: isZeroVector(vector) ? {} : { [VECTOR_NAME]: Array.from(vector) },
    payload: {
      memory: id,
      text_hash: textHash,
      owner: place.owner,
      user: place.user ?? NONE,
      session: place.session ?? NONE,
      type,
      ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    },
  }
}

export function toSearchFilter({
  owner,
  user,
  session,
  types,
  unexpiredAt,
}: ReplicaFilter): QdrantFilter {
  return {
    must: [
      matchValue('owner', owner),
      ...(user === undefined ? [] : [matchValue('user', user ?? NONE)]),
      ...(session === undefined ? [] : [matchValue('session', session ?? NONE)]),
      ...(types === undefined ? [] : [{ key: 'type', match: { any: [...new Set(types)] } }]),
    ],
    // Written this way, those that never expire pass.
    ...(unexpiredAt === undefined ? {} : { must_not: [toExpiryCondition({ lte: unexpiredAt })] }),
  }
}

export function toOwnerFilter(owner: OwnerId): QdrantFilter {
  return { must: [matchValue('owner', owner)] }
}

export function toIdsFilter(owner: OwnerId, ids: readonly MemoryId[]): QdrantFilter {
  return { must: [matchValue('owner', owner), { has_id: ids.map(toPointId) }] }
}

export function toExpiredFilter(before: Instant): QdrantFilter {
  return { must: [toExpiryCondition({ lt: before })] }
}

function matchValue(key: string, value: string): QdrantCondition {
  return { key, match: { value } }
}

function toExpiryCondition(range: Readonly<Record<string, Instant>>): QdrantCondition {
  return { key: 'expires_at', range }
}

export type QdrantHit = {
  readonly id: MemoryId
  readonly textHash: string
  /** Empty where it wasn't asked for. */
  readonly owner: OwnerId
  readonly score: number
}

/** The points of an answer, as far as they were asked for. */
export function parseHits(result: unknown): readonly QdrantHit[] {
  const points = getField(result, 'points')
  if (!Array.isArray(points)) throw createInvalidResponseError()
  return points.map((point) => {
    const payload = getField(point, 'payload')
    const [id, textHash] = [getField(payload, 'memory'), getField(payload, 'text_hash')]
    if (typeof id !== 'string' || typeof textHash !== 'string') throw createInvalidResponseError()
    return {
      id: id as MemoryId, // as it went in
      textHash,
      owner: String(getField(payload, 'owner') ?? '') as OwnerId, // as it went in
      score: Number(getField(point, 'score') ?? Number.NaN),
    }
  })
}
