/** One collection of the stand-in: points in memory, searched one by one. */
import { type Filter, passes } from './filters.ts'
import { type Payload, QdrantFault, type StoredPoint } from './points.ts'

type Json = { readonly [name: string]: unknown }
type VectorParameters = { readonly size: number; readonly distance: string }
type GivenPoint = {
  readonly id: string | number
  readonly vector: unknown
  readonly payload?: Payload | null
}

export type ScrollRequest = {
  readonly offset?: string | number | null
  readonly limit?: number | null
  readonly filter?: Filter | null
  readonly with_payload?: unknown
  readonly order_by?: unknown
}

export type QueryRequest = {
  readonly query: readonly number[]
  readonly using?: string | null
  readonly filter?: Filter | null
  readonly limit?: number | null
  readonly with_payload?: unknown
}

const DEFAULT_LIMIT = 10

export class Collection {
  readonly #vectors: Readonly<Record<string, VectorParameters>>
  readonly #hnsw: Json
  #quantisation: unknown
  readonly #indexes = new Map<string, Json>()
  readonly #points = new Map<string | number, StoredPoint>()
  #operation = 0

  constructor(request: Json) {
    const vectors = request.vectors as Json // checked before
    if ('size' in vectors) throw new QdrantFault(500, 'The stand-in wants named vectors')
    this.#vectors = vectors as Record<string, VectorParameters> // the only other form
    this.#hnsw = (request.hnsw_config ?? {}) as Json // checked before
    this.#quantisation = request.quantization_config ?? null
    const unplayed = Object.values(this.#vectors).find(({ distance }) => distance !== 'Cosine')
    if (unplayed !== undefined) throw new QdrantFault(500, 'The stand-in knows cosine only')
  }

  info(): Json {
    const indexes = [...this.#indexes].map(([name, schema]) => {
      const points = [...this.#points.values()].filter(({ payload }) => name in payload).length
      return [name, { data_type: schema.type, params: schema, points }]
    })
    return {
      status: 'green',
      optimizer_status: 'ok',
      indexed_vectors_count: 0,
      points_count: this.#points.size,
      segments_count: 2,
      config: {
        params: { vectors: this.#vectors, shard_number: 1, replication_factor: 1 },
        hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10_000, ...this.#hnsw },
        optimizer_config: { default_segment_number: 0, flush_interval_sec: 5 },
        quantization_config: this.#quantisation,
      },
      payload_schema: Object.fromEntries(indexes),
    }
  }

  update({ quantization_config: wanted }: Json): void {
    if (wanted !== undefined && wanted !== null) {
      this.#quantisation = wanted === 'Disabled' ? null : wanted
    }
  }

  createIndex({ field_name: name, field_schema: schema }: Json): number {
    if (typeof schema !== 'object' || schema === null) {
      throw new QdrantFault(500, 'The stand-in wants the parameters of an index')
    }
    this.#indexes.set(String(name), schema as Json) // checked above
    return this.#operation++
  }

  /** All or none. */
  upsert(points: readonly GivenPoint[]): number {
    const version = this.#operation
    const stored = points.map(({ id, vector, payload }) => ({
      id,
      vectors: this.#stored(vector),
      payload: payload ?? {},
      version,
    }))
    for (const point of stored) this.#points.set(point.id, point)
    return this.#operation++
  }

  delete(selector: { readonly filter?: Filter; readonly points?: readonly (string | number)[] }) {
    const gone = selector.points ?? this.#matching(selector.filter).map(({ id }) => id)
    for (const id of gone) this.#points.delete(id)
    return this.#operation++
  }

  count({ filter }: { readonly filter?: Filter | null }): number {
    return this.#matching(filter).length
  }

  scroll({ offset, limit, filter, with_payload, order_by }: ScrollRequest): Json {
    if (order_by !== undefined) throw new QdrantFault(500, 'The stand-in lists by id only')
    const from = offset ?? null
    const rest = this.#matching(filter)
      .filter(({ id }) => from === null || byId(id, from) >= 0)
      .sort((a, b) => byId(a.id, b.id))
    const size = limit ?? DEFAULT_LIMIT
    const points = rest.slice(0, size).map(({ id, payload }) => {
      return { id, payload: shown(payload, with_payload ?? true) }
    })
    return { points, next_page_offset: rest[size]?.id ?? null }
  }

  /** Equal ones come in no useful order. */
  query({ query, using, filter, limit, with_payload }: QueryRequest): Json {
    const name = using ?? ''
    const asked = normalised(this.#fitting(name, query))
    const points = this.#matching(filter)
      .flatMap((point) => {
        const vector = point.vectors[name]
        return vector === undefined ? [] : [{ point, score: product(asked, vector) }]
      })
      .sort((a, b) => b.score - a.score || byId(scrambled(a.point.id), scrambled(b.point.id)))
      .slice(0, limit ?? DEFAULT_LIMIT)
      .map(({ point: { id, version, payload }, score }) => {
        return { id, version, score, payload: shown(payload, with_payload ?? false) }
      })
    return { points }
  }

  #matching(filter: Filter | null | undefined): StoredPoint[] {
    const indexed = new Set(this.#indexes.keys())
    // Also looked at where there is nothing, for what is wrong with it.
    passes({ id: 0, vectors: {}, payload: {}, version: 0 }, filter, indexed)
    return [...this.#points.values()].filter((point) => passes(point, filter, indexed))
  }

  #stored(vector: unknown): Readonly<Record<string, Float32Array>> {
    if (Array.isArray(vector)) {
      throw new QdrantFault(400, 'Wrong input: Not existing vector name error: ')
    }
    const named = Object.entries(vector as Record<string, readonly number[]>) // the only other form
    return Object.fromEntries(
      named.map(([name, numbers]) => [name, normalised(this.#fitting(name, numbers))]),
    )
  }

  #fitting(name: string, numbers: readonly number[]): readonly number[] {
    const parameters = this.#vectors[name]
    if (parameters === undefined) {
      throw new QdrantFault(400, `Wrong input: Not existing vector name error: ${name}`)
    }
    if (numbers.length === parameters.size) return numbers
    const dimensions = `expected dim: ${parameters.size}, got ${numbers.length}`
    throw new QdrantFault(400, `Wrong input: Vector dimension error: ${dimensions}`)
  }
}

function shown(payload: Payload, what: unknown): Payload | null {
  if (what === true) return payload
  if (what === false) return null
  if (!Array.isArray(what)) throw new QdrantFault(500, 'The stand-in wants a list of fields')
  return Object.fromEntries(Object.entries(payload).filter(([name]) => what.includes(name)))
}

/** Numbers before UUIDs, as Qdrant has it. */
function byId(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

function scrambled(id: string | number): string {
  return [...String(id)].reverse().join('')
}

/** A zero vector stays one. */
function normalised(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => (length === 0 ? 0 : number / length))
}

/** In single precision, as Qdrant computes. */
function product(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (const [index, value] of a.entries()) sum = Math.fround(sum + value * (b[index] ?? 0))
  return sum
}
