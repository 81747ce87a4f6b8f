/**
 * Vectors in Qdrant, over its REST interface: a collection for each space, shared by all owners, with every filter inside
 * the search.
 *
 * A collection that was there and is gone (somebody removed it, a cluster was set up anew) is `unavailable` until `prepare`
 * makes it again: otherwise a nearly empty one would pass for the whole.
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
  /** What the names of collections begin with; `recollect` unless told. */
  readonly collectionPrefix?: string
  /** `none` unless told. It can be changed: a collection that is there is adjusted. */
  readonly quantization?: Quantization
}

/** Qdrant takes up to 32 MB, but writing that much JSON in one go would hold up everybody else here. */
const BATCH_BYTES_MAX = 1024 * 1024
const NUMBER_BYTES = 22
const BATCH_POINTS_MAX = 500
const BATCH_IDS_MAX = 1_000

/** How many more are asked for than are wanted, because equal ones come in any order. */
const EQUALS_EXPECTED = 16

/** Of more equal ones than this, the newest are not picked out. */
const EQUALS_MAX = 4_096
const SCROLL_POINTS_MIN = 64
const SCROLL_POINTS_MAX = 2_000

/** Rounded vectors lose little in bytes and much in bits, so more of them are compared exactly. */
const SEARCH_PARAMETERS = {
  none: {},
  int8: { params: { quantization: { rescore: true, oversampling: 2 } } },
  binary: { params: { quantization: { rescore: true, oversampling: 4 } } },
} as const satisfies Record<Quantization, unknown>

export function openQdrantVectorReplica(options: QdrantReplicaOptions): VectorReplica {
  const { clock, quantization: quantisation = 'none' } = options
  const prefix = parseCollectionPrefix(options.collectionPrefix ?? 'recollect')
  const client = openQdrantClient(options)
  /** Collections that were seen by this process, with their dimensions. */
  const seen = new Map<string, number>()
  const preparing = new Map<string, Promise<void>>()

  const nameOf = ({ signature }: VectorSpace) => toCollectionName(prefix, signature)

  /** Those who come together share the work. */
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

  /** Null for a space that nobody has made. */
  async function ask(
    space: VectorSpace,
    path: string,
    body: unknown,
    patience?: TimeoutClass,
  ): Promise<unknown> {
    const name = nameOf(space)
    const result = await client.requestOrNull('POST', `/collections/${name}${path}`, body, patience)
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
      // The last one of those with the same id counts, wherever batches end.
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
        // All of the above is answered without a key; this isn't.
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
  const message = `The Qdrant collection ${collection} is gone. It is made again when the space is prepared.`
  return new AppError('unavailable', message, { collection, reason: 'gone' })
}

/** Qdrant may also answer that it has only taken note: then it can't be found yet. */
function assertCompleted(result: unknown): void {
  if (getField(result, 'status') === 'completed') return
  throw new AppError('unavailable', 'Qdrant did not finish writing in time.')
}

/** One after the other. Doing all of it again after a failure makes it whole: each batch can be repeated. */
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

/** Without those of the group that the next page begins with: more of it may come, in any order. */
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
