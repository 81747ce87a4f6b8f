/** Encodes points and filters for Qdrant. */
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { getField } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { isZeroVector } from '../../lib/vector-math.ts'
import type { ReplicaFilter, ReplicaPoint } from '../vector-replica.ts'
import { VECTOR_NAME } from './collection-schema.ts'
import { toPointId } from './point-ids.ts'
import { createInvalidResponseError } from './qdrant-client.ts'

/**
 * Stands for no user and no session, since names are never empty. It can be indexed like any name,
 * unlike a missing field, which only late versions index.
 */
const NONE = ''

/** The payload requested with hits. */
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
    // In this form, points without an expiry pass.
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
  /** Empty where it was not requested. */
  readonly owner: OwnerId
  readonly score: number
}

/** The points of a response, with the requested parts. */
export function parseHits(result: unknown): readonly QdrantHit[] {
  const points = getField(result, 'points')
  if (!Array.isArray(points)) throw createInvalidResponseError()
  return points.map((point) => {
    const payload = getField(point, 'payload')
    const [id, textHash] = [getField(payload, 'memory'), getField(payload, 'text_hash')]
    if (typeof id !== 'string' || typeof textHash !== 'string') throw createInvalidResponseError()
    return {
      id: id as MemoryId, // as written
      textHash,
      owner: String(getField(payload, 'owner') ?? '') as OwnerId, // as written
      score: Number(getField(point, 'score') ?? Number.NaN),
    }
  })
}
