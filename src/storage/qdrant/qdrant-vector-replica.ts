/**
 * Vector replica in Qdrant, over its REST API: one collection per space, shared by all owners, with
 * every filter inside the search. A collection that has disappeared (removed by somebody, or a new
 * cluster) is `unavailable` until `prepare` recreates it: otherwise a nearly empty collection would
 * pass for a complete one.
 */

import type { MemoryId } from '../../domain/ids.ts'
import { compareText } from '../../lib/compare.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { getField } from '../../lib/json.ts'
import { isZeroVector } from '../../lib/vector-math.ts'
import { assertVectorFits, type VectorSpace } from '../vector-index.ts'
import type { ReplicaHit, ReplicaPoint, VectorReplica } from '../vector-replica.ts'
import { ensureCollection, type Quantization, VECTOR_NAME } from './collection-schema.ts'
import {
  HIT_PAYLOAD_FIELDS,
  LIST_PAYLOAD_FIELDS,
  parseHits,
  type QdrantFilter,
  type QdrantHit,
  toExpiredFilter,
  toIdsFilter,
  toOwnerFilter,
  toQdrantPoint,
  toSearchFilter,
} from './point-codec.ts'
import {
  getPointGroup,
  parseCollectionPrefix,
  toCollectionName,
  toGroupStart,
} from './point-ids.ts'
import {
  createInvalidResponseError,
  openQdrantClient,
  type QdrantClientOptions,
  type TimeoutClass,
} from './qdrant-client.ts'

export type QdrantReplicaOptions = QdrantClientOptions & {
  /** The prefix of collection names. Default: `recollect`. */
  readonly collectionPrefix?: string
  /** Default: `none`. A change is applied to existing collections. */
  readonly quantization?: Quantization
}

/**
 * Qdrant accepts up to 32 MB, but serializing that much JSON at once would block the event loop.
 */
const BATCH_BYTES_MAX = 1024 * 1024
const NUMBER_BYTES = 22
const BATCH_POINTS_MAX = 500
const BATCH_IDS_MAX = 1_000

/** Extra hits requested, because equal scores come in any order. */
const EQUALS_EXPECTED = 16

/** Among more equal scores than this, the newest are not guaranteed to come first. */
const EQUALS_MAX = 4_096
const SCROLL_POINTS_MIN = 64
const SCROLL_POINTS_MAX = 2_000

/**
 * Scalar quantization loses little precision and binary quantization much, so the latter rescores
 * more candidates.
 */
const SEARCH_PARAMETERS = {
  none: {},
  int8: { params: { quantization: { rescore: true, oversampling: 2 } } },
  binary: { params: { quantization: { rescore: true, oversampling: 4 } } },
} as const satisfies Record<Quantization, unknown>

export function openQdrantVectorReplica(options: QdrantReplicaOptions): VectorReplica {
  const { clock, quantization: quantisation = 'none' } = options
  const prefix = parseCollectionPrefix(options.collectionPrefix ?? 'recollect')
  const client = openQdrantClient(options)
  /** Collections known to exist, with their dimensions. */
  const seen = new Map<string, number>()
  const preparing = new Map<string, Promise<void>>()

  const nameOf = ({ signature }: VectorSpace) => toCollectionName(prefix, signature)

  /** Concurrent callers share the request. */
  function prepare(space: VectorSpace): Promise<void> {
    const name = nameOf(space)
    const key = `${name} ${space.dimensions}`
    const work =
      preparing.get(key) ?? prepareAlone(space, name).finally(() => preparing.delete(key))
    preparing.set(key, work)
    return work
  }

  async function prepareAlone({ dimensions }: VectorSpace, name: string): Promise<void> {
    assertVectorFits(dimensions, new Float32Array(dimensions))
    await ensureCollection(client, name, dimensions, quantisation)
    seen.set(name, dimensions)
  }

  /** Null for a space that has no collection. */
  async function ask(
    space: VectorSpace,
    path: string,
    body: unknown,
    timeoutClass?: TimeoutClass,
  ): Promise<unknown> {
    const name = nameOf(space)
    const result = await client.requestOrNull(
      'POST',
      `/collections/${name}${path}`,
      body,
      timeoutClass,
    )
    if (result === null && seen.has(name)) throw createMissingCollectionError(name)
    return result
  }

  async function upsertBatch(space: VectorSpace, points: readonly ReplicaPoint[]): Promise<void> {
    const name = nameOf(space)
    const path = `/collections/${name}/points?wait=true`
    const result = await client.requestOrNull('PUT', path, { points: points.map(toQdrantPoint) })
    if (result === null) throw createMissingCollectionError(name)
    assertCompleted(result)
  }

  async function removeWhere(space: VectorSpace, filter: QdrantFilter): Promise<void> {
    const result = await ask(space, '/points/delete?wait=true', { filter })
    if (result !== null) assertCompleted(result)
  }

  async function countWhere(space: VectorSpace, filter?: QdrantFilter): Promise<number> {
    const result = await ask(space, '/points/count', { exact: true, ...describeLocation(filter) })
    if (result === null) return 0
    const count = getField(result, 'count')
    if (typeof count !== 'number') throw createInvalidResponseError()
    return count
  }

  async function search(
    space: VectorSpace,
    filter: QdrantFilter,
    vector: Float32Array,
    limit: number,
  ): Promise<readonly QdrantHit[]> {
    const body = {
      query: Array.from(vector),
      using: VECTOR_NAME,
      filter,
      limit,
      with_payload: HIT_PAYLOAD_FIELDS,
      ...SEARCH_PARAMETERS[quantisation],
    }
    const result = await ask(space, '/points/query', body, 'searching')
    return result === null ? [] : parseHits(result)
  }

  return {
    name: 'qdrant',

    prepare,

    async upsert(space, points) {
      for (const { vector } of points) assertVectorFits(space.dimensions, vector)
      if (points.length === 0) return
      if (seen.get(nameOf(space)) !== space.dimensions) await prepare(space)
      // The last point with the same id wins, across batches too.
      const distinct = [...new Map(points.map((point) => [point.id, point])).values()]
      const size = Math.floor(BATCH_BYTES_MAX / (space.dimensions * NUMBER_BYTES))
      const perBatch = Math.max(1, Math.min(BATCH_POINTS_MAX, size))
      await inBatches(distinct, perBatch, (batch) => upsertBatch(space, batch))
    },

    async remove(space, owner, ids) {
      await inBatches([...new Set(ids)], BATCH_IDS_MAX, (batch) =>
        removeWhere(space, toIdsFilter(owner, batch)),
      )
    },

    async search(space, filter, { vector, limit }) {
      assertVectorFits(space.dimensions, vector)
      if (limit <= 0 || isZeroVector(vector) || filter.types?.length === 0) return []
      const wanted = toSearchFilter(filter)
      for (let more = EQUALS_EXPECTED; ; more *= 4) {
        const points = await search(space, wanted, vector, limit + more)
        const isCutAmongEquals =
          points.length === limit + more && points[limit - 1]?.score === points.at(-1)?.score
        if (!isCutAmongEquals || more >= EQUALS_MAX) return selectBestHits(points, limit)
      }
    },

    async list(space, { owner, limit, after }) {
      if (limit <= 0) return []
      const rows: QdrantHit[] = []
      const size = Math.min(SCROLL_POINTS_MAX, Math.max(SCROLL_POINTS_MIN, limit + EQUALS_EXPECTED))
      let offset: unknown = after === undefined ? undefined : toGroupStart(after)
      for (;;) {
        const result = await ask(space, '/points/scroll', {
          limit: size,
          with_payload: LIST_PAYLOAD_FIELDS,
          with_vector: false,
          ...(offset === undefined ? {} : { offset }),
          ...describeLocation(owner === undefined ? undefined : toOwnerFilter(owner)),
        })
        if (result === null) return []
        rows.push(...parseHits(result).filter(({ id }) => isAfter(id, after)))
        offset = getField(result, 'next_page_offset') ?? null
        const page = completeGroups(rows, offset)
        if (offset === null || page.length >= limit) return listed(page, limit)
      }
    },

    count: (space, owner) =>
      countWhere(space, owner === undefined ? undefined : toOwnerFilter(owner)),

    async removeExpired(space, before) {
      const filter = toExpiredFilter(before)
      const count = await countWhere(space, filter)
      if (count > 0) await removeWhere(space, filter)
      return count
    },

    async drop(space) {
      const name = nameOf(space)
      await client.requestOrNull('DELETE', `/collections/${name}`)
      seen.delete(name)
    },

    async health() {
      const start = clock.now()
      const sinceStart = () => Math.max(0, clock.now() - start)
      try {
        const version = await client.waitUntilReady()
        const latencyMs = sinceStart()
        // The requests above work without a key; this one does not.
        await client.request('GET', '/collections', undefined, 'probing')
        return { isReady: true, latencyMs, detail: `Qdrant ${version}` }
      } catch (thrown) {
        return { isReady: false, latencyMs: sinceStart(), detail: toAppError(thrown).message }
      }
    },

    async close() {
      client.close()
    },
  }
}

function describeLocation(filter: QdrantFilter | undefined): { readonly filter?: QdrantFilter } {
  return filter === undefined ? {} : { filter }
}

function createMissingCollectionError(collection: string): AppError {
  const message = `The Qdrant collection ${collection} no longer exists. It is recreated when the space is prepared.`
  return new AppError('unavailable', message, { collection, reason: 'gone' })
}

/** Qdrant may merely acknowledge a write, which is not searchable yet. */
function assertCompleted(result: unknown): void {
  if (getField(result, 'status') === 'completed') return
  throw new AppError('unavailable', 'Qdrant did not finish writing in time.')
}

/** Sequential. Retrying everything after a failure is safe: each batch is idempotent. */
async function inBatches<Item>(
  items: readonly Item[],
  size: number,
  work: (batch: readonly Item[]) => Promise<void>,
): Promise<void> {
  for (let done = 0; done < items.length; done += size) {
    try {
      await work(items.slice(done, done + size))
    } catch (thrown) {
      const { code, message, facts } = toAppError(thrown)
      throw new AppError(code, message, { ...facts, done, of: items.length }, thrown)
    }
  }
}

function selectBestHits(points: readonly QdrantHit[], limit: number): readonly ReplicaHit[] {
  return points
    .map(({ id, textHash, score }) => ({
      id,
      similarity: Math.max(-1, Math.min(1, score)),
      textHash,
    }))
    .sort((a, b) => b.similarity - a.similarity || compareText(b.id, a.id))
    .slice(0, limit)
}

/** Excludes the group that the next page begins with: more of it may follow, in any order. */
function completeGroups(rows: readonly QdrantHit[], next: unknown): readonly QdrantHit[] {
  if (typeof next !== 'string') return rows
  const unfinished = getPointGroup(next)
  return rows.filter(({ id }) => getPointGroup(toGroupStart(id)) !== unfinished)
}

function isAfter(id: MemoryId, after: MemoryId | undefined): boolean {
  return after === undefined || compareText(id, after) > 0
}

function listed(rows: readonly QdrantHit[], limit: number) {
  return [...rows]
    .sort((a, b) => compareText(a.id, b.id))
    .slice(0, limit)
    .map(({ id, owner, textHash }) => ({ id, owner, textHash }))
}
