/** How a point looks in Qdrant, and how some of them are asked for. */
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { field } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { isZero } from '../../lib/vector-math.ts'
import type { MirrorFilter, MirrorPoint } from '../vector-replica.ts'
import { VECTOR } from './collection-schema.ts'
import { pointId } from './point-ids.ts'
import { unknownForm } from './qdrant-client.ts'

/**
 * Stands for no user and no session: no name is empty. It is found by the index as every name is, which the absence of a
 * field is only in late versions.
 */
const NONE = ''

/** What is asked for of a point that was found. */
export const FOUND_FIELDS = ['memory', 'text_hash']

export const LISTED_FIELDS = ['memory', 'owner', 'text_hash']

type Condition = Readonly<Record<string, unknown>>
export type Filter = {
  readonly must?: readonly Condition[]
  readonly must_not?: readonly Condition[]
}

export function storedPoint({ place, id, type, expiresAt, textHash, vector }: MirrorPoint) {
  return {
    id: pointId(id),
    vector: isZero(vector) ? {} : { [VECTOR]: Array.from(vector) },
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

export function searchFilter({ owner, user, session, types, unexpiredAt }: MirrorFilter): Filter {
  return {
    must: [
      is('owner', owner),
      ...(user === undefined ? [] : [is('user', user ?? NONE)]),
      ...(session === undefined ? [] : [is('session', session ?? NONE)]),
      ...(types === undefined ? [] : [{ key: 'type', match: { any: [...new Set(types)] } }]),
    ],
    // Written this way, those that never expire pass.
    ...(unexpiredAt === undefined ? {} : { must_not: [expires({ lte: unexpiredAt })] }),
  }
}

export function ownerFilter(owner: OwnerId): Filter {
  return { must: [is('owner', owner)] }
}

export function idsFilter(owner: OwnerId, ids: readonly MemoryId[]): Filter {
  return { must: [is('owner', owner), { has_id: ids.map(pointId) }] }
}

export function expiredFilter(before: Instant): Filter {
  return { must: [expires({ lt: before })] }
}

function is(key: string, value: string): Condition {
  return { key, match: { value } }
}

function expires(range: Readonly<Record<string, Instant>>): Condition {
  return { key: 'expires_at', range }
}

export type FoundPoint = {
  readonly id: MemoryId
  readonly textHash: string
  /** Empty where it wasn't asked for. */
  readonly owner: OwnerId
  readonly score: number
}

/** The points of an answer, as far as they were asked for. */
export function foundPoints(result: unknown): readonly FoundPoint[] {
  const points = field(result, 'points')
  if (!Array.isArray(points)) throw unknownForm()
  return points.map((point) => {
    const payload = field(point, 'payload')
    const [id, textHash] = [field(payload, 'memory'), field(payload, 'text_hash')]
    if (typeof id !== 'string' || typeof textHash !== 'string') throw unknownForm()
    return {
      id: id as MemoryId, // as it went in
      textHash,
      owner: String(field(payload, 'owner') ?? '') as OwnerId, // as it went in
      score: Number(field(point, 'score') ?? Number.NaN),
    }
  })
}
