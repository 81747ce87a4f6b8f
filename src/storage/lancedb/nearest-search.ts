/** Nearest-neighbor search in a table: exact for few rows, else through the index. */
import type { MemoryId } from '../../domain/ids.ts'
import { compareText } from '../../lib/compare.ts'
import { fromStorable } from '../../text/storable-text.ts'
import type { ReplicaFilter, ReplicaHit } from '../vector-replica.ts'
import type { LanceRow, LanceVectorQuery } from './lancedb-driver.ts'
import { joinPredicates, toFilterPredicate, toOwnerPredicate } from './point-rows.ts'
import type { SpaceTable } from './space-table.ts'
import { REFINE_FACTOR, type VectorIndexStats } from './table-indexes.ts'

/** This many rows compare in a few milliseconds; beyond, the index is faster. */
export const EXACT_ROWS_MAX = 10_000

/** For a longer list, the index would miss too many. */
const INDEXED_LIMIT_MAX = 500

/** Extra hits requested, because equal distances come in insertion order. */
const EQUALS_EXPECTED = 16

/** Among more equal distances than this, the newest are not guaranteed to come first. */
const EQUALS_MAX = 4_096

/** Distances of equal vectors may differ in the last digit. */
const ROUNDING = 1e-6

type NearestQuery = { readonly vector: Float32Array; readonly limit: number }

export async function searchNearest(
  space: SpaceTable,
  filter: ReplicaFilter,
  query: NearestQuery,
  exactRowsMax: number,
): Promise<readonly ReplicaHit[]> {
  const predicate = joinPredicates(toOwnerPredicate(filter.owner), toFilterPredicate(filter))
  const index = await chooseIndex(space, filter, predicate, query.limit, exactRowsMax)
  const hits = await withEquals(query.limit, (limit) =>
    search(space, predicate, { ...query, limit }, index),
  )
  // The probed partitions may hold too few of the permitted rows.
  if (index === null || hits.length >= query.limit) return hits
  return withEquals(query.limit, (limit) => search(space, predicate, { ...query, limit }, null))
}

/**
 * Null for an exact search. Counts with all filters: the few rows of a session may be in partitions
 * that are not probed.
 */
async function chooseIndex(
  space: SpaceTable,
  filter: ReplicaFilter,
  predicate: string,
  limit: number,
  exactRowsMax: number,
): Promise<VectorIndexStats | null> {
  if (limit > INDEXED_LIMIT_MAX) return null
  const owner = toOwnerPredicate(filter.owner)
  if ((await space.table.countRows(owner)) <= exactRowsMax) return null
  if (predicate !== owner && (await space.table.countRows(predicate)) <= exactRowsMax) return null
  return space.wantIndex()
}

/** Requests more while equal distances may have been cut off, so that the newest come first. */
async function withEquals(
  limit: number,
  ask: (limit: number) => Promise<readonly ReplicaHit[]>,
): Promise<readonly ReplicaHit[]> {
  for (let extra = EQUALS_EXPECTED; ; extra = Math.min(extra * 4, EQUALS_MAX)) {
    const hits = await ask(limit + extra)
    const [lastWanted, last] = [hits[limit - 1], hits.at(-1)]
    const isCutOff =
      hits.length === limit + extra &&
      lastWanted !== undefined &&
      last !== undefined &&
      lastWanted.similarity - last.similarity <= ROUNDING
    if (!isCutOff || extra === EQUALS_MAX) return hits.slice(0, limit)
  }
}

async function search(
  { table }: SpaceTable,
  predicate: string,
  { vector, limit }: NearestQuery,
  index: VectorIndexStats | null,
): Promise<readonly ReplicaHit[]> {
  const nearest = table
    .query()
    .nearestTo(vector)
    .where(predicate)
    .limit(limit)
    .select(['id', 'text_hash', '_distance'])
  const rows = await applySearchTuning(nearest, index).toArray()
  return rows.map(hitOf).sort((a, b) => b.similarity - a.similarity || compareText(b.id, a.id))
}

/** For unit vectors, both distances are 1 minus the inner product. */
function applySearchTuning(
  query: LanceVectorQuery,
  index: VectorIndexStats | null,
): LanceVectorQuery {
  return index === null
    ? query.distanceType('dot').bypassVectorIndex()
    : query.distanceType('cosine').nprobes(index.probes).refineFactor(REFINE_FACTOR)
}

function hitOf(row: LanceRow): ReplicaHit {
  return {
    id: String(row.id) as MemoryId, // as written
    similarity: Math.max(-1, Math.min(1, 1 - Number(row._distance))),
    textHash: fromStorable(String(row.text_hash)),
  }
}
