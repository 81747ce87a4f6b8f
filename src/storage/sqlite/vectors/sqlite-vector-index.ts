/**
 * The vector index in the same database as the memories, on the same connection: what is encrypted there is encrypted
 * here, and a commit that rewords or removes a memory takes its vectors with it.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import type { Scope } from '../../../domain/scope.ts'
import { TimeSlice } from '../../../lib/event-loop.ts'
import { isZeroVector } from '../../../lib/vector-math.ts'
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

export function openSqliteVectorIndex(
  database: CachedDatabase,
  options: SqliteVectorIndexOptions = {},
): VectorIndex {
  const { cacheBytes: limitBytes = MEMORY_BYTES, sketchVectorsMin: sketchedFrom = SKETCHED_FROM } =
    options
  /** Made when first needed: most commands never search. */
  let blocks: VectorBlockCache | null = null

  /** Those that searches have read. */
  function vectorsAtHand(
    space: VectorSpace,
    scope: Scope,
    ids: readonly MemoryId[],
  ): ReadonlyMap<MemoryId, Float32Array> {
    const owner = blocks === null ? null : findOwnerVectors(database, space, scope)
    const resident = database.ownerCache.get(owner?.ownerNumber ?? null)
    if (blocks === null || owner === null || resident === null) return new Map()
    const sequences = resident.findSequences(owner.space, scope, ids)
    const vectors = blocks.findExactVectors(owner, sequences.keys())
    return new Map(
      [...vectors].flatMap(([sequence, vector]) => {
        const id = sequences.get(sequence)
        return id === undefined ? [] : [[id, vector] as const]
      }),
    )
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
      const atHand = vectorsAtHand(space, scope, ids)
      const others = ids.filter((id) => !atHand.has(id))
      return new Map([...atHand, ...readStoredVectors(database, space, scope, others)])
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
