/**
 * The vector index in the same database as the memories, on the same connection: what is encrypted there is encrypted
 * here, and a commit that rewords or removes a memory takes its vectors with it.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import type { Scope } from '../../../domain/scope.ts'
import { TimeSlice } from '../../../lib/event-loop.ts'
import { innerProduct, isZeroVector } from '../../../lib/vector-math.ts'
import { assertVectorFits, type VectorIndex, type VectorSpace } from '../../vector-index.ts'
import type { CachedDatabase } from '../cache/cached-database.ts'
import { VectorArena } from './vector-arena.ts'
import { VectorBlockCache } from './vector-block-cache.ts'
import { createBlockScanner } from './vector-scan.ts'
import { searchVectors } from './vector-search.ts'
import {
  countVectors,
  findOwnerVectors,
  listVectors,
  markSpaceDropped,
  type OwnerVectorSpace,
  putVectors,
  readStoredVectors,
  removeDroppedSpacesAsync,
  removeVectors,
  reportSpaces,
} from './vector-tables.ts'

export type SqliteVectorIndexOptions = {
  /** Owners' vectors are kept in memory up to this much; those of larger owners are read for each search. */
  readonly cacheBytes?: number | undefined
  /** Owners with so many vectors are searched by sketches first, which finds nearly all that is near. */
  readonly sketchVectorsMin?: number | undefined
}

const MEMORY_BYTES = 512 * 2 ** 20
const SKETCHED_FROM = 200_000

/** An owner with documents and vectors in memory, and which of the vectors are those of the documents asked for. */
type CachedVectors = {
  readonly blocks: VectorBlockCache
  readonly owner: OwnerVectorSpace
  readonly sequences: ReadonlyMap<number, MemoryId>
} | null

function setBySequence<Value>(
  values: Map<MemoryId, Value>,
  sequences: ReadonlyMap<number, MemoryId>,
  sequence: number,
  value: Value,
): void {
  const id = sequences.get(sequence)
  if (id !== undefined) values.set(id, value)
}

export function openSqliteVectorIndex(
  database: CachedDatabase,
  options: SqliteVectorIndexOptions = {},
): VectorIndex {
  const { cacheBytes: limitBytes = MEMORY_BYTES, sketchVectorsMin: sketchedFrom = SKETCHED_FROM } =
    options
  /** Made when first needed: most commands never search. */
  let blocks: VectorBlockCache | null = null

  /** The documents whose vectors are in memory, if the owner's documents and vectors are. */
  function findCached(space: VectorSpace, scope: Scope, ids: readonly MemoryId[]): CachedVectors {
    const owner = blocks === null ? null : findOwnerVectors(database, space, scope)
    const cachedOwner = database.ownerCache.get(owner?.ownerNumber ?? null)
    if (blocks === null || owner === null || cachedOwner === null) return null
    return { blocks, owner, sequences: cachedOwner.findSequences(owner.space, scope, ids) }
  }

  /** Reads the vectors of the other documents, and keeps them for the next call. */
  function readOthers(
    space: VectorSpace,
    scope: Scope,
    ids: readonly MemoryId[],
    cached: CachedVectors,
  ): ReadonlyMap<MemoryId, Float32Array> {
    const vectors = readStoredVectors(database, space, scope, ids)
    if (cached === null) return vectors
    for (const [sequence, id] of cached.sequences) {
      const vector = vectors.get(id)
      if (vector !== undefined) cached.blocks.cacheSequenceVector(cached.owner, sequence, vector)
    }
    return vectors
  }

  return {
    async put(space, entries) {
      for (const { vector } of entries) assertVectorFits(space.dimensions, vector)
      if (entries.length > 0)
        await database.withBusyRetry(() => putVectors(database, space, entries))
    },

    async remove(space, scope, ids) {
      await database.withBusyRetry(() => removeVectors(database, space, scope, ids))
    },

    async search(space, scope, query) {
      assertVectorFits(space.dimensions, query.vector)
      if (query.limit <= 0 || isZeroVector(query.vector)) return []
      const owner = findOwnerVectors(database, space, scope)
      if (owner === null || owner.vectorCount === 0) return []
      blocks ??= new VectorBlockCache(database, new VectorArena(limitBytes), sketchedFrom)
      return searchVectors(database, owner, scope, query, createBlockScanner(blocks))
    },

    async vectorsOf(space, scope, ids) {
      const cached = findCached(space, scope, ids)
      const found = new Map<MemoryId, Float32Array>()
      if (cached !== null) {
        const { blocks: cache, owner, sequences } = cached
        for (const [sequence, vector] of cache.findExactVectors(owner, sequences.keys())) {
          setBySequence(found, sequences, sequence, vector)
        }
      }
      const others = ids.filter((id) => !found.has(id))
      for (const [id, vector] of readOthers(space, scope, others, cached)) found.set(id, vector)
      return found
    },

    async similaritiesOf(space, scope, ids, vector) {
      const cached = findCached(space, scope, ids)
      const found = new Map<MemoryId, number>()
      if (cached !== null) {
        const { blocks: cache, owner, sequences } = cached
        for (const [sequence, similarity] of cache.computeSimilarities(
          owner,
          sequences.keys(),
          vector,
        )) {
          setBySequence(found, sequences, sequence, similarity)
        }
      }
      const others = ids.filter((id) => !found.has(id))
      for (const [id, stored] of readOthers(space, scope, others, cached)) {
        found.set(id, innerProduct(vector, stored))
      }
      return found
    },

    async list(space, scope, page) {
      return listVectors(database, space, scope, page)
    },

    async count(space, scope) {
      return countVectors(database, space, scope)
    },

    async spaces() {
      return reportSpaces(database)
    },

    async drop(space: VectorSpace) {
      await database.withBusyRetry(() => markSpaceDropped(database, space))
      database.ownerCache.clear() // it holds the sequences of the vectors
      await removeDroppedSpacesAsync(database, new TimeSlice())
    },

    report() {
      return {
        kind: 'built-in',
        cachedOwners: blocks?.count ?? 0,
        cacheBytes: blocks?.arena.allocatedBytes ?? 0,
        cacheLimitBytes: limitBytes,
      }
    },

    async close() {
      blocks?.clear()
      blocks = null
    },
  }
}
