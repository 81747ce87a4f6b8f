/**
 * The vector replica in memory: the executable specification of `VectorReplica`, and the replica that code on top of
 * replicas is tested with.
 */
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { compareText } from '../../lib/compare.ts'
import { AppError } from '../../lib/errors.ts'
import { innerProduct, isZeroVector } from '../../lib/vector-math.ts'
import { isIncluded } from '../document-filter.ts'
import { assertVectorFits, type VectorSpace } from '../vector-index.ts'
import type { ReplicaFilter, ReplicaPoint, VectorReplica } from '../vector-replica.ts'

type Points = Map<MemoryId, ReplicaPoint>

export function createInMemoryVectorReplica(name: VectorReplica['name'] = 'qdrant'): VectorReplica {
  const spaces = new Map<string, { readonly dimensions: number; readonly points: Points }>()
  let isClosed = false

  const getPoints = ({ signature }: VectorSpace): Points => {
    if (isClosed) throw new AppError('unavailable', 'The replica is closed.')
    return spaces.get(signature)?.points ?? new Map()
  }

  const listPoints = (space: VectorSpace, owner?: OwnerId): ReplicaPoint[] =>
    [...getPoints(space).values()].filter(
      ({ place }) => owner === undefined || place.owner === owner,
    )

  function prepareSpace(space: VectorSpace): Points {
    const points = getPoints(space)
    const { dimensions } = spaces.get(space.signature) ?? space
    assertVectorFits(dimensions, new Float32Array(space.dimensions))
    spaces.set(space.signature, { dimensions, points })
    return points
  }

  return {
    name,

    async prepare(space) {
      prepareSpace(space)
    },

    async upsert(space, points) {
      for (const { vector } of points) assertVectorFits(space.dimensions, vector)
      const stored = prepareSpace(space)
      for (const point of points) stored.set(point.id, { ...point, vector: point.vector.slice() })
    },

    async remove(space, owner, ids) {
      const points = getPoints(space)
      for (const id of ids) if (points.get(id)?.place.owner === owner) points.delete(id)
    },

    async search(space, filter, { vector, limit }) {
      assertVectorFits(space.dimensions, vector)
      if (isZeroVector(vector)) return []
      return listPoints(space, filter.owner)
        .filter((point) => isMatch(point, filter) && !isZeroVector(point.vector))
        .map(({ id, textHash, vector: stored }) => {
          return { id, textHash, similarity: innerProduct(vector, stored) }
        })
        .sort((a, b) => b.similarity - a.similarity || compareText(b.id, a.id))
        .slice(0, Math.max(0, limit))
    },

    async list(space, { owner, limit, after }) {
      return listPoints(space, owner)
        .filter(({ id }) => after === undefined || compareText(id, after) > 0)
        .sort((a, b) => compareText(a.id, b.id))
        .slice(0, Math.max(0, limit))
        .map(({ id, place, textHash }) => ({ id, owner: place.owner, textHash }))
    },

    async count(space, owner) {
      return listPoints(space, owner).length
    },

    async removeExpired(space, before) {
      const expired = listPoints(space).filter(
        ({ expiresAt }) => expiresAt !== null && expiresAt < before,
      )
      for (const { id } of expired) getPoints(space).delete(id)
      return expired.length
    },

    async drop(space) {
      getPoints(space)
      spaces.delete(space.signature)
    },

    async health() {
      return { isReady: !isClosed, latencyMs: 0, detail: isClosed ? 'closed' : 'in memory' }
    },

    async close() {
      isClosed = true
    },
  }
}

function isMatch({ place, type, expiresAt }: ReplicaPoint, filter: ReplicaFilter): boolean {
  return (
    (filter.user === undefined || filter.user === place.user) &&
    (filter.session === undefined || filter.session === place.session) &&
    isIncluded(filter.types, type) &&
    (filter.unexpiredAt === undefined || expiresAt === null || expiresAt > filter.unexpiredAt)
  )
}
