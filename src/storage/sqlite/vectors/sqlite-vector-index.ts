/**
 * The vector index in the same database as the memories, on the same connection: what is encrypted there is encrypted
 * here, and a commit that rewords or removes a memory takes its vectors with it.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import type { Scope } from '../../../domain/scope.ts'
import { Breather } from '../../../lib/time-slice.ts'
import { isZero } from '../../../lib/vector-math.ts'
import { refuseUnfit, type VectorIndex, type VectorSpace } from '../../vector-index.ts'
import type { SqliteSession } from '../connection/sqlite-database.ts'
import { VectorArena } from './vector-arena.ts'
import { VectorBlocks } from './vector-block-cache.ts'
import { withBlocks } from './vector-scan.ts'
import { searchVectors } from './vector-search.ts'
import { discardSpace, sweepSpaces } from './vector-space-removal.ts'
import {
  countVectors,
  findOwner,
  keptVectors,
  listVectors,
  putVectors,
  removeVectors,
  reportSpaces,
} from './vector-tables.ts'

export type SqliteVectorOptions = {
  /** Owners' vectors are kept in memory up to this much; those of larger owners are read for each search. */
  readonly memoryBytes?: number | undefined
  /** Owners with so many vectors are searched by sketches first, which finds nearly all that is near. */
  readonly sketchedFrom?: number | undefined
}

const MEMORY_BYTES = 512 * 2 ** 20
const SKETCHED_FROM = 200_000

export function openSqliteVectors(
  session: SqliteSession,
  options: SqliteVectorOptions = {},
): VectorIndex {
  const { memoryBytes: limitBytes = MEMORY_BYTES, sketchedFrom = SKETCHED_FROM } = options
  /** Made when first needed: most commands never search. */
  let blocks: VectorBlocks | null = null

  /** Those that searches have read. */
  function vectorsAtHand(
    space: VectorSpace,
    scope: Scope,
    ids: readonly MemoryId[],
  ): ReadonlyMap<MemoryId, Float32Array> {
    const owner = blocks === null ? null : findOwner(session, space, scope)
    const resident = session.resident.of(owner?.ownerNumber ?? null)
    if (blocks === null || owner === null || resident === null) return new Map()
    const sequences = resident.sequencesOf(owner.space, scope, ids)
    const vectors = blocks.fullOf(owner, sequences.keys())
    return new Map(
      [...vectors].flatMap(([sequence, vector]) => {
        const id = sequences.get(sequence)
        return id === undefined ? [] : [[id, vector] as const]
      }),
    )
  }

  return {
    async put(space, entries) {
      for (const { vector } of entries) refuseUnfit(space.dimensions, vector)
      if (entries.length > 0) await session.whenFree(() => putVectors(session, space, entries))
    },

    async remove(space, scope, ids) {
      await session.whenFree(() => removeVectors(session, space, scope, ids))
    },

    async nearest(space, scope, query) {
      refuseUnfit(space.dimensions, query.vector)
      if (query.limit <= 0 || isZero(query.vector)) return []
      const owner = findOwner(session, space, scope)
      if (owner === null || owner.vectors === 0) return []
      blocks ??= new VectorBlocks(session, new VectorArena(limitBytes), sketchedFrom)
      return searchVectors(session, owner, scope, query, withBlocks(blocks))
    },

    async vectorsOf(space, scope, ids) {
      const atHand = vectorsAtHand(space, scope, ids)
      const others = ids.filter((id) => !atHand.has(id))
      return new Map([...atHand, ...keptVectors(session, space, scope, others)])
    },

    async list(space, scope, page) {
      return listVectors(session, space, scope, page)
    },

    async count(space, scope) {
      return countVectors(session, space, scope)
    },

    async spaces() {
      return reportSpaces(session)
    },

    async drop(space: VectorSpace) {
      await session.whenFree(() => discardSpace(session, space))
      await sweepSpaces(session, new Breather())
    },

    report() {
      return {
        kind: 'built-in',
        ownersInMemory: blocks?.count ?? 0,
        memoryBytes: blocks?.arena.borrowedBytes ?? 0,
        memoryLimitBytes: limitBytes,
      }
    },

    async close() {
      blocks?.clear()
      blocks = null
    },
  }
}
