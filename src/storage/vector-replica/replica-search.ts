/**
 * A search that a mirror answers. It proposes; what is true is asked of the index of the memories: a memory that is gone, was reworded
 * or does not pass the whole filter is left out, and similarities are those of the vectors that are kept with the
 * memories, so that they are exact however the mirror keeps its own.
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
  /** Too much of what it proposes is not wanted, or it has less than there is. `isEmpty`: nothing at all of the owner. */
  | { readonly kind: 'too_few_hits'; readonly isEmpty: boolean }
  | { readonly kind: 'failed'; readonly error: unknown }

/** More than this at once is a reading of everything, which the index of the memories does better. */
export const REPLICA_HITS_MAX = 4_096

/** Asked for in addition: some will have been forgotten, and the last of an inexact answer are less sure. */
const SPARE = 28
const GROWTH = 4

/** As many as every index looks up one by one. */
const PAGE = 500

/** Filters that leave a few memories out of many: what is nearest to the question says nothing about them. */
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
      // It gave all it has. Only if that is all there is, nothing can be missing.
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

/** Of the owner, whatever the filter. A mirror that can't tell now is found out by the next that asks it. */
async function findPrimaryVectors(
  mirror: VectorReplica,
  space: VectorSpace,
  { owner }: Scope,
): Promise<number> {
  return mirror.count(space, owner).catch(() => 1)
}

/** A mirror holds memories and turns, and is told which of them are meant. */
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

/** Its failures are told apart from those of the store, which are nobody else's fault. */
async function requestCandidates(
  mirror: VectorReplica,
  ...asked: Parameters<VectorReplica['search']>
): Promise<readonly ReplicaHit[] | { readonly error: unknown }> {
  try {
    return await mirror.search(...asked)
  } catch (error) {
    return { error }
  }
}

/** Asked of the index of the memories, so that an answer is the same whoever has proposed it. */
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
