/**
 * A search served by a replica. The replica proposes candidates; the primary index verifies them:
 * memories that are gone, were edited or do not pass the whole filter are dropped, and similarities
 * are computed from the primary vectors, so they are exact whatever the replica's quantization.
 */

import { MEMORY_TYPES } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { compareText } from '../../lib/compare.ts'
import type { DocumentFilter } from '../store.ts'
import type { VectorHit, VectorIndex, VectorQuery, VectorSpace } from '../vector-index.ts'
import type { ReplicaFilter, ReplicaHit, VectorReplica } from '../vector-replica.ts'

export type ReplicaSearchDependencies = {
  readonly vectors: VectorIndex
  readonly replica: VectorReplica
}

export type ReplicaSearchResult =
  | { readonly kind: 'answered'; readonly hits: readonly VectorHit[] }
  /**
   * Too many candidates were dropped, or the replica holds too little. `isEmpty`: nothing at all of
   * the owner.
   */
  | { readonly kind: 'too_few_hits'; readonly isEmpty: boolean }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Beyond this, the search is a full scan, which the primary does better. */
export const REPLICA_HITS_MAX = 4_096

/**
 * Extra candidates: some will have been deleted, and the tail of an approximate result is less
 * certain.
 */
const SPARE = 28
const GROWTH = 4

/** The most ids that every index looks up one by one. */
const PAGE = 500

/** Highly selective filters: the nearest vectors say little about the few memories that pass. */
const NARROW: readonly (keyof DocumentFilter)[] = [
  'ids',
  'key',
  'fingerprint',
  'change',
  'contains',
  'expiredBy',
  'hasConflict',
]

export function isReplicaQuery({ limit, where }: VectorQuery): boolean {
  // The trash is not in the replica.
  if (where.statuses?.includes('forgotten')) return false
  return limit + SPARE <= REPLICA_HITS_MAX && NARROW.every((name) => where[name] === undefined)
}

export async function searchReplica(
  parts: ReplicaSearchDependencies,
  space: VectorSpace,
  scope: Scope,
  query: VectorQuery,
): Promise<ReplicaSearchResult> {
  const { vector, limit } = query
  const filter = toReplicaFilter(scope, query.where)
  let asked = limit + SPARE
  for (;;) {
    const found = await requestCandidates(parts.replica, space, filter, { vector, limit: asked })
    if ('error' in found) return { kind: 'failed', error: found.error }
    const hits = await verifyCandidates(parts.vectors, space, scope, query, found)
    if (hits.length >= limit) return { kind: 'answered', hits: hits.slice(0, limit) }
    if (found.length < asked) {
      // The replica returned everything it has. If that is all there is, nothing can be missing.
      const isAll = found.length >= (await parts.vectors.count(space, scope))
      if (isAll) return { kind: 'answered', hits }
      const held =
        found.length > 0 ? found.length : await findPrimaryVectors(parts.replica, space, scope)
      return { kind: 'too_few_hits', isEmpty: held === 0 }
    }
    if (asked === REPLICA_HITS_MAX) return { kind: 'too_few_hits', isEmpty: false }
    asked = Math.min(REPLICA_HITS_MAX, asked * GROWTH)
  }
}

/**
 * Counts the owner's points, whatever the filter. The next search detects a replica that fails
 * meanwhile.
 */
async function findPrimaryVectors(
  replica: VectorReplica,
  space: VectorSpace,
  { owner }: Scope,
): Promise<number> {
  return replica.count(space, owner).catch(() => 1)
}

/** A replica holds memories and turns, so the query names the kinds. */
export function toReplicaFilter(
  scope: Scope,
  { types = MEMORY_TYPES, validAt: unendedAt }: DocumentFilter,
): ReplicaFilter {
  return {
    ...scope,
    types,
    ...(unendedAt === undefined ? {} : { unexpiredAt: unendedAt }),
  }
}

/** Distinguishes the replica's failures from those of the store, which are not its fault. */
async function requestCandidates(
  replica: VectorReplica,
  ...asked: Parameters<VectorReplica['search']>
): Promise<readonly ReplicaHit[] | { readonly error: unknown }> {
  try {
    return await replica.search(...asked)
  } catch (error) {
    return { error }
  }
}

/**
 * Scores come from the primary index, so that a result is the same whoever proposed the candidates.
 */
async function verifyCandidates(
  vectors: VectorIndex,
  space: VectorSpace,
  scope: Scope,
  query: VectorQuery,
  found: readonly ReplicaHit[],
): Promise<readonly VectorHit[]> {
  const hits: VectorHit[] = []
  for (let at = 0; at < found.length; at += PAGE) {
    const ids = found.slice(at, at + PAGE).map(({ id }) => id)
    const where = { ...query.where, ids }
    hits.push(...(await vectors.search(space, scope, { ...query, where, limit: ids.length })))
  }
  return hits.sort((a, b) => b.similarity - a.similarity || compareText(b.id, a.id))
}
